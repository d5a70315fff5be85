import assert from 'node:assert/strict';
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { after, before, test, type TestContext } from 'node:test';
import * as tls from 'node:tls';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { FrontdoorError, Secret, silentLog, systemClock, type Log } from '#base';
import { TlsPorts } from '#net';
import {
  makeTestAuthority,
  type TestAuthority,
  type TestIdentity,
} from '../../../test/support/certificates.ts';
import { until, within } from '../../../test/support/deadline.ts';
import {
  HEALTH_CHECK_DEFAULTS,
  METRICS_DEFAULTS,
  WEB_OPTION_DEFAULTS,
} from '../config/testing/router-config-defaults.ts';
import type { WebBindPointConfig, WebServerConfig } from '../config/router-config.ts';
import { HealthChecks } from '../health/health-checks.ts';
import { MetricRegistry } from '../metrics/metric-registry.ts';
import { writeRouterMetrics } from '../metrics/prometheus-text.ts';
import { WebServers } from './web-servers.ts';

let authority: TestAuthority;
let identity: TestIdentity;

before(async () => {
  authority = await makeTestAuthority();
  identity = await authority.issue('r1');
});

interface Change {
  readonly options?: Partial<WebServerConfig['options']>;
  readonly point?: Partial<WebBindPointConfig>;
  readonly server?: Partial<WebServerConfig>;
  readonly ports?: TlsPorts;
  readonly own?: TestIdentity;
  readonly log?: Log;
  readonly maxConnections?: number;
}

async function open(t: TestContext, change: Change = {}) {
  const log = change.log ?? silentLog;
  const registry = new MetricRegistry({ ...METRICS_DEFAULTS, clock: systemClock, log });
  const health = new HealthChecks({
    config: HEALTH_CHECK_DEFAULTS,
    controllers: () => [],
    links: () => [],
    clock: systemClock,
    log,
  });
  const ports = change.ports ?? new TlsPorts({ log });
  t.after(async () => {
    health.close();
    registry.close();
    await ports.close();
  });
  const web = await WebServers.open({
    placeOf: (path) => path,
    servers: [
      {
        path: 'web[0]',
        name: 'health',
        bindPoints: [
          {
            path: 'web[0].bindPoints[0]',
            host: '127.0.0.1',
            port: 0,
            address: 'localhost:8081',
            newAddress: undefined,
            ...change.point,
          },
        ],
        identity: undefined,
        options: { ...WEB_OPTION_DEFAULTS, ...change.options },
        apis: ['health-checks'],
        ...change.server,
      },
    ],
    ports,
    tls: { default: identity, alternates: [] },
    loadTls: () => ({ default: change.own ?? identity, alternates: [] }),
    handshakeTimeoutMs: 5_000,
    health,
    writeMetrics: (to) => writeRouterMetrics(to, 'r1', registry.read()),
    log,
    maxConnections: change.maxConnections,
  });
  t.after(() => web.close(0));
  return { web, ports, registry, health, port: web.ports[0]! };
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

async function ask(port: number, path = '/health-checks', options: RequestOptions = {}): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const request = httpsRequest(
    {
      host: '127.0.0.1',
      port,
      path,
      ca: authority.ca,
      agent: false,
      servername: 'localhost',
      ...options,
    },
    (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => void chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    },
  );
  request.on('error', reject);
  request.end();
  return within('an answer', promise);
}

function openHttp2(t: TestContext, port: number, settings = {}): ClientHttp2Session {
  const session = connectHttp2(`https://127.0.0.1:${port}`, {
    ca: authority.ca,
    servername: 'localhost',
    settings,
  });
  session.on('error', () => {});
  t.after(() => session.destroy());
  return session;
}

async function askHttp2(session: ClientHttp2Session, headers: Record<string, string>): Promise<Answer> {
  const stream = session.request(headers);
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  let answered: Record<string, unknown> = {};
  const chunks: Buffer[] = [];
  stream.on('response', (received) => (answered = received));
  stream.on('data', (chunk: Buffer) => void chunks.push(chunk));
  stream.on('end', () =>
    resolve({
      status: Number(answered[':status']),
      headers: answered as Answer['headers'],
      body: Buffer.concat(chunks),
    }),
  );
  stream.on('error', reject);
  return within('an answer', promise);
}

