// A gateway of two worker processes under load: what an operator does to it, and what happens to it, costs no request.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect as connectPlain, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { connect } from 'node:tls';
import { makeTestAuthority } from '../support/certificates.ts';
import { until, within } from '../support/deadline.ts';
import { FaultFile } from '../support/fault-file.ts';
import { freePort } from '../support/free-port.ts';
import { socketCount } from '../support/process-faults.ts';
import { isAlive } from '../support/process-state.ts';
import { PrometheusText } from '../support/prometheus-text.ts';
import { startSeparate, type Separate } from '../support/separate.ts';
import { closeOf } from '../support/socket-end.ts';
import { SteadyRequests } from '../support/steady-requests.ts';
import { httpGet } from '../support/world.ts';

const HOST = 'app.share.localhost';
const SLOW_MS = 1_500;
const RELOADS = 60;

const folder = mkdtempSync(join(tmpdir(), 'gateway-operations-'));
const tlsDir = join(folder, 'tls');
const authority = await makeTestAuthority();
let parts: Separate;
let securePort: number;
/** The metrics port of the first worker; the second worker has the next port. */
let metricsPort: number;
/** Process ids by worker number, as logged. */
const workers = new Map<number, number>();
const logLines: LogLine[] = [];

interface LogLine {
  readonly message: string;
  readonly fields: Record<string, unknown>;
}

/** Answers `/` at once, `/slow` after a while and `/never` never; counts what it was asked. */
const asked = new Map<string, number>();
const service = createServer((request, response) => {
  const path = request.url ?? '';
  asked.set(path, (asked.get(path) ?? 0) + 1);
  if (path === '/slow') setTimeout(() => response.end('slow'), SLOW_MS);
  else if (path !== '/never') response.end('private');
});

