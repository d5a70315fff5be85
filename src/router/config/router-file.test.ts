// The configuration that a valid file results in, key by key.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { FrontdoorError, Secret } from '#base';
import type { RouterConfig } from './router-config.ts';
import {
  CHANNEL_DEFAULTS,
  FORWARDER_DEFAULTS,
  HEALTHY_BACKOFF_DEFAULTS,
  UNHEALTHY_BACKOFF_DEFAULTS,
} from './testing/router-config-defaults.ts';
import { loadRouterConfig, loadRunnableRouterConfig, parseRouterConfig } from './router-file.ts';
import { routerConfigFixture } from '../testing/router-config-fixture.ts';
import { fileWith, INTERFACES, read, summaryOf, WHOLE_FILE } from './testing/router-file-fixture.ts';

const directory = mkdtempSync(join(tmpdir(), 'router-file-'));
after(() => rmSync(directory, { recursive: true }));

const SMALLEST = `
v: 3
ctrl: { endpoint: "tls:ctrl.example:6262" }
identity: { cert: cert.pem, key: key.pem, ca: ca.pem }
`;

function configOf(text: string, environment: Record<string, string> = {}): RouterConfig {
  const { config, problems } = read(text, environment);
  assert.deepEqual(summaryOf(problems.filter(({ severity }) => severity === 'error')), []);
  return config!;
}

const withValue = (field: string, yaml: string | undefined): RouterConfig => configOf(fileWith(field, yaml));

test('v, ctrl and identity alone make a router with every default, and no role', () => {
  const expected = routerConfigFixture('/etc/router');
  const config = configOf(SMALLEST);
  assert.deepEqual(config, {
    ...expected,
    identity: { ...expected.identity, cert: 'cert.pem', key: new Secret('key.pem'), ca: 'ca.pem' },
    ctrl: { ...expected.ctrl, endpoints: [{ type: 'tls', host: 'ctrl.example', port: 6262 }] },
    warnings: config.warnings,
    placeOf: config.placeOf,
  });
  assert.deepEqual(summaryOf(config.warnings), ['warning csr csr']);
  assert.match(config.placeOf('identity'), /^\/.*router\.yml:4: identity$/);
  assert.match(config.placeOf('ctrl', 'endpoints', 'endpoint'), /router\.yml:3: ctrl\.endpoint$/);
  assert.match(config.placeOf('ctrl', 'endpoints'), /router\.yml:3: ctrl$/);
});

test('ctrl: endpoints, interface, timeouts, options and heartbeats', () => {
  const { ctrl } = withValue(
    'ctrl',
    `{ endpoints: ["tls:one.example:6262", "tls:[2001:db8::1]:6263"], bind: eth7, defaultRequestTimeout: 7s,
       startupTimeout: 9s, endpointsFile: some/endpoints.yml,
       options: { outQueueSize: 8, maxQueuedConnects: 2, maxOutstandingConnects: 3, connectTimeout: 1s500ms, writeTimeout: 4s },
       heartbeats: { sendInterval: 2s, checkInterval: 500ms, closeUnresponsiveTimeout: 9s, unresponsiveAfter: 3s },
       listeners: [{ bind: "tls:0.0.0.0:6264", groups: blue }, { bind: "tls:x:1", advertise: "tls:y:2", options: { outQueueSize: 5 } }] }`,
  );
  const { listeners, ...rest } = ctrl;
  assert.deepEqual(rest, {
    endpoints: [
      { type: 'tls', host: 'one.example', port: 6262 },
      { type: 'tls', host: '2001:db8::1', port: 6263 },
    ],
    bind: { name: 'eth7', address: '192.0.2.7' },
    requestTimeoutMs: 7_000,
    startupTimeoutMs: 9_000,
    endpointsFile: resolve('some/endpoints.yml'),
    channel: {
      outQueueSize: 8,
      maxQueuedConnects: 2,
      maxOutstandingConnects: 3,
      connectTimeoutMs: 1_500,
      writeTimeoutMs: 4_000,
    },
    heartbeat: {
      sendIntervalMs: 2_000,
      checkIntervalMs: 500,
      closeUnresponsiveMs: 9_000,
      unresponsiveAfterMs: 3_000,
    },
  });
  assert.deepEqual(
    listeners.map(({ path, advertise, groups, channel }) => [
      path,
      advertise.port,
      groups,
      channel.outQueueSize,
    ]),
    [
      ['ctrl.listeners[0]', 6264, ['blue'], 4],
      ['ctrl.listeners[1]', 2, ['default'], 5],
    ],
  );
});

