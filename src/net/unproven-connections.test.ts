import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { silentLog } from '#base';
import { until } from '../../test/support/deadline.ts';
import { createHttpServer } from './node-http.ts';
import { UnprovenConnections, type UnprovenLimits } from './unproven-connections.ts';

/** A newcomer displaces none of its own address that is younger. */
const UNDISTURBED_MS = 1_000;
const servers: Server[] = [];
const sockets: Socket[] = [];
after(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

/** GET /prove proves, GET /wait never answers. */
async function open(limits: UnprovenLimits) {
  const connections = new UnprovenConnections(limits, silentLog);
  const server = createHttpServer((request, response) => {
    if (request.url === '/prove') connections.prove(request.socket);
    if (request.url !== '/wait') response.end('here');
  });
  connections.follow(server);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    connections,
    come: async (localAddress: string): Promise<Socket> => {
      const socket = connect({ port, host: '127.0.0.1', localAddress });
      socket.on('error', () => {}).resume();
      sockets.push(socket);
      await once(socket, 'connect');
      return socket;
    },
  };
}

function ask(socket: Socket, path: string): void {
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
}

const gone = (socket: Socket) => until('the end of a connection', () => socket.destroyed, Boolean);

test('when there are too many, the oldest idle one of the address that has most goes, and proven ones stay', async () => {
  const { connections, come } = await open({ maxUnproven: 4 });
  const proven = await come('127.0.0.2');
  ask(proven, '/prove');
  await once(proven, 'data');
  const heavy: Socket[] = [];
  for (let i = 0; i < 3; i += 1) heavy.push(await come('127.0.0.2'));
  ask(heavy[0]!, '/wait');
  const light = await come('127.0.0.3');
  await until(
    'all are counted',
    () => connections.size,
    (size) => size === 4,
  );
  await come('127.0.0.4');
  await gone(heavy[1]!);
  await come('127.0.0.5');
  await gone(heavy[2]!);
  await until(
    'four again',
    () => connections.size,
    (size) => size === 4,
  );
  for (const socket of [proven, heavy[0]!, light]) assert.equal(socket.destroyed, false);
  ask(light, '/');
  await once(light, 'data');
});

test('of one address there are so many: a newcomer is refused while the oldest is new, and displaces it after that', async () => {
  const { connections, come } = await open({ maxUnproven: 10, maxUnprovenPerAddress: 2 });
  const [first, second] = [await come('127.0.0.2'), await come('127.0.0.2')];
  await until(
    'two are counted',
    () => connections.size,
    (size) => size === 2,
  );
  await gone(await come('127.0.0.2'));
  assert.equal(first.destroyed, false);
  // This tests a duration.
  await pause(UNDISTURBED_MS + 50);
  const late = await come('127.0.0.2');
  await gone(first);
  ask(late, '/');
  await once(late, 'data');
  assert.equal(second.destroyed, false);
});