/** A connection with handwritten HTTP/1.1. Resolves when the server ends it. */
function openRaw(t: TestContext, port: number, options: tls.ConnectionOptions = {}) {
  const socket = tls.connect({
    host: '127.0.0.1',
    port,
    ca: authority.ca,
    servername: 'localhost',
    ALPNProtocols: ['http/1.1'],
    ...options,
  });
  t.after(() => socket.destroy());
  const closed = Promise.withResolvers<void>();
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  socket.on('error', () => {});
  socket.on('close', () => closed.resolve());
  return { socket, closed: closed.promise, text: () => text };
}

test('every path and every method answers with the health checks and status 200, whether they pass or not', async (t) => {
  const { port, health } = await open(t);
  assert.equal(health.health().isHealthy, false);
  for (const [path, method] of [
    ['/health-checks', 'GET'],
    ['/', 'GET'],
    ['/any/thing?x=1', 'DELETE'],
    ['/health-checks', 'POST'],
    ['/metrics', 'PUT'],
  ] as const) {
    const { status, headers, body } = await ask(port, path, { method });
    assert.deepEqual([status, headers['content-type']], [200, 'application/json'], `${method} ${path}`);
    const document = JSON.parse(body.toString()) as { data: { healthy: boolean; checks: unknown[] } };
    assert.deepEqual([document.data.healthy, document.data.checks.length], [false, 2]);
    assert.ok(body.toString().startsWith('{\n    "data": {') && body.toString().endsWith('}\n'));
  }
  const head = await ask(port, '/', { method: 'HEAD' });
  assert.deepEqual([head.status, head.body.length], [200, 0]);
});

test('?type=short leaves names and verdicts', async (t) => {
  const { port } = await open(t);
  const { body } = await ask(port, '/health-checks?type=short');
  assert.deepEqual(JSON.parse(body.toString()), {
    data: {
      checks: [
        { healthy: false, id: 'controllerPing' },
        { healthy: true, id: 'link.health' },
      ],
      healthy: false,
    },
    meta: {},
  });
});

