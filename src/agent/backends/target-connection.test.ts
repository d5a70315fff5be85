import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { ManualClock } from '#base';
import { parseAllowedNetwork, type AllowedNetwork } from '#domain';
import { DEFAULT_TARGET_TLS } from '#domain/upstream';
import type { HostLookup } from '#net/names';
import { within } from '../../../test/support/deadline.ts';
import { freePort } from '../../../test/support/free-port.ts';
import { closerOf } from '../../../test/support/server-sockets.ts';
import { parseTarget, type TargetAddress } from '../target-address.ts';
import {
  connectTarget,
  resolveTarget,
  TargetFailure,
  type TargetConnection,
  type TargetConnectOptions,
} from './target-connection.ts';
import { TargetResolver } from './target-resolver.ts';

const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

function targetOf(text: string): TargetAddress {
  const parsed = parseTarget(text);
  assert.ok('target' in parsed && 'host' in parsed.target);
  return parsed.target;
}

function allow(text: string): AllowedNetwork[] {
  const parsed = parseAllowedNetwork('--allow-target', text);
  assert.ok('allowed' in parsed);
  return [parsed.allowed];
}

function dial(target: string, options: Partial<TargetConnectOptions> = {}): Promise<TargetConnection> {
  return new Promise((resolve, reject) => {
    connectTarget(
      { target: targetOf(target), resolver: new TargetResolver(), timeoutMs: 30_000, ...options },
      (connection) => {
        cleanups.push(() => connection.abort());
        resolve(connection);
      },
      reject,
    );
  });
}

