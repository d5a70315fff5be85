// Connected UDP sockets to real services.
import assert from 'node:assert/strict';
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { test, type TestContext } from 'node:test';
import { ManualClock } from '#base';
import { until, within } from '../../../test/support/deadline.ts';
import type { DatagramConnection } from './datagram-connection.ts';
import { UdpDialer, type UdpDial } from './udp-dialer.ts';

async function service(
  t: TestContext,
  onDatagram: (datagram: Buffer, from: RemoteInfo) => void,
): Promise<Socket> {
  const socket = createSocket('udp4', onDatagram);
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  t.after(() => void socket.close());
  return socket;
}

async function dial(
  t: TestContext,
  options: Partial<UdpDial>,
  dialer = new UdpDialer(),
): Promise<DatagramConnection> {
  const base = { network: 'udp', host: '127.0.0.1', port: 9, timeoutMs: 10_000 } as const;
  const connection = await dialer.dial({ ...base, ...options });
  t.after(() => connection.destroy());
  return connection;
}

test('each write is a datagram, each datagram a read, and the service sees one source for each dial', async (t) => {
  const sources = new Set<number>();
  const echo = await service(t, (datagram, { port, address }) => {
    sources.add(port);
    echo.send(datagram, port, address);
  });
  const { port } = echo.address();
  for (const host of ['127.0.0.1', 'localhost']) {
    const connection = await dial(t, { host, port, network: 'udp4' });
    const got: number[] = [];
    connection.on('data', (datagram: Uint8Array) => void got.push(datagram.length));
    const sizes = [1, 1_472, 60_000];
    for (const size of sizes) connection.write(Buffer.alloc(size));
    await until(
      'the answers',
      () => got.length,
      (count) => count === sizes.length,
    );
    assert.deepEqual(got, sizes);
    assert.deepEqual([connection.remoteAddress, connection.remotePort], ['127.0.0.1', port]);
    assert.ok(sources.has(connection.localPort));
  }
  assert.equal(sources.size, 2);
});

test('datagrams of others than the service do not come in', async (t) => {
  const first = Promise.withResolvers<RemoteInfo>();
  const real = await service(t, (_datagram, from) => first.resolve(from));
  const stranger = await service(t, () => {});
  const connection = await dial(t, { port: real.address().port });
  const got: string[] = [];
  connection.on('data', (datagram: Uint8Array) => void got.push(Buffer.from(datagram).toString()));
  connection.write('hello');
  const { port, address } = await within('the datagram', first.promise);
  await new Promise((resolve) => stranger.send('strange', port, address, resolve));
  real.send('real', port, address);
  await until(
    'the answer',
    () => got.length,
    (count) => count > 0,
  );
  assert.deepEqual(got, ['real']);
});

test('a port without a service ends the connection with the refusal', async (t) => {
  const gone = createSocket('udp4');
  await new Promise<void>((resolve) => gone.bind(0, '127.0.0.1', resolve));
  const { port } = gone.address();
  await new Promise<void>((resolve) => gone.close(resolve));
  const connection = await dial(t, { port });
  const failed = Promise.withResolvers<NodeJS.ErrnoException>();
  connection.on('error', failed.resolve);
  connection.write('anybody?');
  assert.equal((await within('the refusal', failed.promise)).code, 'ECONNREFUSED');
});

test('the source address can be chosen', async (t) => {
  const first = Promise.withResolvers<RemoteInfo>();
  const real = await service(t, (_datagram, from) => first.resolve(from));
  const connection = await dial(t, { port: real.address().port, localAddress: '127.0.0.2' });
  connection.write('hello');
  assert.equal((await within('the datagram', first.promise)).address, '127.0.0.2');
});

test('an idle connection ends after its time', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const clock = new ManualClock();
  const connection = await dial(t, { idleTimeoutMs: 5_000 }, new UdpDialer(clock));
  const pass = (ms: number): void => {
    clock.advance(ms);
    t.mock.timers.tick(ms);
  };
  pass(4_000);
  connection.write('x');
  pass(4_999);
  assert.equal(connection.hasEnded, false);
  pass(1);
  assert.equal(connection.hasEnded, true);
});

test('unknown names and aborted dials are refused', async (t) => {
  // Longer than a label can be, so the name is refused without a DNS query on any network.
  await assert.rejects(dial(t, { host: `${'x'.repeat(64)}.invalid` }), { code: 'ENOTFOUND' });
  await assert.rejects(dial(t, { signal: AbortSignal.abort() }), { code: 'unrouted' });
});
