// The sockets that workers inherit: a waiting connection survives the end of its worker, and a worker that stays away
// delays connections only for a moment.
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { lookup } from 'node:dns/promises';
import { connect, createServer } from 'node:net';
import { afterEach, beforeEach, test } from 'node:test';
import { WorkerPorts } from '../../bin/worker-ports.ts';
import { within } from '../support/deadline.ts';
import { freePort } from '../support/free-port.ts';

const WORKER = `
const { createServer } = require('node:net');
createServer((socket) => socket.end(process.argv[1])).listen({ fd: 4 }, () => process.send('up'));
`;
const CLIENTS = 40;
/** As the product takes it: a client that is late would try the other address of this name. */
const { address } = await lookup('localhost');

let ports: WorkerPorts;
let children: ChildProcess[];

beforeEach(async () => {
  children = [];
  ports = await WorkerPorts.open({ host: 'localhost', httpPort: 0, httpsPort: undefined, workers: 2 });
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  ports.close();
});

async function start(index: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-e', WORKER, String(index)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc', ...ports.fdsOf(index)],
  });
  children.push(child);
  await within('a worker', once(child, 'message'));
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await within('its end', ended);
}

/** Which worker each of many clients met, sorted and without repetition; `reset` for one that met nobody. */
function meet(): Promise<string>[] {
  return Array.from({ length: CLIENTS }, async () => {
    const socket = connect(ports.plainPort, address);
    let text = '';
    socket.on('data', (bytes: Buffer) => (text += bytes.toString()));
    const failed = new Promise<string>((resolve) => {
      socket.once('error', () => resolve('reset'));
    });
    return Promise.race([failed, once(socket, 'end').then(() => text)]);
  });
}

async function met(clients: Promise<string>[]): Promise<string[]> {
  return [...new Set(await within('all clients', Promise.all(clients)))].toSorted();
}

test('connections that wait for a killed worker are served by its successor', async () => {
  const [first] = [await start(0), await start(1)];
  assert.deepEqual(await met(meet()), ['0', '1']);
  await kill(first);
  const waiting = meet();
  await start(0);
  assert.deepEqual(await met(waiting), ['0', '1']);
});

test('after its release the others take its connections, and it has its share again when it is back', async () => {
  const [first] = [await start(0), await start(1)];
  await kill(first);
  assert.equal(ports.release(0), true);
  assert.deepEqual(await met(meet()), ['1']);
  assert.equal(ports.release(1), false, 'the last one is kept');
  ports.hold(0);
  assert.deepEqual(await met(meet()), ['1'], 'nobody listens there yet');
  await start(0);
  assert.deepEqual(await met(meet()), ['0', '1']);
});

test('metrics ports that a neighbour serves are refused, also when it would share them', async (t) => {
  const host = '127.0.0.1';
  const port = await freePort(3);
  const neighbour = createServer().listen({ host, port: port + 2, reusePort: true });
  t.after(() => neighbour.close());
  await once(neighbour, 'listening');
  const options = { host, httpPort: 0, httpsPort: undefined };
  const overlapping = WorkerPorts.open({ ...options, workers: 3, metrics: { host, port } });
  await assert.rejects(overlapping, { code: 'port-taken' });
  const beside = await WorkerPorts.open({ ...options, workers: 2, metrics: { host, port } });
  beside.close();
});
