import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { silentLog, systemClock, type Clock } from '#base';
import {
  grantChanges,
  identityChange,
  relationChange,
  serviceChange,
} from '../../../../test/support/token-signer.ts';
import { until, within } from '../../../../test/support/deadline.ts';
import { freePort } from '../../../../test/support/free-port.ts';
import { peerDataOf, ROUTER_ID, TunnelWorld } from '../testing/tunnel-world.ts';
import { ProxyPart } from './proxy-part.ts';

const HOST = '127.0.0.1';
const IDLE_MS = 60_000;
/** A datagram can be lost while the port is not open yet. */
const MOMENT_MS = 200;

interface Entry {
  readonly path: string;
  readonly name: string;
  readonly port: number;
  readonly protocol: 'tcp' | 'udp';
}

async function entryOf(name: string, protocol: 'tcp' | 'udp' = 'tcp'): Promise<Entry> {
  return { path: 'listeners[0].options.services[0]', name, port: await freePort(), protocol };
}

async function openPart(
  t: TestContext,
  world: TunnelWorld,
  entries: readonly Entry[],
  clock: Clock = systemClock,
): Promise<ProxyPart> {
  const part = await ProxyPart.open({
    entries,
    placeOf: (path) => `router.yml:7: ${path}`,
    host: HOST,
    services: world.services,
    dialer: world.circuits,
    config: { udpIdleTimeoutMs: IDLE_MS, udpCheckIntervalMs: 3_600_000 },
    clock,
    log: silentLog,
  });
  t.after(() => part.close());
  return part;
}

function granted(world: TunnelWorld): void {
  world.change([
    identityChange(ROUTER_ID),
    serviceChange('web'),
    ...grantChanges('dial', 'Dial', ROUTER_ID, 'web'),
  ]);
}

/** Resolves with the connection once it is open, or undefined if the port is closed. */
function tryConnect(t: TestContext, port: number): Promise<Socket | undefined> {
  const socket = connect({ host: HOST, port, allowHalfOpen: true });
  t.after(() => socket.destroy());
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(socket));
    socket.on('error', () => resolve(undefined));
  });
}

async function connected(t: TestContext, port: number): Promise<Socket> {
  const { value } = await until(
    'the port',
    () => tryConnect(t, port),
    (it) => it !== undefined,
  );
  return value!;
}

async function untilClosed(t: TestContext, port: number): Promise<void> {
  await until(
    'the closed port',
    () => tryConnect(t, port),
    (it) => it === undefined,
  );
}

function all(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk)));
  return within('the end', new Promise((resolve) => socket.once('end', () => resolve(text))));
}

test('a connection to the port of a service is a circuit to it, with half-close', async (t) => {
  const world = new TunnelWorld(t);
  const entry = await entryOf('web');
  await openPart(t, world, [entry]);
  await untilClosed(t, entry.port);
  granted(world);
  const socket = await connected(t, entry.port);
  const answer = all(socket);
  socket.end('request');
  assert.equal(await answer, 'request');
  const [request] = world.requests;
  assert.equal(request?.serviceName, 'web');
  assert.deepEqual(JSON.parse(String(Buffer.from(peerDataOf(request).get(1011)!))), {
    dst_protocol: 'tcp',
    dst_ip: HOST,
    dst_port: String(entry.port),
  });
});

test('a service that is lost closes its port and ends its circuits; when it returns, both work', async (t) => {
  const world = new TunnelWorld(t);
  const entry = await entryOf('web');
  await openPart(t, world, [entry]);
  granted(world);
  const socket = await connected(t, entry.port);
  socket.write('x');
  await within('an answer', new Promise((resolve) => socket.once('data', resolve)));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  world.change([relationChange('dial', 'service', ['web'], false)]);
  await within('the end of the circuit', closed);
  await untilClosed(t, entry.port);
  world.change([relationChange('dial', 'service', ['web'])]);
  await connected(t, entry.port);
});