test('HTTP/2 and HTTP/1.1 are spoken on one port, and a client that names no protocol gets HTTP/1.1', async (t) => {
  const { port } = await open(t);
  const session = openHttp2(t, port);
  const answers = await Promise.all(
    [
      { ':path': '/health-checks' },
      { ':path': '/x', ':method': 'POST' },
      { ':path': '/', ':method': 'HEAD' },
    ].map((headers) => askHttp2(session, headers)),
  );
  assert.equal(session.alpnProtocol, 'h2');
  assert.deepEqual(
    answers.map(({ status, body }) => [status, body.length > 0]),
    [
      [200, true],
      [200, true],
      [200, false],
    ],
  );
  const both = openRaw(t, port, { ALPNProtocols: ['h2', 'http/1.1'] });
  await within('a handshake', new Promise((resolve) => both.socket.once('secureConnect', resolve)));
  assert.equal(both.socket.alpnProtocol, 'h2');
  const none = openRaw(t, port, { ALPNProtocols: [] });
  none.socket.write('GET /health-checks HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  await within('the end', none.closed);
  assert.match(none.text(), /^HTTP\/1\.1 200 OK\r\n/);
});

test('/metrics is the registry in Prometheus’ format, over both versions', async (t) => {
  const { port, registry } = await open(t);
  registry.meter('edge.connect.failures').mark(3);
  const { headers, body } = await ask(port, '/metrics');
  assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
  assert.match(body.toString(), /^ziti_edge_connect_failures_total\{source_id="r1"\} 3$/m);
  const http2 = await askHttp2(openHttp2(t, port), { ':path': '/metrics' });
  assert.match(http2.body.toString(), /ziti_edge_connect_failures_total/);
});

test('an answer is compressed as the client asks', async (t) => {
  const { port } = await open(t);
  for (const [asked, given, decode] of [
    ['gzip', 'gzip', gunzipSync],
    ['br', 'br', brotliDecompressSync],
    ['deflate', 'deflate', inflateSync],
    ['gzip;q=0, br;q=0.5', 'br', brotliDecompressSync],
    ['identity', undefined, (body: Buffer) => body],
    ['zstd', undefined, (body: Buffer) => body],
  ] as const) {
    const { headers, body } = await ask(port, '/', { headers: { 'accept-encoding': asked } });
    assert.deepEqual([headers['content-encoding'], headers['vary']], [given, 'accept-encoding'], asked);
    assert.equal(Number(headers['content-length']), body.length);
    assert.ok(decode(body).toString().includes('controllerPing'));
  }
  const http2 = await askHttp2(openHttp2(t, port), { ':path': '/', 'accept-encoding': 'gzip' });
  assert.ok(gunzipSync(http2.body).toString().includes('controllerPing'));
});

test('bindPoints[].newAddress: it is announced in every answer', async (t) => {
  const { port } = await open(t, { point: { newAddress: 'router.example:8443' } });
  for (const path of ['/health-checks', '/metrics', '/x']) {
    assert.equal((await ask(port, path)).headers['ziti-ctrl-address'], 'https://router.example:8443');
  }
  const { headers } = await askHttp2(openHttp2(t, port), { ':path': '/' });
  assert.equal(headers['ziti-ctrl-address'], 'https://router.example:8443');
  const { port: other } = await open(t);
  assert.equal((await ask(other)).headers['ziti-ctrl-address'], undefined);
});

test('bindPoints[].address: one that no certificate is made out to gets a warning, and is served', async (t) => {
  for (const [address, warnings] of [
    ['localhost:8081', 0],
    ['127.0.0.1:8081', 0],
    ['router.example:8081', 1],
    ['[::1]:8081', 1],
  ] as const) {
    const seen: unknown[] = [];
    const log: Log = { ...silentLog, warn: (fields) => void seen.push(fields['address']) };
    const { port } = await open(t, { point: { address }, log });
    assert.deepEqual(seen, warnings === 0 ? [] : [address]);
    assert.equal((await ask(port)).status, 200);
  }
});

test('bindPoints[].interface: a port that is taken refuses the start', async (t) => {
  const { port } = await open(t);
  await assert.rejects(open(t, { point: { port } }), {
    code: 'port-taken',
    message: `web[0].bindPoints[0].interface: 127.0.0.1:${port} is taken`,
  });
});

test('identity: a server shows its own certificate, or else the router’s', async (t) => {
  const own = await authority.issue('web');
  for (const [server, expected] of [
    [{}, 'r1'],
    [
      {
        identity: {
          cert: '',
          key: new Secret(''),
          ca: '',
          serverCert: '',
          serverKey: new Secret(''),
          alternates: [],
        },
      },
      'web',
    ],
  ] as const) {
    const { port } = await open(t, { own, server });
    const { socket } = openRaw(t, port);
    await within('a handshake', new Promise((resolve) => socket.once('secureConnect', resolve)));
    assert.equal(socket.getPeerCertificate().subject.CN, expected);
  }
});

test('a client certificate is requested and not required, of any authority', async (t) => {
  const { port } = await open(t);
  const stranger = await (await makeTestAuthority('other CA')).issue('stranger');
  assert.equal((await ask(port)).status, 200);
  assert.equal((await ask(port, '/', { cert: stranger.cert, key: stranger.key })).status, 200);
});

test('minTLSVersion and maxTLSVersion: what clients get, and which are refused', async (t) => {
  const versions = async (port: number, options: tls.ConnectionOptions): Promise<string | null> => {
    const { socket, closed } = openRaw(t, port, options);
    const secure = new Promise<string | null>((resolve) =>
      socket.once('secureConnect', () => resolve(socket.getProtocol())),
    );
    return within('a handshake or its end', Promise.race([secure, closed.then(() => null)]));
  };
  const { port: usual } = await open(t);
  assert.equal(await versions(usual, {}), 'TLSv1.3');
  assert.equal(await versions(usual, { maxVersion: 'TLSv1.2' }), 'TLSv1.2');
  const { port: new3 } = await open(t, { options: { minTlsVersion: 'TLSv1.3' } });
  assert.equal(await versions(new3, { maxVersion: 'TLSv1.2' }), null);
  const { port: old2 } = await open(t, { options: { maxTlsVersion: 'TLSv1.2' } });
  assert.equal(await versions(old2, {}), 'TLSv1.2');
  const { port: old1 } = await open(t, { options: { minTlsVersion: 'TLSv1' } });
  const tls10 = { minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  assert.equal(await versions(usual, tls10), null);
  assert.equal(await versions(old1, tls10), 'TLSv1');
});

test('apis: any but health-checks is refused', async (t) => {
  for (const apis of [['fabric'], ['health-checks', 'edge-client'], []]) {
    await assert.rejects(
      open(t, { server: { apis } }),
      (error: unknown) => error instanceof FrontdoorError && error.code === 'unknown-api',
    );
  }
});

test('name: a server that shares its port with another listener of HTTP is refused by its name', async (t) => {
  const ports = new TlsPorts({ log: silentLog });
  const shared = await ports.open({
    host: '127.0.0.1',
    port: 0,
    tls: { default: identity, alternates: [] },
    handshakeTimeoutMs: 5_000,
  });
  const point = { host: '127.0.0.1', port: shared.port, path: 'web[0].bindPoints[0]' };
  const same = { open: () => Promise.resolve(shared), close: () => shared.close() } as unknown as TlsPorts;
  const release = shared.handle([''], () => {}, { name: 'listeners[0]' });
  await assert.rejects(open(t, { ports: same, point, server: { name: 'health' } }), (error: unknown) => {
    assert.ok(error instanceof FrontdoorError);
    assert.match(error.message, /web\[0\]\.bindPoints\[0\] \(health\) and listeners\[0\]/);
    return true;
  });
  release();
});

test('a port is shared with a listener of links', async (t) => {
  const shared = await new TlsPorts({ log: silentLog }).open({
    host: '127.0.0.1',
    port: 0,
    tls: { default: identity, alternates: [] },
    handshakeTimeoutMs: 5_000,
  });
  const links: tls.TLSSocket[] = [];
  shared.handle(['ziti-link'], (socket) => void links.push(socket), { name: 'link.listeners[0]' });
  const same = { open: () => Promise.resolve(shared), close: () => shared.close() } as unknown as TlsPorts;
  await open(t, { ports: same });
  assert.equal((await ask(shared.port)).status, 200);
  const { socket } = openRaw(t, shared.port, { ALPNProtocols: ['ziti-link'] });
  await until(
    'a link',
    () => links.length,
    (count) => count === 1,
  );
  socket.destroy();
  for (const link of links) link.destroy();
});

test('readTimeout: a request that does not come whole in time ends its connection', async (t) => {
  const { port } = await open(t, { options: { readTimeoutMs: 200, idleTimeoutMs: 60_000 } });
  const silent = openRaw(t, port);
  const halfHead = openRaw(t, port);
  halfHead.socket.write('GET / HTTP/1.1\r\nHost: x\r\n');
  const halfBody = openRaw(t, port);
  halfBody.socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc');
  const http2 = openHttp2(t, port);
  const stream = http2.request({ ':method': 'POST', ':path': '/' });
  stream.on('error', () => {});
  stream.resume();
  const streamClosed = new Promise((resolve) => stream.once('close', resolve));
  await within('the silent one ends', silent.closed);
  await within('half a head ends', halfHead.closed);
  await within('half a body ends', halfBody.closed);
  await within('half a body ends over HTTP/2', streamClosed);
});

test('writeTimeout: a client that does not take its answer in time loses its connection', async (t) => {
  const { port } = await open(t, { options: { writeTimeoutMs: 300, readTimeoutMs: 60_000 } });
  const { socket, closed } = openRaw(t, port);
  socket.pause();
  // The responses to all of these exceed the kernel's buffers for a reader.
  const write = (): void => {
    for (let i = 0; i < 200; i += 1) socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100));
  };
  socket.once('secureConnect', write);
  const http2 = openHttp2(t, port, { initialWindowSize: 0 });
  const stream = http2.request({ ':path': '/' });
  stream.on('error', () => {});
  await within('HTTP/2 ends', new Promise((resolve) => http2.once('close', resolve)));
  // A paused reader does not notice the end, but continued writing does.
  const nudge = setInterval(() => socket.write('\r\n'), 100);
  await within('HTTP/1.1 ends', closed).finally(() => clearInterval(nudge));
});