async function listen(server: Pick<Server, 'listen' | 'address' | 'close' | 'on'>): Promise<number> {
  cleanups.push(closerOf(server));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const failsWith = (code: string, message: RegExp) => (error: unknown) =>
  error instanceof TargetFailure && error.code === code && message.test(error.message);

test(
  'a closed port, an unknown name and a service that never shakes hands fail with their reason',
  { timeout: 60_000 },
  async () => {
    await assert.rejects(
      dial(`http://127.0.0.1:${await freePort()}`),
      failsWith('refused', /connection refused/),
    );
    for (const scheme of ['http', 'https', 'tcp'])
      await assert.rejects(
        dial(`${scheme}://no-such-host.invalid:80`),
        failsWith('unresolved', /^the name no-such-host\.invalid does not resolve \(E/),
      );
    const silent = await listen(createServer((socket) => void socket.on('error', () => {})));
    await assert.rejects(
      dial(`https://127.0.0.1:${silent}`, { timeoutMs: 100 }),
      failsWith('timeout', /within 100 ms/),
    );
  },
);

test(
  'an https target is verified: the right authority passes, any other fails',
  { timeout: 60_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'target-tls-'));
    cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const args = [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '2',
    ];
    execFileSync(
      'openssl',
      [...args, '-subj', '/CN=t', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', cert],
      { stdio: 'ignore' },
    );
    const pem = readFileSync(cert, 'utf8');
    const https = createHttpsServer({ key: readFileSync(key), cert: pem }, (_request, response) =>
      response.end('over TLS'),
    );
    cleanups.push(() => https.closeAllConnections());
    https.on('tlsClientError', () => {});
    const port = await listen(https);
    const connection = await dial(`https://127.0.0.1:${port}`, {
      tls: { ...DEFAULT_TARGET_TLS, tlsCa: pem },
    });
    const chunks: Uint8Array[] = [];
    connection.onData = (view) => {
      chunks.push(view);
      return true;
    };
    const ended = new Promise<void>((resolve) => (connection.onEnd = resolve));
    connection.write(Buffer.from('GET / HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n'));
    await ended;
    assert.match(Buffer.concat(chunks).toString(), /over TLS/);
    await assert.rejects(dial(`https://127.0.0.1:${port}`), failsWith('tls', /TLS to https/));
  },
);

test(
  'a name is resolved once and only an allowed address of it is connected to',
  { timeout: 60_000 },
  async () => {
    let connections = 0;
    const connected = Promise.withResolvers<void>();
    const port = await listen(
      createServer((socket) => {
        connections += 1;
        connected.resolve();
        socket.on('error', () => {});
      }),
    );
    const lookups: string[] = [];
    const lookup: HostLookup = (host, _options, callback) => {
      lookups.push(host);
      setImmediate(callback, null, [
        { address: '169.254.169.254', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ]);
    };
    const clock = new ManualClock();
    const resolver = new TargetResolver(lookup, clock);
    await dial(`http://app.test:${port}`, { resolver, only: allow('127.0.0.0/8:*') });
    await within('the connection', connected.promise);
    assert.equal(connections, 1);
    await assert.rejects(
      dial(`http://app.test:${port}`, { resolver, only: allow('10.0.0.0/8:*') }),
      failsWith('not-allowed', /--allow-target/),
    );
    assert.deepEqual(lookups, ['app.test']);
    clock.advance(6_000);
    await dial(`http://app.test:${port}`, { resolver, only: allow('127.0.0.1:*') });
    assert.equal(lookups.length, 2);
  },
);

test('an address that does not answer is no longer the first to be tried', { timeout: 60_000 }, async () => {
  const port = await listen(createServer((socket) => void socket.on('error', () => {})));
  const [dead, good] = ['127.0.0.9', '127.0.0.1'].map((address) => ({ address, family: 4 }));
  const resolver = new TargetResolver((_host, _options, done) => setImmediate(done, null, [dead!, good!]));
  const orderOf = (target: string): Promise<readonly string[]> =>
    new Promise((resolve) => {
      resolveTarget({ target: targetOf(target), resolver }, (_error, addresses) =>
        resolve(addresses.map(({ address }) => address)),
      );
    });
  await dial(`http://app.test:${port}`, { resolver });
  assert.deepEqual(await orderOf(`http://app.test:${port}`), ['127.0.0.1', '127.0.0.9']);
  assert.deepEqual(await orderOf('http://app.test:1'), ['127.0.0.9', '127.0.0.1']);
});

test('a resolver that hangs is asked once for a name, however many wait', { timeout: 60_000 }, async () => {
  let lookups = 0;
  const resolver = new TargetResolver(() => (lookups += 1));
  const waiting = Array.from({ length: 20 }, () => dial('http://app.test:80', { resolver, timeoutMs: 50 }));
  await Promise.all(waiting.map((each) => assert.rejects(each, failsWith('timeout', /within 50 ms/))));
  assert.equal(lookups, 1);
});

test(
  'breaking off while the end is on its way still closes the connection',
  { timeout: 60_000 },
  async () => {
    const gone = Promise.withResolvers<void>();
    const port = await listen(
      createServer({ allowHalfOpen: true }, (socket) => {
        socket.on('error', () => {});
        socket.on('close', () => gone.resolve());
        socket.on('end', () => socket.end());
        socket.resume();
      }),
    );
    const connection = await dial(`http://127.0.0.1:${port}`);
    const closed = new Promise<unknown>((resolve) => (connection.onClose = resolve));
    connection.end();
    process.nextTick(() => connection.abort());
    await closed;
    await gone.promise;
  },
);

test('localhost works whichever family the service listens on', { timeout: 60_000 }, async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end('hi');
  });
  const port = await listen(server);
  const connection = await dial(`http://localhost:${port}`);
  const text = await new Promise<string>((resolve) => {
    connection.onData = (view) => {
      resolve(Buffer.from(view).toString());
      return true;
    };
  });
  assert.equal(text, 'hi');
});

test('a paused writer is resumed, whether the connection filled in one tick or in many', async () => {
  let total = 0;
  const server = createServer((socket) => {
    socket.on('data', (chunk) => (total += chunk.length));
    socket.on('end', () => socket.end());
    socket.on('error', () => {});
  });
  const port = await listen(server);
  const connection = await dial(`http://127.0.0.1:${port}`);
  const closed = new Promise<void>((resolve) => (connection.onClose = () => resolve()));
  const piece = Buffer.alloc(50_000, 'x');
  for (let round = 0; round < 40; round += 1) {
    const drained = new Promise<void>((resolve) => (connection.onDrain = resolve));
    while (connection.write(piece)) {
      if (round % 2 === 1) await new Promise<void>((resolve) => process.nextTick(resolve));
    }
    await within('room', drained);
  }
  connection.end();
  connection.resume();
  await within('the end', closed);
  assert.equal(total % piece.length, 0);
  assert.ok(total >= 40 * piece.length);
});