before(async () => {
  mkdirSync(tlsDir);
  await putCertificate('first');
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  metricsPort = await freePort(2);
  parts = await startSeparate({
    folder: join(folder, 'parts'),
    gatewayArgs: [
      '--workers',
      '2',
      '--https-port',
      '0',
      '--https-redirect',
      'off',
      '--tls-dir',
      tlsDir,
      '--metrics-listen',
      `127.0.0.1:${metricsPort}`,
    ],
  });
  parts.gateway.watch((line) => {
    const parsed = lineOf(line);
    if (parsed === undefined) return;
    logLines.push(parsed);
    const { message, fields } = parsed;
    if (message === 'worker is up') workers.set(Number(fields['worker']), Number(fields['pid']));
  });
  await restart();
  await parts.share('public', `http://127.0.0.1:${(service.address() as AddressInfo).port}`, 'app');
});
beforeEach(async () => {
  if (!parts.gateway.isRunning) await restart();
});
after(async () => {
  // First: a service that is left open keeps the process when nothing could be started, and so does what a failed test
  // left.
  for (const each of loads) void each.stop();
  service.close();
  service.closeAllConnections();
  await parts?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** After it the ports and the workers are known. */
async function restart(): Promise<void> {
  if (parts.gateway.isRunning) assert.equal(await parts.gateway.stop('SIGINT'), 0, parts.gateway.output);
  workers.clear();
  const ready = (await parts.gateway.start()) as { gatewayUrl: string; securePort: number };
  ({ securePort } = ready);
  // The log arrives through a pipe, possibly later than the ready file.
  await until(
    'both workers are known',
    () => workers.size,
    (size) => size === 2,
  );
}

/** Since `from`, how often that had been asked before. */
async function reachesService(path: string, count: number, from = 0): Promise<void> {
  await until(
    `the service is asked for ${path}`,
    () => (asked.get(path) ?? 0) - from,
    (found) => found >= count,
  );
}

async function putCertificate(name: string): Promise<void> {
  const identity = await authority.issue(name, { dns: [HOST, '*.share.localhost'], days: 60 });
  writeFileSync(join(tlsDir, 'share.key'), identity.key, { mode: 0o600 });
  writeFileSync(join(tlsDir, 'share.crt'), identity.cert);
}

const loads: SteadyRequests[] = [];

function load(more: Partial<ConstructorParameters<typeof SteadyRequests>[0]> = {}): SteadyRequests {
  const options = { port: parts.port, host: HOST, body: 'private', keeping: 3, fresh: 3, ...more };
  const made = new SteadyRequests(options);
  loads.push(made);
  return made;
}

function secureLoad(): SteadyRequests {
  return load({ port: securePort, isSecure: true, keeping: 2, fresh: 2 });
}

async function answers(more: SteadyRequests, count: number): Promise<void> {
  const from = more.answered;
  await until(
    'more answers',
    () => more.answered - from,
    (answered) => answered >= count,
  );
}

/** The serial number of the certificate that a new connection is shown. */
async function shownName(): Promise<string> {
  const socket = connect({
    port: securePort,
    host: '127.0.0.1',
    servername: HOST,
    rejectUnauthorized: false,
  });
  await within('a handshake', once(socket, 'secureConnect'));
  const name = String(socket.getPeerCertificate().subject.CN);
  socket.destroy();
  return name;
}

/** Its own connections to others come and go by themselves. */
function socketsOf(pid: number): number {
  return socketCount({ pid }, [parts.port]);
}

/** Undefined: no line of the log, such as the half that a killed worker leaves. */
function lineOf(line: string): LogLine | undefined {
  try {
    const { msg, ...fields } = JSON.parse(line) as { msg: string } & Record<string, unknown>;
    return { message: msg, fields };
  } catch {
    return undefined;
  }
}

/** Every process that serves or starts others. Former workers that drain also reload, and do not count. */
async function readCertificatesAgain(): Promise<void> {
  const from = logLines.length;
  const awaited = [undefined, ...workers.values()];
  process.kill(parts.gateway.pid, 'SIGHUP');
  await until(
    'the workers and their supervisor have read the certificates',
    () => {
      const read = logLines.slice(from).filter(({ message }) => message === 'certificates reloaded');
      return awaited.filter((pid) => !read.some(({ fields }) => fields['pid'] === pid));
    },
    (missing) => missing.length === 0,
  );
}

/** Waits for a log message after the position `from`, because the message may arrive before this is called. */
async function untilSaid(what: string, message: string, from: number): Promise<void> {
  await until(what, () => logLines.slice(from).some((line) => line.message === message), Boolean);
}

test('connections are spread over the workers, 40:60 or better', async () => {
  const pids = [...workers.values()];
  const before = pids.map(socketsOf);
  const sockets: Socket[] = Array.from({ length: 600 }, () => connectPlain(parts.port, '127.0.0.1'));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  const { value: counts } = await until(
    'all of them are accepted',
    () => pids.map((pid, index) => socketsOf(pid) - before[index]!),
    (found) => found.reduce((sum, one) => sum + one, 0) >= 600,
  );
  for (const socket of sockets) socket.destroy();
  for (const count of counts) assert.ok(count >= 240 && count <= 360, `spread ${counts.join(':')}`);
});

test('a session that began at one worker is resumed at the other', async () => {
  let session: Buffer | undefined;
  let resumed = 0;
  for (let round = 0; round < 24; round += 1) {
    const socket = connect({
      port: securePort,
      host: '127.0.0.1',
      servername: HOST,
      rejectUnauthorized: false,
      session,
    });
    socket.on('session', (ticket: Buffer) => (session = ticket));
    await within('a handshake', once(socket, 'secureConnect'));
    if (socket.isSessionReused()) resumed += 1;
    socket.write(`GET / HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`);
    socket.resume();
    await within('its end', closeOf(socket));
  }
  assert.equal(resumed, 23);
});

test(`${RELOADS} reloads under load, half of them of a broken certificate: no request fails, the last good one is shown`, async () => {
  const [plain, secure] = [load(), secureLoad()];
  await putCertificate('good 0');
  for (let round = 0; round < RELOADS; round += 1) {
    const isBad = round % 2 === 1;
    if (isBad) {
      const bad = [
        ['share.crt', 'half a certif'],
        ['share.key', 'no key'],
        ['share.crt', ''],
      ][(round >> 1) % 3]!;
      writeFileSync(join(tlsDir, bad[0]!), bad[1]!);
    } else await putCertificate(`good ${round}`);
    await readCertificatesAgain();
    if (round % 20 === 19) assert.equal(await shownName(), `good ${round - 1}`);
  }
  await Promise.all([plain.stop(), secure.stop()]);
  assert.deepEqual([plain.failures, secure.failures], [[], []], `${plain.summary}; ${secure.summary}`);
  assert.ok(plain.answered > RELOADS && secure.answered > RELOADS / 2, `${plain.summary}; ${secure.summary}`);
});

test('every worker is replaced under load without a failed request', async () => {
  await putCertificate('good');
  const [plain, secure] = [load(), secureLoad()];
  const slow = load({ path: '/slow', body: 'slow', keeping: 2, fresh: 2 });
  await Promise.all([answers(plain, 50), answers(secure, 50)]);
  for (let round = 0; round < 2; round += 1) {
    const former = [...workers.values()];
    const from = logLines.length;
    process.kill(parts.gateway.pid, 'SIGUSR2');
    await untilSaid('the workers are replaced', 'all workers were replaced', from);
    for (const pid of former) assert.ok(![...workers.values()].includes(pid));
    for (const port of [metricsPort, metricsPort + 1]) {
      // A former worker may take the connection with it when it has drained.
      await until(
        'its metrics contain the share',
        async () => String((await httpGet(port, '127.0.0.1', '/metrics')).body),
        (metrics) => /^frontdoor_gateway_shares 1$/m.test(metrics),
      );
    }
    await answers(plain, 50);
  }
  await Promise.all([plain.stop(), secure.stop(), slow.stop()]);
  const all = [plain, secure, slow];
  assert.deepEqual(
    all.map(({ failures }) => failures),
    [[], [], []],
    all.map(({ summary }) => summary).join('; '),
  );
});

test('a killed worker fails the requests that it was serving and no other; connections that wait for it are served', async () => {
  const plain = load({ keeping: 0, fresh: 4 });
  await answers(plain, 50);
  const from = logLines.length;
  const killed = workers.get(1)!;
  process.kill(killed, 'SIGKILL');
  await until('it is dead', () => !isAlive(killed), Boolean);
  // Half of these wait where nobody accepts until the worker is there again.
  const during = load({ keeping: 0, fresh: 16 });
  await untilSaid('it is started again', 'worker is up', from);
  await answers(during, 100);
  await Promise.all([plain.stop(), during.stop()]);
  // Those that wait for one that is late, on a busy machine, are left to the other worker, and have to come again.
  const isLate = logLines.slice(from).some(({ message }) => message.startsWith('not back'));
  assert.deepEqual(
    during.failures.filter((failure) => !isLate || !failure.endsWith('ECONNRESET')),
    [],
  );
  // At most what its clients had under way.
  assert.ok(plain.failures.length <= 4, plain.summary);
});

test('an exception in a worker ends one request, logged with its id and counted, and no worker', async () => {
  const faults = new FaultFile(folder);
  const metrics = await freePort(2);
  const args = ['--workers', '2', '--metrics-listen', `127.0.0.1:${metrics}`];
  const gateway = await parts.addGateway('faulty', args, faults.process);
  const port = Number(new URL(gateway.ready.gatewayUrl).port);
  const requests = { port, host: HOST, body: 'private', keeping: 0, fresh: 4 };
  const served = async (): Promise<void> => {
    const good = load(requests);
    await answers(good, 20);
    await good.stop();
    assert.deepEqual(good.failures, [], good.summary);
  };
  await until(
    'the share is served',
    () => httpGet(port, HOST, '/'),
    ({ status }) => status === 200,
  );
  const seen: string[] = [];
  gateway.watch((line) => seen.push(line));
  const failing = load(requests);
  faults.plant('gateway-request');
  const count = (text: string): number => seen.filter((line) => line.includes(text)).length;
  await until(
    'an exception in each worker',
    () => count('planted gateway-request'),
    (times) => times === 2,
  );
  faults.clear();
  await answers(failing, 20);
  await failing.stop();
  assert.ok(failing.failures.length <= 2, failing.summary);
  await served();
  const defects = seen.filter((line) => line.includes('defect: this one thing ends'));
  assert.equal(defects.length, 2, seen.join('\n'));
  for (const line of defects)
    assert.match(line, /"kind":"request".*"id":"[^"]+"|"id":"[^"]+".*"kind":"request"/);
  assert.equal(count('worker is up'), 0, 'no worker was started again');
  let counted = 0;
  for (const each of [metrics, metrics + 1]) {
    const text = new PrometheusText(await (await fetch(`http://127.0.0.1:${each}/metrics`)).text());
    counted += text.value('frontdoor_contained_exceptions_total', { kind: 'request' })!;
  }
  assert.equal(counted, 2);
});

test('a worker that dies while its certificates are broken comes back with the last good ones', async () => {
  await putCertificate('kept');
  await readCertificatesAgain();
  writeFileSync(join(tlsDir, 'share.crt'), 'half');
  try {
    for (const number of [1, 2]) {
      const from = logLines.length;
      process.kill(workers.get(number)!, 'SIGKILL');
      await untilSaid('it is started again', 'worker is up', from);
    }
    for (let round = 0; round < 8; round += 1) assert.equal(await shownName(), 'kept');
  } finally {
    // A gateway that starts with the half one, in a later test, is refused.
    await putCertificate('good');
  }
});

test('a worker that no longer answers is killed and started again', async () => {
  const from = logLines.length;
  process.kill(workers.get(2)!, 'SIGSTOP');
  await untilSaid('it is given up', 'a worker ended by itself: started again', from);
  assert.match(
    String(logLines.findLast(({ message }) => message.startsWith('a worker ended'))?.fields['reason']),
    /it stopped responding/,
  );
  await untilSaid('the next one is up', 'worker is up', from);
  const all = load({ keeping: 0, fresh: 8 });
  await answers(all, 100);
  await all.stop();
  assert.deepEqual(all.failures, []);
});

test('after SIGTERM it is not ready at first, but accepts connections for the stop delay, which a second signal ends', async () => {
  const port = await freePort(2);
  const gateway = await parts.addGateway('delayed', [
    '--workers',
    '2',
    '--stop-delay',
    '600',
    '--metrics-listen',
    `127.0.0.1:${port}`,
  ]);
  const readiness = (): Promise<string[]> =>
    Promise.all(
      [port, port + 1].map(async (each) => {
        const answer = await fetch(`http://127.0.0.1:${each}/health/ready`);
        return `${answer.status} ${((await answer.json()) as { status: string }).status}`;
      }),
    );
  const are = (wanted: string) => (found: string[]) => found.every((one) => one === wanted);
  await until('both workers are ready', readiness, are('200 ready'));
  process.kill(gateway.pid, 'SIGTERM');
  await until('no worker is ready', readiness, are('503 stopping'));
  const { gatewayUrl } = gateway.ready;
  const { status } = await httpGet(Number(new URL(gatewayUrl).port), HOST, '/');
  assert.equal(status, 200);
  assert.equal(await gateway.stop('SIGINT', 15_000), 0, gateway.output);
});

test('after SIGTERM under load every request ends: N of N, none reset, and no new connection is accepted', async () => {
  const count = 100;
  const before = asked.get('/slow') ?? 0;
  const requests = Array.from({ length: count }, async () => {
    const socket = connectPlain({ port: parts.port, host: '127.0.0.1' });
    let text = '';
    socket.on('data', (bytes: Buffer) => (text += bytes.toString('latin1')));
    let wasReset = false;
    socket.on('error', () => (wasReset = true));
    socket.write(`GET /slow HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`);
    await closeOf(socket);
    return { text, wasReset };
  });
  const kept = load({ keeping: 4, fresh: 0 });
  await answers(kept, 20);
  // No process has accepted the connections in the kernel's queue yet.
  await reachesService('/slow', count, before);
  const stopped = parts.gateway.stop('SIGTERM', 40_000);
  const answered = await Promise.all(requests);
  const good = answered.filter(
    ({ text, wasReset }) => /^HTTP\/1\.1 200 [^]*slow/.test(text) && !wasReset,
  ).length;
  assert.equal(good, count, `${good} of ${count}`);
  assert.equal(await stopped, 0, parts.gateway.output);
  await kept.stop();
  // Each client with a kept connection is asked to close it, and its next connection is refused.
  const cut = kept.failures.filter((failure) => !/: (ECONNREFUSED|ECONNRESET)$/.test(failure));
  assert.deepEqual(cut, []);
  await assert.rejects(once(connectPlain(parts.port, '127.0.0.1'), 'connect'), { code: 'ECONNREFUSED' });
});

test('a second SIGTERM ends it at once; workers do not outlive a killed supervisor', async () => {
  const held = connectPlain(parts.port, '127.0.0.1');
  held.on('error', () => {});
  held.write(`GET /never HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`);
  await reachesService('/never', 1);
  const from = logLines.length;
  process.kill(parts.gateway.pid, 'SIGTERM');
  await untilSaid('it drains', 'stopping', from);
  // Twice the same signal within a second is one. It is killed, so without a status, when it continues draining.
  assert.ok(parts.gateway.isRunning);
  assert.equal(await parts.gateway.stop('SIGINT', 15_000), 0, parts.gateway.output);
  held.destroy();
  await restart();
  const pids = [...workers.values()];
  await parts.gateway.kill();
  await until(
    'the workers are gone',
    () => pids.filter(isAlive),
    (left) => left.length === 0,
  );
  await restart();
  await answersOnce();
});

async function answersOnce(): Promise<void> {
  const one = load({ keeping: 0, fresh: 1 });
  await answers(one, 1);
  await one.stop();
}