test('with endpoint and endpoints both given, endpoints is ignored', () => {
  const { ctrl } = withValue('ctrl.endpoints', '["tls:other.example:1", 5]');
  assert.deepEqual(
    ctrl.endpoints.map(({ host }) => host),
    ['ctrl.example'],
  );
});

test('an interface is taken by name or by an address of its own; bindInterface of a link dialer wins over bind', () => {
  assert.deepEqual(withValue('ctrl.bind', 'eth7').ctrl.bind, { name: 'eth7', address: '192.0.2.7' });
  assert.deepEqual(withValue('ctrl.bind', '"fe80::7"').ctrl.bind, { name: 'eth7', address: 'fe80::7' });
  assert.deepEqual(withValue('link.dialers[0].bind', '192.0.2.7').link?.dialers[0]?.bind, {
    name: 'eth7',
    address: '192.0.2.7',
  });
  const both = withValue('link.dialers', '[{ binding: transport, bind: nope, bindInterface: eth7 }]');
  assert.equal(both.link?.dialers[0]?.bind?.name, 'eth7');
});

test('connectTimeout wins over connectTimeoutMs, its older form; startupTimeout of 0 or less is none', () => {
  const timeout = (yaml: string): number => withValue('ctrl.options', yaml).ctrl.channel.connectTimeoutMs;
  assert.equal(timeout('{ connectTimeoutMs: 700 }'), 700);
  assert.equal(timeout('{ connectTimeoutMs: 700, connectTimeout: 2s }'), 2_000);
  assert.equal(withValue('ctrl.startupTimeout', '-1s').ctrl.startupTimeoutMs, undefined);
});

test('durations are whole milliseconds for the router, of which at least 1 is left', () => {
  for (const [text, ms] of [
    ['300us', 1],
    ['1.4ms', 1],
    ['1.6ms', 2],
    ['2.3s', 2_300],
    ['30.5ms', 31],
  ] as const) {
    const { ctrl } = withValue('ctrl.startupTimeout', text);
    assert.equal(ctrl.startupTimeoutMs, ms, text);
  }
  const { ctrl } = withValue('ctrl.options.connectTimeout', '30.5ms');
  assert.equal(ctrl.channel.connectTimeoutMs, 31);
});

test('identity: file URLs become paths, PEM stays, alternates have their keys', () => {
  const { identity } = withValue(
    'identity',
    `{ cert: "file:///etc/a%20b.pem", key: "file:key.pem", server_cert: "pem:-----BEGIN X-----", ca: rel/ca.pem,
       alt_server_certs: [{ server_cert: one.pem }, { server_cert: two.pem, server_key: "file://localhost/two.key" }] }`,
  );
  assert.deepEqual(identity, {
    cert: '/etc/a b.pem',
    key: new Secret('key.pem'),
    serverCert: 'pem:-----BEGIN X-----',
    serverKey: undefined,
    ca: 'rel/ca.pem',
    alternates: [
      { serverCert: 'one.pem', serverKey: undefined },
      { serverCert: 'two.pem', serverKey: new Secret('/two.key') },
    ],
  });
  assert.deepEqual(
    [identity.key.reveal(), identity.alternates[1]?.serverKey?.reveal()],
    ['key.pem', '/two.key'],
  );
  assert.match(withValue('identity.ca', undefined).identity.ca, /^pem:-----BEGIN CERTIFICATE-----/);
});