test('proxy.v1 opens ports, and a change of it moves them', async (t) => {
  const world = new TunnelWorld(t);
  const [first, second] = [await freePort(), await freePort()];
  await openPart(t, world, []);
  const configChange = (port: number) => {
    const dataJson = JSON.stringify({ port, protocols: ['tcp'], binding: HOST });
    return { case: 'config', value: { id: 'c', typeId: 'type', name: 'c', dataJson } } as const;
  };
  world.change([
    { case: 'configType', value: { id: 'type', name: 'proxy.v1' } },
    configChange(first),
    identityChange(ROUTER_ID),
    { case: 'service', value: { id: 'web', name: 'web', configs: ['c'] } },
    ...grantChanges('dial', 'Dial', ROUTER_ID, 'web'),
  ]);
  await connected(t, first);
  world.change([configChange(second)]);
  await connected(t, second);
  await untilClosed(t, first);
});

test('a port that is taken at the start is an error with file, line and key', async (t) => {
  const world = new TunnelWorld(t);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const entry = { ...(await entryOf('web')), port };
  await assert.rejects(openPart(t, world, [entry]), {
    code: 'port-taken',
    message: `router.yml:7: listeners[0].options.services[0]: ${HOST}:${port} is taken`,
  });
});

test('a dial that fails resets the connection', async (t) => {
  const world = new TunnelWorld(t);
  const entry = await entryOf('web');
  await openPart(t, world, [entry]);
  granted(world);
  world.refusal = 'no terminators';
  const failure = (): Promise<string | undefined> => {
    const socket = connect({ host: HOST, port: entry.port });
    t.after(() => socket.destroy());
    const failed = new Promise<Error>((resolve) => socket.once('error', resolve));
    return failed.then((error) => (error as NodeJS.ErrnoException).code);
  };
  await until('the reset', failure, (code) => code === 'ECONNRESET');
});

test('each source of datagrams at the port of a service is a circuit, whose datagrams stay whole', async (t) => {
  const world = new TunnelWorld(t);
  world.isDatagrams = true;
  const entry = await entryOf('web', 'udp');
  await openPart(t, world, [entry]);
  granted(world);
  const clients = [await udpClient(t), await udpClient(t)];
  for (const [index, client] of clients.entries()) {
    const text = 'datagram'.repeat(1 + index * 5_000);
    await until(
      'the echo',
      () => client.exchange(entry.port, text),
      (echo) => echo === text,
    );
  }
  assert.deepEqual(
    world.requests
      .slice(-1)
      .map((asked) => [
        asked.serviceName,
        (JSON.parse(String(Buffer.from(peerDataOf(asked).get(1011)!))) as { dst_protocol: string })
          .dst_protocol,
      ]),
    [['web', 'udp']],
  );
  assert.equal(
    new Set(world.requests.map((asked) => String(Buffer.from(peerDataOf(asked).get(1113)!)))).size,
    2,
  );
});

test('a UDP port that is taken at the start is an error with file, line and key', async (t) => {
  const world = new TunnelWorld(t);
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, HOST, resolve));
  t.after(() => void socket.close());
  const { port } = socket.address();
  await assert.rejects(openPart(t, world, [{ ...(await entryOf('web', 'udp')), port }]), {
    code: 'port-taken',
    message: `router.yml:7: listeners[0].options.services[0]: ${HOST}:${port} is taken`,
  });
});

interface UdpClient {
  /** Resolves with the next datagram, or undefined after a moment without one. */
  exchange(port: number, text: string): Promise<string | undefined>;
}

async function udpClient(t: TestContext): Promise<UdpClient> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, HOST, resolve));
  t.after(() => void socket.close());
  return {
    exchange: (port, text) => {
      const { promise, resolve } = Promise.withResolvers<string | undefined>();
      const timer = setTimeout(() => resolve(undefined), MOMENT_MS);
      socket.once('message', (datagram) => resolve(String(datagram)));
      socket.send(text, port, HOST);
      return promise.finally(() => clearTimeout(timer));
    },
  };
}
