// The ports of shares at a gateway of two worker processes: both serve them, and the end of one closes no port.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import type { AgentShareView } from '#domain/agent-shapes';
import { until, within } from '../support/deadline.ts';
import { freePort } from '../support/free-port.ts';
import { askPort, startUdpEcho, udpClient } from '../support/port-client.ts';
import { PrometheusText } from '../support/prometheus-text.ts';
import { startSeparate, type Separate } from '../support/separate.ts';

const PORTS = 4;
const CLIENTS = 40;

let parts: Separate;
/** That of the first worker; the second one has the next. */
let metricsPort: number;
const workers = new Map<number, number>();
const accepted: Socket[] = [];
const echo = createServer({ allowHalfOpen: true }, (socket) => {
  accepted.push(socket);
  socket.on('error', () => {});
  socket.pipe(socket);
});

before(async () => {
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  metricsPort = await freePort(2);
  const first = await freePort(PORTS);
  const range = `${first}-${first + PORTS - 1}`;
  const metrics = ['--metrics-listen', `127.0.0.1:${metricsPort}`];
  const gatewayArgs = ['--workers', '2', '--tcp-ports', range, '--udp-ports', range, ...metrics];
  parts = await startSeparate({ gatewayArgs });
  parts.gateway.watch(noteWorker);
  for (const line of parts.gateway.output.split('\n')) noteWorker(line);
});
after(async () => {
  echo.close();
  for (const socket of accepted) socket.destroy();
  await parts?.stop();
});

function noteWorker(line: string): void {
  const found = /"worker is up".*/.exec(line);
  if (found === null) return;
  const { worker, pid } = JSON.parse(line) as { worker: number; pid: number };
  workers.set(worker, pid);
}

function portOf({ endpoints: [endpoint = ''] }: AgentShareView): number {
  assert.match(endpoint, /^(tcp|udp):\/\/[a-z]+\.share\.localhost:\d+$/);
  return Number(endpoint.split(':').at(-1));
}

/** A value of each worker. */
function measured(name: string): Promise<(number | undefined)[]> {
  return Promise.all(
    [metricsPort, metricsPort + 1].map(async (port) => {
      const answer = await fetch(`http://127.0.0.1:${port}/metrics`).catch(() => undefined);
      return answer && new PrometheusText(await answer.text()).value(`frontdoor_gateway_${name}`);
    }),
  );
}

const areOpen = (count: number) => (found: readonly unknown[]) => found.every((each) => each === count);

test('both workers serve the port of a share, and the successor of a killed one does', async () => {
  const share = await parts.share('public', `tcp://127.0.0.1:${(echo.address() as AddressInfo).port}`, 'db');
  const port = portOf(share);
  await until('both workers listen', () => measured('open_ports'), areOpen(1));
  const clients = Array.from({ length: CLIENTS }, () => connect(port, '127.0.0.1'));
  for (const client of clients) client.on('error', () => {}).write('x');
  await within('all are answered', Promise.all(clients.map((client) => once(client, 'data'))));
  const [first = 0, second = 0] = await measured('stream_connections');
  assert.equal(first + second, CLIENTS);
  assert.ok(first > 0 && second > 0, `${first} and ${second} connections`);

  await until(
    'the processes are known',
    () => workers.size,
    (size) => size === 2,
  );
  const killed = workers.get(1)!;
  process.kill(killed, 'SIGKILL');
  await until(
    'another one is up',
    () => workers.get(1),
    (pid) => pid !== killed,
  );
  await until('both workers listen', () => measured('open_ports'), areOpen(1));
  const answers = Array.from({ length: CLIENTS }, (_, index) => askPort(port, `question ${index}`));
  const wanted = answers.map((_, index) => `question ${index}`);
  assert.deepEqual(await within('all are answered', Promise.all(answers)), wanted);
  for (const client of clients) client.destroy();
});

test('each source of datagrams stays with one worker', async (t) => {
  const service = await startUdpEcho();
  t.after(() => service.close());
  const share = await parts.share('public', `udp://127.0.0.1:${service.address().port}`, 'names');
  const port = portOf(share);
  await until('both workers listen', () => measured('open_ports'), areOpen(2));
  for (let count = 0; count < 12; count += 1) {
    const client = await udpClient();
    t.after(() => client.close());
    // The same text each time: an answer may come late.
    for (const which of ['first', 'second', 'third']) {
      const asked = () => client.exchange(port, 'text');
      await until(`the ${which} answer`, asked, (answer) => answer === 'text');
    }
  }
  const flows = await measured('stream_connections');
  assert.equal(
    flows.reduce<number>((sum, each) => sum + (each ?? 0), 0),
    12,
  );
});