test('idleTimeout: between requests a connection stays so long', async (t) => {
  const { port } = await open(t, { options: { idleTimeoutMs: 1_500, readTimeoutMs: 60_000 } });
  // A pause of the machine between the two requests can exceed the time limit, so this is repeated once.
  await until(
    'two answers over one connection of HTTP/1.1, which then ends',
    async () => {
      const { socket, closed, text } = openRaw(t, port);
      const answers = (): number => text().split('HTTP/1.1 200').length - 1;
      for (let asked = 1; asked <= 2; asked += 1) {
        socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
        await until('an answer', () => answers() === asked || socket.destroyed, Boolean);
      }
      await within('HTTP/1.1 ends', closed);
      return answers();
    },
    (count) => count === 2,
  );
  await until(
    'two answers over one connection of HTTP/2, which then ends',
    async () => {
      const http2 = openHttp2(t, port);
      const closed = new Promise((resolve) => http2.once('close', resolve));
      const statuses = [];
      for (let asked = 0; asked < 2; asked += 1)
        statuses.push((await askHttp2(http2, { ':path': '/' })).status);
      await within('HTTP/2 ends', closed);
      return statuses.join();
    },
    (statuses) => statuses === '200,200',
  );
});

test('closing ends idle connections at once and cuts the rest after the grace', async (t) => {
  const { web, port } = await open(t, { options: { idleTimeoutMs: 60_000, readTimeoutMs: 60_000 } });
  const http2 = openHttp2(t, port);
  assert.equal((await askHttp2(http2, { ':path': '/' })).status, 200);
  const half = openRaw(t, port);
  half.socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc');
  await until('an answer', half.text, (text) => text.includes('200 OK'));
  await within('closed', web.close(100));
  await within('the half one is cut', half.closed);
});