test('edge: snapshot, intervals, names to enroll with; its csr yields to the root one', () => {
  const { edge, csr } = withValue(
    'edge',
    `{ db: some.db, dbSaveIntervalSeconds: 45, heartbeatIntervalSeconds: 20,
       csr: { country: DE, organizationalUnit: Edge,
              sans: { dns: [a.example], ip: ["::1"], uri: ["https://a/"], email: [a@b] } } }`,
  );
  assert.deepEqual(edge, {
    db: resolve('some.db'),
    dbSaveIntervalMs: 45_000,
    heartbeatIntervalMs: 20_000,
  });
  assert.deepEqual(csr, {
    subject: { country: 'DE', organizationalUnit: 'Edge' },
    hosts: ['a.example', '::1'],
    uris: ['https://a/'],
    emails: ['a@b'],
  });
  assert.equal(withValue('edge.db', undefined).edge?.db, '/etc/router/router.yml.proto.gzip');
  assert.equal(withValue('edge.dbSaveIntervalSeconds', '90s').edge?.dbSaveIntervalMs, 90_000);
  assert.equal(withValue('edge.heartbeatIntervalSeconds', '5').edge?.heartbeatIntervalMs, 60_000);
  assert.deepEqual(withValue('csr', '{ sans: { dns: [root.example] } }').csr?.hosts, ['root.example']);
});

test('link: listeners and dialers with groups, options, backoffs and connections', () => {
  const { link } = withValue(
    'link',
    `{ listeners: [{ binding: transport, bind: "tls:192.0.2.7:6000", advertise: "dtls:r.example:6001", groups: [a, b] },
                   { binding: transport, bind: "tls:0.0.0.0:6002", advertise: "r.example:6002", bindInterface: eth7 },
                   { binding: transport, bind: "tls:0.0.0.0:6003", advertise: "r.example:6003", options: { outQueueSize: 4 } }],
       dialers: [{ binding: transport, split: no, groups: one, options: { outQueueSize: 9 },
                   healthyDialBackoff: { minRetryInterval: 1s, maxRetryInterval: 2s, retryBackoffFactor: 3 },
                   unhealthyDialBackoff: { retryBackoffFactor: 2.5 },
                   maxDefaultConnections: 5, maxAckConnections: 0, startupDelay: 1s }],
       heartbeats: { sendInterval: 3s }, payloadSenderQueueSize: 7, ackSenderQueueSize: 6 }`,
  );
  const listeners = link!.listeners.map(({ path, bind, advertise, localBinding, groups, channel }) => ({
    path,
    bind: bind.port,
    advertise,
    localBinding,
    groups,
    queue: channel.outQueueSize,
  }));
  assert.deepEqual(listeners, [
    {
      path: 'link.listeners[0]',
      bind: 6000,
      advertise: { type: 'dtls', host: 'r.example', port: 6001 },
      localBinding: 'eth7',
      groups: ['a', 'b'],
      queue: 64,
    },
    {
      path: 'link.listeners[1]',
      bind: 6002,
      advertise: { type: 'tls', host: 'r.example', port: 6002 },
      localBinding: 'eth7',
      groups: ['default'],
      queue: 64,
    },
    {
      path: 'link.listeners[2]',
      bind: 6003,
      advertise: { type: 'tls', host: 'r.example', port: 6003 },
      localBinding: '',
      groups: ['default'],
      queue: 64,
    },
  ]);
  assert.deepEqual(link!.dialers, [
    {
      path: 'link.dialers[0]',
      split: false,
      bind: undefined,
      groups: ['one'],
      channel: { ...CHANNEL_DEFAULTS, outQueueSize: 9 },
      healthyBackoff: { minMs: 1_000, maxMs: 2_000, factor: 3 },
      unhealthyBackoff: { ...UNHEALTHY_BACKOFF_DEFAULTS, factor: 2.5 },
      maxDefaultConnections: 5,
      maxAckConnections: 0,
      startupDelayMs: 1_000,
    },
  ]);
  // Only some fields are given. The others then have other defaults than those of links.
  assert.deepEqual(link!.heartbeat, {
    sendIntervalMs: 3_000,
    checkIntervalMs: 1_000,
    closeUnresponsiveMs: 30_000,
  });
  assert.deepEqual([link!.payloadQueueSize, link!.ackQueueSize], [7, 6]);
  const plain = withValue('link.dialers[0].split', undefined).link!;
  assert.equal(plain.dialers[0]?.split, true);
  assert.deepEqual(plain.dialers[0].healthyBackoff, HEALTHY_BACKOFF_DEFAULTS);
  assert.equal(plain.heartbeat.closeUnresponsiveMs, 60_000);
});

