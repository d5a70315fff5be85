import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { FrontdoorError, readHostPort, silentLog } from '#base';
import type { Circuit } from '#sdk';
import { until } from '../../../test/support/deadline.ts';
import { memoryCircuit } from '../testing/memory-circuit.ts';
import { AccessListener } from './access-listener.ts';
import { AccessRegistry } from './access-registry.ts';

const HOST = '127.0.0.1';

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'access-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** The host of a share gives back what it reads, and ends after its client. */
function dialEcho(): Promise<Circuit> {
  const { caller, host } = memoryCircuit();
  host.onData = (view) => void host.write(Buffer.concat([Buffer.from('echo '), view]));
  host.onEnd = () => host.end();
  host.resume();
  return Promise.resolve(caller);
}

function openRegistry(t: TestContext, path: string, dial = dialEcho): AccessRegistry {
  const registry = new AccessRegistry({ path, dial, log: silentLog, retryMs: 10 });
  t.after(() => registry.close());
  return registry;
}

async function clientOf(t: TestContext, listen: string): Promise<Socket> {
  const socket = connect({ ...readHostPort(listen)!, allowHalfOpen: true });
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

async function takenPort(t: TestContext): Promise<{ readonly port: number; free(): Promise<void> }> {
  const server = createServer().listen(0, HOST);
  t.after(() => server.close());
  await once(server, 'listening');
  const free = async (): Promise<void> => void (await once(server.close(), 'close'));
  return { port: (server.address() as AddressInfo).port, free };
}

async function textOf(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

async function assertReset(t: TestContext, listen: string): Promise<void> {
  await assert.rejects(async () => textOf(await clientOf(t, listen)), { code: 'ECONNRESET' });
}

test('a connection reaches the share with a half-close, and the next run has the same address', async (t) => {
  const path = join(folder(t), 'accesses.json');
  const first = openRegistry(t, path);
  const view = await first.open({ share: 'app', protocol: 'tcp', host: HOST, port: 0 });
  assert.deepEqual([view.share, view.isOpen, view.problem], ['app', true, null]);
  const client = await clientOf(t, view.listen);
  client.end('question');
  assert.equal(await textOf(client), 'echo question');
  assert.equal(
    (await first.open({ share: 'app', protocol: 'tcp', host: HOST, port: 0 })).listen,
    view.listen,
  );
  assert.equal(statSync(path).mode & 0o777, 0o600);
  first.close();

  const second = openRegistry(t, path);
  await second.restore();
  assert.deepEqual(second.views(), [view]);
  const again = await clientOf(t, view.listen);
  again.end('again');
  assert.equal(await textOf(again), 'echo again');
  assert.equal(second.end('app').listen, view.listen);
  assert.throws(() => second.end('app'), { code: 'access-unknown' });
  assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')).accesses, []);
});

test('an access for datagrams has its protocol in the next run, too, and moves to connections', async (t) => {
  const path = join(folder(t), 'accesses.json');
  const first = openRegistry(t, path);
  const datagrams = { share: 'names', protocol: 'udp', host: HOST, port: 0 } as const;
  const view = await first.open(datagrams);
  assert.deepEqual([view.protocol, view.isOpen, view.problem], ['udp', true, null]);
  assert.equal((await first.open(datagrams)).listen, view.listen);
  first.close();

  const second = openRegistry(t, path);
  await second.restore();
  // The socket of the first one closes later.
  await until(
    'the same access',
    () => second.views()[0]!,
    ({ isOpen }) => isOpen,
  );
  assert.deepEqual(second.views(), [view]);
  const moved = await second.open({ ...datagrams, protocol: 'tcp' });
  assert.equal(moved.protocol, 'tcp');
  const client = await clientOf(t, moved.listen);
  client.end('question');
  assert.equal(await textOf(client), 'echo question');
});

test('a share that cannot be dialed resets connections and reports why, and serves when it can be', async (t) => {
  let isThere = false;
  const registry = openRegistry(t, join(folder(t), 'accesses.json'), async () => {
    if (isThere) return dialEcho();
    throw new FrontdoorError('notFound', 'service-unknown', 'there is no service "app"');
  });
  const view = await registry.open({ share: 'app', protocol: 'tcp', host: HOST, port: 0 });
  assert.deepEqual([view.isOpen, view.problem], [true, 'there is no service "app"']);
  await assertReset(t, view.listen);
  isThere = true;
  const second = await clientOf(t, view.listen);
  second.end('now');
  assert.equal(await textOf(second), 'echo now');
  assert.equal(registry.views()[0]!.problem, null);
});

test('a taken port is refused to a command, and awaited after a start', async (t) => {
  const path = join(folder(t), 'accesses.json');
  const { port, free } = await takenPort(t);
  const registry = openRegistry(t, path);
  await assert.rejects(registry.open({ share: 'app', protocol: 'tcp', host: HOST, port }), {
    code: 'port-taken',
    message: `${HOST}:${port} is taken; choose another with --listen`,
  });
  assert.deepEqual(registry.views(), []);
  await registry.configure([{ share: 'app', protocol: 'tcp', host: HOST, port }]);
  assert.deepEqual(
    registry.views().map(({ isOpen, problem }) => [isOpen, problem?.includes('is taken')]),
    [[false, true]],
  );
  await free();
  await until(
    'an open access',
    () => registry.views()[0]!,
    ({ isOpen, problem }) => isOpen && problem === null,
  );
  // An access that the configuration file no longer has ends; the file of commands never had it.
  await registry.configure([]);
  assert.deepEqual(registry.views(), []);
});

test('the end of an access breaks its connections; a drain waits for them', async (t) => {
  const registry = openRegistry(t, join(folder(t), 'accesses.json'));
  const { listen } = await registry.open({ share: 'app', protocol: 'tcp', host: HOST, port: 0 });
  const client = await clientOf(t, listen);
  client.write('x');
  await once(client, 'data');
  assert.equal(registry.views()[0]!.connections, 1);
  let isDrained = false;
  const drained = registry.drain(60_000, new AbortController().signal).then(() => (isDrained = true));
  await assert.rejects(clientOf(t, listen), { code: 'ECONNREFUSED' });
  client.write('y');
  await once(client, 'data');
  assert.equal(isDrained, false);
  client.end();
  await drained;

  const other = openRegistry(t, join(folder(t), 'accesses.json'));
  const held = await clientOf(
    t,
    (await other.open({ share: 'app', protocol: 'tcp', host: HOST, port: 0 })).listen,
  );
  held.write('x');
  await once(held, 'data');
  const broken = assert.rejects(textOf(held), { code: 'ECONNRESET' });
  other.end('app');
  await broken;
});

test('connections over the limit are reset, also those that wait for a circuit', async (t) => {
  const waiting: ((circuit: Circuit) => void)[] = [];
  const listener = await AccessListener.open({
    share: 'app',
    host: HOST,
    port: 0,
    dial: () => new Promise((resolve) => waiting.push(resolve)),
    log: silentLog,
    maxConnections: 1,
  });
  t.after(() => listener.close('the test ended'));
  const first = await clientOf(t, listener.address);
  await until(
    'a dial',
    () => waiting.length,
    (count) => count === 1,
  );
  await assertReset(t, listener.address);
  // A client that gave up before its circuit came costs nothing.
  first.resetAndDestroy();
  const { caller, host } = memoryCircuit();
  const closed = new Promise((resolve) => (host.onClose = resolve));
  await until(
    'the end of the connection',
    () => first.closed,
    (isClosed) => isClosed,
  );
  waiting[0]!(caller);
  await closed;
  assert.equal(listener.connections, 0);
});
