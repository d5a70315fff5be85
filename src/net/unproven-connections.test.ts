import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { silentLog } from '#base';
import { until } from '../../test/support/deadline.ts';
import { createHttpServer } from './http/node-http.ts';
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

/** GET /prove proves, GET /wait never answers, GET /hold does neither and keeps its connection until `release`. */
async function open(limits: UnprovenLimits) {
  const connections = new UnprovenConnections(limits, silentLog);
  let waiting = 0;
  const held: (() => void)[] = [];
  const server = createHttpServer((request, response) => {
    if (request.url === '/wait') waiting += 1;
    if (request.url === '/hold') {
      const release = connections.hold(request.socket);
      held.push(() => {
        release();
        response.end('here');
      });
      return;
    }
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
    held,
    /** Resolves when so many requests that are never answered have arrived. */
    haveWaited: (count: number) =>
      until(
        'requests that wait',
        () => waiting,
        (came) => came === count,
      ),
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

test('connections of a proxy are not counted', async () => {
  const { connections, come } = await open({ maxUnproven: 1, isProxy: (address) => address === '127.0.0.7' });
  const proxied = [await come('127.0.0.7'), await come('127.0.0.7')];
  const other = await come('127.0.0.2');
  await until(
    'the other is counted',
    () => connections.size,
    (size) => size === 1,
  );
  for (const socket of [...proxied, other]) {
    ask(socket, '/');
    await once(socket, 'data');
  }
});

test('a connection whose request waits for its turn is not closed, and counts again afterwards', async () => {
  const { connections, held, come } = await open({ maxUnproven: 2 });
  const office: Socket[] = [];
  for (let at = 0; at < 3; at += 1) {
    office.push(await come('127.0.0.5'));
    ask(office[at]!, '/hold');
    await until(
      'it waits',
      () => held.length,
      (length) => length === at + 1,
    );
  }
  assert.equal(connections.size, 0);
  // Newcomers displace each other.
  for (let at = 0; at < 5; at += 1) ask(await come(`127.0.1.${at}`), '/');
  assert.ok(office.every((socket) => !socket.destroyed));
  for (const [at, release] of held.entries()) {
    const answered = once(office[at]!, 'data');
    release();
    await answered;
  }
  assert.ok(connections.size <= 3);
  await come('127.0.0.6');
  await gone(office[0]!);
});

test('a request that is being answered is not broken off for an address that has as many', async () => {
  const suspects = new Set(['127.0.0.8', '127.0.0.9']);
  const { connections, haveWaited, come } = await open({
    maxUnproven: 2,
    isSuspect: (address) => suspects.has(address),
  });
  const isFull = () =>
    until(
      'all are counted',
      () => connections.size,
      (size) => size === 2,
    );
  const first = await come('127.0.0.8');
  const second = await come('127.0.0.2');
  await isFull();
  ask(first, '/wait');
  ask(second, '/wait');
  await haveWaited(2);
  // Another suspect, and one more of an address that has one.
  await gone(await come('127.0.0.9'));
  assert.deepEqual([first.destroyed, second.destroyed], [false, false]);
  const third = await come('127.0.0.2');
  await gone(first);
  ask(third, '/wait');
  await haveWaited(3);
  await gone(await come('127.0.0.2'));
  assert.deepEqual([second.destroyed, third.destroyed], [false, false]);
});

test('when there are too many, a suspect address loses its only one before others lose any of a few', async () => {
  const suspects = new Set(['127.0.0.9']);
  const { connections, come } = await open({ maxUnproven: 4, isSuspect: (address) => suspects.has(address) });
  const browser = [await come('127.0.0.2'), await come('127.0.0.2'), await come('127.0.0.2')];
  const suspect = await come('127.0.0.9');
  await until(
    'all are counted',
    () => connections.size,
    (size) => size === 4,
  );
  ask(suspect, '/wait');
  await come('127.0.0.3');
  await gone(suspect);
  for (const socket of browser) assert.equal(socket.destroyed, false);
});

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