test('latencyProbeInterval is the interval of link heartbeats, unless they have their own', () => {
  const probing = { ...WHOLE_FILE, forwarder: { latencyProbeInterval: 1_500 } };
  const sent = (heartbeats: string | undefined, base: unknown): number | undefined =>
    configOf(fileWith('link.heartbeats', heartbeats, base)).link?.heartbeat.sendIntervalMs;
  assert.equal(sent(undefined, probing), 1_500);
  assert.equal(sent('{ checkInterval: 2s }', probing), 1_500);
  assert.equal(sent('{ sendInterval: 3s }', probing), 3_000);
  assert.equal(sent(undefined, { ...WHOLE_FILE, forwarder: { latencyProbeInterval: 0 } }), 10_000);
});

test('listeners: address or bind, advertise beside or inside options, what each binding needs', () => {
  const { listeners } = withValue(
    'listeners',
    `[{ binding: edge, address: "tls:0.0.0.0:3022", bind: 5, advertise: "x:1",
        options: { advertise: "[2001:db8::2]:7", connectTimeout: 3s, mtu: 1000, lookupApiSessionTimeout: 2s } },
      { binding: transport, bind: "tcp:127.0.0.1:7000", advertise: "t.example:7000", options: { txQueueSize: 3, connectTimeout: 2s, maxRttScale: 1 } },
      { binding: proxy, address: "tls:127.0.0.1:7001", service: web }, { binding: tunnel },
      { binding: proxy_udp, address: "udp:127.0.0.1:1", service: dns },
      { binding: transport_udp, bind: "udp6:[::1]:2", advertise: "u.example:2", options: { mtu: 9 } }]`,
  );
  const [edge, transport, proxy, tunnel, ...udp] = listeners;
  assert.ok(edge?.binding === 'edge' && transport?.binding === 'transport' && proxy?.binding === 'proxy');
  assert.deepEqual(edge.address, { type: 'tls', host: '0.0.0.0', port: 3022 });
  assert.deepEqual(edge.advertise, { host: '2001:db8::2', port: 7 });
  assert.deepEqual(
    [
      edge.channel.connectTimeoutMs,
      edge.channel.outQueueSize,
      edge.xgress.mtu,
      edge.lookupApiSessionTimeoutMs,
    ],
    [3_000, 64, 1_000, 2_000],
  );
  assert.deepEqual([transport.address.type, transport.advertise], ['tcp', 't.example:7000']);
  const { txQueueSize, connectTimeoutMs, maxRttScale } = transport.xgress;
  assert.deepEqual([txQueueSize, connectTimeoutMs, maxRttScale], [3, 2_000, 2]);
  assert.deepEqual([proxy.service, proxy.address.port], ['web', 7001]);
  assert.deepEqual([tunnel?.binding, tunnel?.path], ['tunnel', 'listeners[3]']);
  const [proxyUdp, transportUdp] = udp;
  assert.ok(proxyUdp?.binding === 'proxy_udp' && transportUdp?.binding === 'transport_udp');
  assert.deepEqual(proxyUdp.address, { network: 'udp', host: '127.0.0.1', port: 1 });
  assert.equal(proxyUdp.service, 'dns');
  assert.deepEqual(transportUdp.address, { network: 'udp6', host: '::1', port: 2 });
  assert.deepEqual([transportUdp.advertise, transportUdp.xgress.mtu], ['u.example:2', 9]);
});

test('of dialers with one binding the last holds, with its options', () => {
  const { dialers } = withValue(
    'dialers',
    '[{ binding: transport, options: { mtu: 1 } }, { binding: proxy }, { binding: transport, options: { mtu: 2, connectTimeout: 4s } }]',
  );
  assert.deepEqual(
    dialers.map(({ path, binding, xgress }) => [path, binding, xgress.mtu, xgress.connectTimeoutMs]),
    [
      ['dialers[1]', 'proxy', 0, 0],
      ['dialers[2]', 'transport', 2, 4_000],
    ],
  );
});

