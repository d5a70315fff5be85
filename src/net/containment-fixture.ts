/** A program that throws in each way that reaches the process, and prints what failed of it. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { silentLog } from '#base';
import { contain, containedExceptions, containSocket, uncaughtListener } from './containment.ts';

process.on('uncaughtException', uncaughtListener(silentLog));

function boom(): never {
  throw new Error('boom');
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const plain = createServer((socket) => void socket.end('x'));
const plainPort = await listen(plain);
const failed: string[] = [];
const later: Record<string, () => void> = {
  timer: () => void setTimeout(boom, 1),
  tick: () => process.nextTick(boom),
  promise: () => void delay(1).then(boom),
  socket: () => void connect(plainPort, '127.0.0.1').once('data', boom),
};
for (const [id, begin] of Object.entries(later)) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const fail = (): void => {
    failed.push(id);
    resolve();
  };
  contain({ kind: 'share', id, fail }, begin);
  await promise;
}
plain.close();

let served = 0;
const contained = createServer((socket) =>
  containSocket(socket, silentLog, () => {
    served += 1;
    socket.on('error', () => {});
    if (served === 1) boom();
    if (served === 2) socket.on('data', boom);
    if (served === 3) void delay(1).then(boom);
    if (served > 3) socket.end('fine');
  }),
);
const port = await listen(contained);
const answers: string[] = [];
for (let i = 0; i < 4; i += 1) {
  const client = connect(port, '127.0.0.1');
  let answer = '';
  client.on('error', () => {});
  client.on('data', (chunk) => (answer += String(chunk)));
  client.write('hello');
  // `once` of node:events would reject for a connection that is reset.
  await new Promise((resolve) => client.once('close', resolve));
  answers.push(answer);
}
contained.close();
setImmediate(boom);
await delay(5);
const counts = Object.fromEntries(containedExceptions());
process.stdout.write(
  JSON.stringify({ failed, process: counts['process'], connections: counts['connection'], answers }),
);
