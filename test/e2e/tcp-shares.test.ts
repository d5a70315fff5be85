// Public shares of TCP and UDP in a whole product, with the clients that people use: psql with its own start of TLS, ssh, dig, and
// raw connections. All tests share one world.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { ShareAnswer } from '#contract/schemas';
import type { AgentShareView } from '#domain/agent-shapes';
import { makeTestAuthority } from '../support/certificates.ts';
import { findCommand, startProcess } from '../support/child-process.ts';
import { until, within } from '../support/deadline.ts';
import { freePort } from '../support/free-port.ts';
import { askPort } from '../support/port-client.ts';
import { POSTGRES_PASSWORD, postgresSkip, startPostgres } from '../support/postgres.ts';
import { makeSshdFiles, SSHD_FOLDER } from '../support/sshd.ts';
import { TestNameServer } from '../support/test-name-server.ts';
import { eventually, openWorld, type World, type WorldAgent } from '../support/world.ts';

const run = promisify(execFile);
const PORTS = 8;
/** The name in the certificate of the database. */
const NAME = 'db.example';
const ROWS = 20_000;

describe('a public share of TCP', () => {
  let world: World;
  let agent: WorldAgent;
  let folder: string;
  let echo: Server;
  const accepted: Socket[] = [];

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'frontdoor-tcp-'));
    const first = await freePort();
    // The others of the range are given to nobody else.
    for (let count = 1; count < PORTS; count += 1) await freePort();
    const ports = { first, last: first + PORTS - 1 };
    world = await openWorld({ tcpPorts: ports, udpPorts: ports });
    agent = await world.startAgent('e');
    echo = createServer({ allowHalfOpen: true }, (socket) => {
      accepted.push(socket);
      socket.on('error', () => {});
      socket.pipe(socket);
    });
    await new Promise<void>((resolve) => {
      echo.listen(0, '127.0.0.1', resolve);
    });
  });
  after(async () => {
    await world.close();
    echo.close();
    for (const socket of accepted) socket.destroy();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Shares a port of this machine, and resolves with its public port when that is open. */
  const publish = async (port: number, name: string, by = agent): Promise<number> => {
    const { share, readiness } = await by.share(`tcp://127.0.0.1:${port}`, { name });
    assert.deepEqual(readiness, { ready: true });
    const open = publicPort(share);
    await until(
      `port ${open} is open`,
      () => connecting(open),
      (code) => code === undefined,
    );
    return open;
  };
  const publicPort = ({ endpoints: [endpoint = ''] }: AgentShareView): number => {
    assert.match(endpoint, /^tcp:\/\/[a-z]+\.share\.localhost:\d+$/);
    return Number(endpoint.split(':').at(-1));
  };
  const echoPort = (): number => (echo.address() as AddressInfo).port;

  it('carries psql with its own start of TLS', { skip: postgresSkip }, async (test) => {
    const authority = await makeTestAuthority();
    writeFileSync(join(folder, 'ca.pem'), authority.ca);
    const server = await startPostgres({ tls: await authority.issue(NAME, { dns: [NAME] }) });
    test.after(() => server.destroy());
    const port = await publish(server.port, 'database');
    const target =
      `host=${NAME} hostaddr=127.0.0.1 port=${port} user=frontdoor dbname=postgres connect_timeout=20 ` +
      `sslmode=verify-full sslrootcert=${join(folder, 'ca.pem')}`;
    const psql = async (...commands: readonly string[]): Promise<string> => {
      const args = [
        '-X',
        '-q',
        '-A',
        '-t',
        '-v',
        'ON_ERROR_STOP=1',
        ...commands.flatMap((each) => ['-c', each]),
      ];
      const env = { ...process.env, PGPASSWORD: POSTGRES_PASSWORD };
      return (await run('psql', [target, ...args], { env })).stdout;
    };
    assert.equal(await psql('select ssl from pg_stat_ssl where pid = pg_backend_pid()'), 't\n');
    const file = join(folder, 'rows.csv');
    const counted = await psql(
      `\\copy (select n from generate_series(1, ${ROWS}) n) to '${file}'`,
      'create temporary table copied (n int)',
      `\\copy copied from '${file}'`,
      'select count(*) from copied',
    );
    assert.equal(counted, `${ROWS}\n`);
  });

  const sshSkip =
    findCommand('sshd') === undefined || findCommand('ssh') === undefined ? 'ssh is not installed' : false;
  it('carries ssh, whose server speaks first', { skip: sshSkip }, async (test) => {
    if (process.getuid?.() === 0) mkdirSync(SSHD_FOLDER, { recursive: true });
    const own = await freePort();
    const { config, key, hostKey } = makeSshdFiles(folder, own);
    const server = startProcess(findCommand('sshd')!, ['-D', '-e', '-f', config]);
    test.after(() => server.stop());
    const port = await publish(own, 'shell');
    const known = join(folder, 'known');
    writeFileSync(known, `server ${readFileSync(hostKey, 'utf8')}`);
    const options = {
      UserKnownHostsFile: known,
      HostKeyAlias: 'server',
      BatchMode: 'yes',
      ConnectTimeout: '20',
    };
    const { stdout } = await run('ssh', [
      ...['-F', '/dev/null', '-i', key, '-p', String(port)],
      ...Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]),
      `${userInfo().username}@127.0.0.1`,
      'echo hello',
    ]);
    assert.equal(stdout, 'hello\n');
  });

  it('carries the end of one side alone, and a reset as a reset', async () => {
    const port = await publish(echoPort(), 'echo');
    assert.equal(await askPort(port, 'until the end'), 'until the end');
    const client = await pinged(port);
    const service = accepted.at(-1)!;
    const broken = new Promise<Error>((resolve) => {
      service.once('error', resolve);
    });
    client.resetAndDestroy();
    assert.match(String(await within('the reset at the service', broken)), /ECONNRESET/);
    const other = await pinged(port);
    const reset = failureOf(other);
    accepted.at(-1)!.resetAndDestroy();
    assert.equal(await within('the reset at the client', reset), 'ECONNRESET');
  });

  it('is cut by a rule that forbids it, and refuses the next connection', async () => {
    const port = await publish(echoPort(), 'ruled');
    const client = await pinged(port);
    const reset = failureOf(client);
    const answer = await world.call('PUT', '/shares/ruled/policy', { ipAllow: ['192.0.2.0/24'] });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(await within('the cut', reset), 'ECONNRESET');
    assert.equal(await within('the refusal', failureOf(connect(port, '127.0.0.1'))), 'ECONNRESET');
    const failures = await eventually(
      async () => (await world.call('GET', '/failures?shareToken=ruled')).json as { content: Failure[] },
      ({ content }) => content.length >= 2,
    );
    const [refused] = failures.content as [Failure];
    assert.deepEqual(
      [refused.code, refused.method, refused.client],
      ['address-not-allowed', 'TCP', '127.0.0.1'],
    );
  });

  it('is cut when its agent goes', async () => {
    const other = await world.startAgent('away');
    const port = await publish(echoPort(), 'away', other);
    const client = await pinged(port);
    const reset = failureOf(client);
    await other.close();
    assert.equal(await within('the cut', reset), 'ECONNRESET');
  });

  it('is in the request log, the metrics and the list of the API', async () => {
    const port = await publish(echoPort(), 'counted');
    assert.equal(await askPort(port, 'counted'), 'counted');
    const { content } = await eventually(
      async () => (await world.call('GET', '/requests?shareToken=counted')).json as { content: Logged[] },
      (page) => page.content?.some(({ bytesIn }) => bytesIn === 7) === true,
    );
    const logged = content.find(({ bytesIn }) => bytesIn === 7)!;
    assert.deepEqual([logged.method, logged.outcome, logged.bytesOut], ['TCP', 'served', 7]);
    const { json } = await world.call('GET', '/shares/counted');
    const { ingressPort, frontendEndpoints } = json as ShareAnswer;
    assert.deepEqual([ingressPort, frontendEndpoints], [port, [`tcp://counted.share.localhost:${port}`]]);
  });

  const digSkip = findCommand('dig') === undefined ? 'dig is not installed' : false;
  it('carries datagrams as well: dig asks a name server', { skip: digSkip }, async (test) => {
    const server = await TestNameServer.start();
    test.after(() => server.close());
    server.names.set('intranet.example', { addresses: ['192.0.2.7'] });
    const { share, readiness } = await agent.share(`udp://${server.address}`, { name: 'names' });
    assert.deepEqual(readiness, { ready: true });
    const [endpoint = ''] = share.endpoints;
    assert.match(endpoint, /^udp:\/\/names\.share\.localhost:\d+$/);
    const port = endpoint.split(':').at(-1)!;
    const args = ['@127.0.0.1', '-p', port, '+short', '+tries=5', '+timeout=2', 'intranet.example', 'A'];
    assert.equal((await run('dig', args)).stdout, '192.0.2.7\n');
    // Its flow ends when it is idle, or when a rule forbids it.
    const rules = { ipDeny: ['127.0.0.0/8'] };
    assert.equal((await world.call('PUT', '/shares/names/policy', rules)).status, 200);
    const { content } = await eventually(
      async () => (await world.call('GET', '/requests?shareToken=names')).json as { content: Logged[] },
      (page) => page.content?.length > 0,
    );
    assert.deepEqual([content[0]?.method, content[0]?.outcome], ['UDP', 'broken-off']);
  });

  it('ends with the share, and its port closes', async () => {
    const port = await publish(echoPort(), 'ended');
    const client = await pinged(port);
    const reset = failureOf(client);
    assert.equal((await world.call('DELETE', '/shares/ended')).status, 204);
    assert.equal(await within('the cut', reset), 'ECONNRESET');
    await until(
      'the port is closed',
      () => connecting(port),
      (code) => code === 'ECONNREFUSED',
    );
  });
});

interface Failure {
  readonly code: string;
  readonly method: string;
  readonly client: string;
}

interface Logged {
  readonly method: string;
  readonly outcome: string;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** The code of the error that a connection fails with; undefined: it is made. */
async function connecting(port: number): Promise<string | undefined> {
  const socket = connect(port, '127.0.0.1');
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  socket.once('connect', () => resolve(undefined));
  socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
  const code = await promise;
  socket.destroy();
  return code;
}

/** A connection on which the echo has answered. */
async function pinged(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once('data', () => resolve());
  socket.once('error', reject);
  socket.write('ping');
  await within('the echo', promise);
  socket.off('error', reject);
  socket.resume();
  return socket;
}

/** Resolves with the code of the error that ends the connection; 'end' for an end in order. */
function failureOf(socket: Socket): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  socket.once('end', () => resolve('end'));
  socket.resume();
  return promise;
}