test('forwarder, checks, figures and files', () => {
  const { forwarder } = withValue(
    'forwarder',
    '{ faultTxInterval: -5, idleTxInterval: 0, rateLimitedWorkerCount: 1, xgressCloseCheckInterval: 0, idleCircuitTimeout: 9999999999 }',
  );
  assert.deepEqual(forwarder, {
    ...FORWARDER_DEFAULTS,
    faultTxIntervalMs: 0,
    idleTxIntervalMs: 0,
    rateLimitedWorkerCount: 1,
    // The longest delay of a timer.
    idleCircuitTimeoutMs: 2 ** 31 - 1,
  });
  assert.deepEqual(withValue('forwarder', '5').forwarder, FORWARDER_DEFAULTS);
  assert.deepEqual(
    withValue(
      'healthChecks',
      '{ ctrlPingCheck: { interval: 2s, timeout: 1s, initialDelay: 0 }, linkCheck: { interval: 3s, minLinks: 2 } }',
    ).healthChecks,
    {
      ctrlPing: { intervalMs: 2_000, timeoutMs: 1_000, initialDelayMs: 0 },
      link: { intervalMs: 3_000, initialDelayMs: 1_000, minLinks: 2 },
    },
  );
  assert.deepEqual(
    withValue('metrics', '{ reportInterval: 5s, intervalAgeThreshold: 0s, messageQueueSize: 0 }').metrics,
    {
      reportIntervalMs: 5_000,
      intervalAgeThresholdMs: 80_000,
      messageQueueSize: 0,
    },
  );
  const { trace, profile } = configOf(JSON.stringify(WHOLE_FILE));
  assert.deepEqual(
    [trace, profile],
    [{ path: 'trace' }, { cpuPath: 'cpu', memory: { path: 'memory', intervalMs: 15_000 } }],
  );
});

test('web servers, the proxy, and what concerns every connection', () => {
  const [server] = withValue(
    'web',
    `[{ name: h, bindPoints: [{ interface: "[::1]:8443", address: "a:1", newAddress: "b:2" }],
        identity: { cert: c, key: k, server_cert: s, ca: a },
        options: { readTimeout: 1s, writeTimeout: 2s, idleTimeout: 3s, minTLSVersion: TLS1.1, maxTLSVersion: TLS1.2 },
        apis: [{ binding: health-checks }] }]`,
  ).web;
  assert.deepEqual(server, {
    path: 'web[0]',
    name: 'h',
    bindPoints: [
      { path: 'web[0].bindPoints[0]', host: '::1', port: 8443, address: 'a:1', newAddress: 'b:2' },
    ],
    identity: {
      cert: 'c',
      key: new Secret('k'),
      serverCert: 's',
      serverKey: undefined,
      ca: 'a',
      alternates: [],
    },
    options: {
      readTimeoutMs: 1_000,
      writeTimeoutMs: 2_000,
      idleTimeoutMs: 3_000,
      minTlsVersion: 'TLSv1.1',
      maxTlsVersion: 'TLSv1.2',
    },
    apis: ['health-checks'],
  });
  assert.deepEqual(
    withValue('proxy', '{ type: http, address: "p.example:3128", username: u, password: p }').proxy,
    {
      host: 'p.example',
      port: 3128,
      username: 'u',
      password: new Secret('p'),
    },
  );
  assert.equal(withValue('tls', '{ handshakeTimeout: 2s }').handshakeTimeoutMs, 2_000);
  const { connectEvents } = withValue(
    'connectEvents',
    '{ enabled: no, batchInterval: 1ms, maxQueuedEvents: x }',
  );
  assert.deepEqual(connectEvents, {
    isEnabled: false,
    batchIntervalMs: 250,
    fullSyncIntervalMs: 300_000,
    maxQueuedEvents: 100_000,
  });
  assert.equal(withValue('interfaceDiscovery', '{ disabled: true }').interfaceDiscovery.isDisabled, true);
});

test('variables of the environment stand for parts of texts', () => {
  const environment = { HOST: 'env.example', PORT: '6262', PKI: 'file:///etc/pki' };
  const config = configOf(fileWith('identity.cert', '"$PKI/router.pem"'), environment);
  assert.equal(config.identity.cert, '/etc/pki/router.pem');
  const [endpoint] = configOf(fileWith('ctrl.endpoint', '"tls:${HOST}:$PORT"'), environment).ctrl.endpoints;
  assert.deepEqual(endpoint, { type: 'tls', host: 'env.example', port: 6262 });
});