test('nobody can pile up streams: a client that resets them as fast as it can loses its connection', async (t) => {
  const { port } = await open(t);
  const http2 = openHttp2(t, port);
  const closed = new Promise((resolve) => http2.once('close', resolve));
  await within('a session', new Promise((resolve) => http2.once('remoteSettings', resolve)));
  assert.equal(http2.remoteSettings.maxConcurrentStreams, 100);
  const flood = setInterval(() => {
    for (let i = 0; i < 200 && !http2.destroyed; i += 1) {
      const stream = http2.request({ ':path': '/' }, { endStream: false });
      stream.on('error', () => {});
      stream.close(8);
    }
  }, 5);
  after(() => clearInterval(flood));
  await within('the connection ends', closed).finally(() => clearInterval(flood));
  assert.equal((await ask(port)).status, 200);
});

test('connections beyond the bound are closed with one warning, and the others continue', async (t) => {
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (_fields, message) => void warnings.push(message) };
  const { port } = await open(t, { maxConnections: 2, log, options: { idleTimeoutMs: 600_000 } });
  const first = openHttp2(t, port);
  const second = openHttp2(t, port);
  for (const session of [first, second])
    assert.equal((await askHttp2(session, { ':path': '/' })).status, 200);
  for (let i = 0; i < 3; i += 1) await within('the third ends', openRaw(t, port).closed);
  assert.deepEqual(warnings, ['too many web connections']);
  assert.equal((await askHttp2(first, { ':path': '/' })).status, 200);
  second.destroy();
  await until(
    'room again',
    () => ask(port).then(({ status }) => status),
    (status) => status === 200,
  );
});

test('bytes that are no HTTP end their own connection', async (t) => {
  const { port } = await open(t, { options: { idleTimeoutMs: 600_000 } });
  const http2 = openHttp2(t, port);
  const garbage = Buffer.alloc(4_096, 0xa5);
  for (const ALPNProtocols of [['h2'], ['http/1.1']]) {
    const { socket, closed } = openRaw(t, port, { ALPNProtocols });
    socket.write(garbage);
    await within('the connection ends', closed);
  }
  const longHead = openRaw(t, port);
  longHead.socket.write(`GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`);
  await within('the connection ends', longHead.closed);
  assert.equal((await askHttp2(http2, { ':path': '/' })).status, 200);
});
