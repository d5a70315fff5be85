import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import type { LookupAddress } from 'node:dns';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { NameLookups } from '#net/names';
import { FarEndDialer, type FarEndDial } from '#sdk/hosting';
import type { HostLookup } from '#net/names';
import { UdpDialer } from '#net/datagrams';
import { within } from '../../../../test/support/deadline.ts';
import type { LocalAddresses } from '../../xgress/local-addresses.ts';
import type { LocalConnection } from '../../xgress/xgress-end.ts';

const NEVER: HostLookup = () => {};

interface Request {
  readonly host: string;
  readonly port: number;
  readonly protocol?: 'tcp' | 'udp';
  readonly mayReach?: (address: string) => boolean;
  readonly source?: FarEndDial['source'];
  readonly proxy?: FarEndDial['proxy'];
  readonly lookup?: HostLookup;
  readonly signal?: AbortSignal;
  readonly connectTimeoutMs?: number;
}

async function dial(t: TestContext, request: Request): Promise<LocalConnection & LocalAddresses> {
  const { host, port, protocol = 'tcp', mayReach = () => true, source, proxy } = request;
  const { lookup = new NameLookups().lookup } = request;
  const { signal = new AbortController().signal, connectTimeoutMs = 30_000 } = request;
  const connection = await new FarEndDialer({ udp: new UdpDialer(), lookup }).dial({
    farEnd: { protocol, host, port, mayReach },
    source,
    proxy,
    connectTimeoutMs,
    dial: { deadlineMs: performance.now() + 30_000, signal },
  });
  t.after(() => connection.destroy());
  return connection;
}

function found(...addresses: string[]): HostLookup {
  const list: LookupAddress[] = addresses.map((address) => ({
    address,
    family: address.includes(':') ? 6 : 4,
  }));
  return (_host, _options, done) => done(null, list);
}

async function serve(
  t: TestContext,
  host: string,
  port: number,
  onConnection: (socket: Socket) => void,
): Promise<number> {
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    t.after(() => socket.destroy());
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** Sends `text` and its end, and returns what comes back until the end of the other direction. */
async function exchange(connection: LocalConnection, text: string): Promise<string> {
  connection.end(text);
  let answer = '';
  const read = async (): Promise<string> => {
    for await (const chunk of connection) answer += String(chunk);
    return answer;
  };
  return within('the answer', read());
}

test('each direction of a connection ends by itself', async (t) => {
  const port = await serve(t, '127.0.0.1', 0, (socket) => {
    socket.resume();
    socket.on('end', () => socket.end('after the end'));
  });
  assert.equal(await exchange(await dial(t, { host: '127.0.0.1', port }), 'x'), 'after the end');
});

test('of the addresses of a name, only those that are allowed are tried', async (t) => {
  let forbidden = 0;
  const port = await serve(t, '127.0.0.1', 0, (socket) => socket.end('allowed'));
  await serve(t, '127.0.0.2', port, (socket) => {
    forbidden += 1;
    socket.end('forbidden');
  });
  const request = {
    host: 'db.example',
    port,
    lookup: found('127.0.0.2', '127.0.0.1'),
    mayReach: (address: string) => address === '127.0.0.1',
  };
  assert.equal(await exchange(await dial(t, request), ''), 'allowed');
  await assert.rejects(dial(t, { ...request, lookup: found('127.0.0.2') }), {
    code: 'far-end-not-allowed',
  });
  assert.equal(forbidden, 0);
});

test('a connection comes from the source address that was asked for, and from its family', async (t) => {
  const port = await serve(t, '127.0.0.1', 0, (socket) => socket.end(socket.remoteAddress ?? ''));
  const source = { host: '127.0.0.7', port: 0 };
  const lookup = found('::1', '127.0.0.1');
  const connection = await dial(t, { host: 'db.example', port, source, lookup });
  assert.equal(await exchange(connection, ''), '127.0.0.7');
});

test('a source address that the machine does not have is named', async (t) => {
  const port = await serve(t, '127.0.0.1', 0, () => {});
  const source = { host: '192.0.2.77', port: 0 };
  for (const protocol of ['tcp', 'udp'] as const)
    await assert.rejects(dial(t, { protocol, host: '127.0.0.1', port, source }), {
      code: 'source-not-local',
      message: /192\.0\.2\.77/,
    });
});

test('a far end that refuses, does not answer or has no name fails with its reason', async (t) => {
  const port = await serve(t, '127.0.0.1', 0, () => {});
  await assert.rejects(dial(t, { host: '127.0.0.2', port }), { code: 'connection-refused' });
  await assert.rejects(dial(t, { host: 'no-such-host.invalid', port }), { code: 'name-not-found' });
  await assert.rejects(dial(t, { host: 'x.example', port, lookup: NEVER, connectTimeoutMs: 20 }), {
    code: 'dial-timeout',
  });
});

test('a dial ends when its circuit is unrouted', async (t) => {
  const abort = new AbortController();
  const dialing = dial(t, { host: 'x.example', port: 1, lookup: NEVER, signal: abort.signal });
  abort.abort();
  await assert.rejects(dialing, { code: 'unrouted' });
});

test('datagrams reach the first allowed address', async (t) => {
  const server = createSocket('udp4', (datagram, { port, address }) => server.send(datagram, port, address));
  await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve));
  t.after(() => void server.close());
  const lookup = found('192.0.2.1', '127.0.0.1');
  const mayReach = (address: string): boolean => address.startsWith('127.');
  const { port } = server.address();
  const connection = await dial(t, { protocol: 'udp', host: 'dns.example', port, lookup, mayReach });
  const answer = within('the datagram', new Promise((resolve) => connection.once('data', resolve)));
  connection.write('ping');
  assert.equal(String(await answer), 'ping');
});

test('a proxy connects to the name itself, and its refusal and its silence are failures', async (t) => {
  let head = '';
  const port = await serve(t, '127.0.0.1', 0, (socket) => {
    socket.once('data', (data: Buffer) => {
      head = String(data);
      if (head.includes('silent')) return;
      socket.write(head.includes('refused') ? 'HTTP/1.1 403 no\r\n\r\n' : 'HTTP/1.1 200 ok\r\n\r\nbanner');
      socket.on('end', () => socket.end(' bye'));
    });
  });
  const proxy = { host: '127.0.0.1', port };
  const request = { host: 'db.example', port: 5432, proxy, lookup: NEVER };
  assert.equal(await exchange(await dial(t, request), 'x'), 'banner bye');
  assert.ok(head.startsWith('CONNECT db.example:5432 '), head);
  await assert.rejects(dial(t, { ...request, host: 'refused.example' }), { code: 'proxy-failed' });
  await assert.rejects(dial(t, { ...request, host: 'silent.example', connectTimeoutMs: 20 }), {
    code: 'dial-timeout',
  });
  await assert.rejects(dial(t, { ...request, protocol: 'udp' }), { code: 'misconfigured-terminator' });
});