test('a feature that this version cannot run is refused by name at the start, and valid for check', () => {
  for (const [field, yaml, path] of [
    [
      'listeners[3]',
      '{ binding: transport_udp, address: "unixgram:/run/x", advertise: "a:1" }',
      'listeners[3].address',
    ],
    ['listeners[3]', '{ binding: edge, address: "dtls:x:1", advertise: "a:1" }', 'listeners[3].address'],
    ['listeners[3]', '{ binding: proxy, address: "wss:x:1", service: s }', 'listeners[3].address'],
    ['listeners[3]', '{ binding: proxy, bind: "dtls:x:1", service: s }', 'listeners[3].bind'],
    ['ctrl.endpoint', 'dtls:x:1', 'ctrl.endpoint'],
    ['ctrl', '{ endpoints: ["tls:x:1", "ws:x:1"] }', 'ctrl.endpoints[1]'],
    ['link.listeners[0].bind', 'tcp:x:1', 'link.listeners[0].bind'],
    ['link.listeners[0].advertise', 'dtls:x:1', 'link.listeners[0].advertise'],
  ] as const) {
    const runnable = { ...WHOLE_FILE, listeners: WHOLE_FILE.listeners.slice(0, 3) };
    const { problems, notRunnable } = read(fileWith(field, yaml, runnable));
    assert.deepEqual(summaryOf(problems), [], field);
    assert.deepEqual(summaryOf(notRunnable), [`error not-runnable ${path}`]);
  }
  for (const binding of ['proxy', 'proxy_udp', 'transport_udp', 'edge'])
    assert.deepEqual(summaryOf(read(fileWith('dialers[0].binding', binding)).notRunnable), []);
  const file = join(directory, 'later.yml');
  writeFileSync(file, fileWith('ctrl.endpoint', 'dtls:x:1'));
  assert.ok(loadRouterConfig(file, {}));
  assert.throws(
    () => loadRunnableRouterConfig(file, {}),
    /ctrl\.endpoint: the protocol dtls: this version cannot run it/,
  );
});

test('transport.wss has the times of WebSockets in seconds, and those of OpenZiti by default', () => {
  const defaults = {
    handshakeTimeoutMs: 10_000,
    readTimeoutMs: 5_000,
    pingIntervalMs: 54_000,
    pongTimeoutMs: 60_000,
  };
  assert.deepEqual(configOf(SMALLEST).webSockets, defaults);
  const yaml = '{ wss: { readTimeout: 1, handshakeTimeout: 2, pingInterval: 3 } }';
  assert.deepEqual(configOf(fileWith('transport', yaml)).webSockets, {
    handshakeTimeoutMs: 2_000,
    readTimeoutMs: 1_000,
    pingIntervalMs: 3_000,
    pongTimeoutMs: 60_000,
  });
  const { notRunnable } = read(fileWith('transport', '{ wss: { identity: { cert: a } } }'));
  assert.ok(summaryOf(notRunnable).includes('error not-runnable transport.wss.identity'));
});

test('an invalid file is one error that lists every problem, warnings too; a missing one is another error', () => {
  const file = join(directory, 'router.yml');
  writeFileSync(file, SMALLEST.replace('v: 3', 'v: 1\nanything: {}').replace('tls:', 'ftp:'));
  assert.throws(
    () => loadRouterConfig(file, {}),
    (error) =>
      error instanceof FrontdoorError &&
      error.kind === 'invalid' &&
      error.message.split('\n').length === 5 &&
      error.message.includes(`${file}:2:1 error v: must be 3 (version, given 1)`) &&
      error.message.includes(`${file}:3:1 warning anything: is unknown`) &&
      error.message.includes(`${file}:4:9 error ctrl.endpoint: must be an address`),
  );
  assert.throws(
    () => loadRouterConfig(join(directory, 'none.yml'), {}),
    (error) => error instanceof FrontdoorError && error.kind === 'notFound',
  );
  const { config, problems } = parseRouterConfig('v: 3', 'router.yml', {
    environment: {},
    interfaces: INTERFACES,
  });
  assert.deepEqual([config, problems.length], [undefined, 2]);
});
