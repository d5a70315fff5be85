import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { FrontdoorError } from '#base';
import type { ConfigProblem } from './config-reader.ts';
import {
  loadRouterConfig,
  parseRouterConfig,
  type ConfigSurroundings,
  type RouterConfig,
} from './router-config.ts';

const directory = mkdtempSync(join(tmpdir(), 'router-config-'));
after(() => rmSync(directory, { recursive: true }));

const SMALLEST = `
v: 3
ctrl:
  endpoint: tls:ctrl.example:6262
identity:
  cert: pki/router.pem
  key: pki/router.key
  ca: pki/ca.pem
`;

const FULL = `
v: 3
ctrl:
  endpoints: ["tls:one.example:6262", "tls:[2001:db8::1]:6263"]
  bind: eth7
  defaultRequestTimeout: 7s
  options: { connectTimeout: 1s500ms }
  heartbeats: { sendInterval: 2s, closeUnresponsiveTimeout: 9s }
identity:
  cert: pki/router.pem
  server_cert: pki/server.pem
  server_key: pki/server.key
  key: pki/router.key
  ca: pki/ca.pem
edge:
  csr:
    country: DE
    province: BE
    locality: Berlin
    organization: Example
    organizationalUnit: Edge
    sans:
      dns: [edge.example]
      ip: [192.0.2.7]
      uri: ["https://edge.example/"]
      email: [ops@edge.example]
listeners:
  - binding: edge
    address: tls:0.0.0.0:3022
    options: { advertise: "edge.example:443", connectTimeout: 3s }
`;

function parse(text: string, around: Partial<ConfigSurroundings> = {}) {
  const interfaces = { eth7: [{ address: '192.0.2.7' }, { address: 'fe80::7' }] };
  return parseRouterConfig(text, 'router.yml', { environment: {}, interfaces, ...around });
}

function configOf(text: string, around?: Partial<ConfigSurroundings>): RouterConfig {
  const { config, problems } = parse(text, around);
  assert.deepEqual(problems, []);
  assert.ok(config);
  return config;
}

function problemsOf(text: string): readonly ConfigProblem[] {
  const { config, problems } = parse(text);
  assert.equal(config, undefined);
  return problems;
}

function told(problems: readonly ConfigProblem[]): string[] {
  return problems.map(({ line, path, message }) => `${line} ${path}: ${message}`);
}

test('v, ctrl and identity alone make a router, with the defaults of OpenZiti', () => {
  const config = configOf(SMALLEST);
  assert.equal(config.file, resolve('router.yml'));
  assert.deepEqual(config.ctrl, {
    endpoints: [{ type: 'tls', host: 'ctrl.example', port: 6262 }],
    bind: undefined,
    requestTimeoutMs: 5_000,
    connectTimeoutMs: 5_000,
    heartbeat: { sendIntervalMs: 10_000, closeAfterMs: 30_000 },
  });
  assert.equal(config.edgeListener, undefined);
  assert.deepEqual(told(config.warnings), ['1 edge.csr: is missing: this router cannot enroll']);
});

test('every key of the supported sections is read', () => {
  const config = configOf(FULL);
  assert.deepEqual(config.ctrl, {
    endpoints: [
      { type: 'tls', host: 'one.example', port: 6262 },
      { type: 'tls', host: '2001:db8::1', port: 6263 },
    ],
    bind: '192.0.2.7',
    requestTimeoutMs: 7_000,
    connectTimeoutMs: 1_500,
    heartbeat: { sendIntervalMs: 2_000, closeAfterMs: 9_000 },
  });
  assert.deepEqual(config.identity, {
    cert: 'pki/router.pem',
    key: 'pki/router.key',
    serverCert: 'pki/server.pem',
    serverKey: 'pki/server.key',
    ca: 'pki/ca.pem',
  });
  assert.deepEqual(config.csr, {
    subject: {
      country: 'DE',
      province: 'BE',
      locality: 'Berlin',
      organization: 'Example',
      organizationalUnit: 'Edge',
    },
    hosts: ['edge.example', '192.0.2.7'],
    uris: ['https://edge.example/'],
    emails: ['ops@edge.example'],
  });
  assert.deepEqual(config.edgeListener, {
    address: { type: 'tls', host: '0.0.0.0', port: 3022 },
    advertise: { host: 'edge.example', port: 443 },
    helloTimeoutMs: 3_000,
  });
  assert.deepEqual(config.warnings, []);
});

test('only version 3 is taken, and only as a number', () => {
  for (const [given, shown] of [
    ['v: 2', '2'],
    ['v: "3"', '"3"'],
    ['', 'null'],
  ] as const) {
    const [problem] = problemsOf(SMALLEST.replace('v: 3', given));
    assert.deepEqual([problem?.path, problem?.message], ['v', `must be 3, not ${shown}`]);
  }
});

test('all problems are told at once, each with its path, its line and the value given', () => {
  const problems = problemsOf(`v: 4
ctrl:
  endpoint: ctrl.example:6262
  bind: nowhere
  defaultRequestTimeout: soon
  options:
    connectTimeout: 10ms
  heartbeats: often
identity:
  cert: 17
  key: pki/router.key
edge: {}
listeners:
  - binding: edge
    address: tls:0.0.0.0:70000
    options:
      advertise: edge.example
  - binding: tunnel
`);
  assert.deepEqual(told(problems), [
    '1 v: must be 3, not 4',
    '8 ctrl.heartbeats: must be a map, not "often"',
    '3 ctrl.endpoint: must be an address such as tls:host:6262, not "ctrl.example:6262"',
    '4 ctrl.bind: no network interface of this machine has the name or address "nowhere"',
    '5 ctrl.defaultRequestTimeout: must be a duration such as 5s from 1 ms, not "soon"',
    '7 ctrl.options.connectTimeout: must be a duration such as 5s from 30 ms to 60000 ms, not "10ms"',
    '10 identity.cert: must be a string, not 17',
    '9 identity.ca: is required',
    '15 listeners[0].address: must be an address such as tls:host:6262, not "tls:0.0.0.0:70000"',
    '17 listeners[0].options.advertise: must be <host>:<port>, not "edge.example"',
    '18 listeners[1].binding: "tunnel" is not supported by this version; supported: edge',
  ]);
});

test('sections that this version cannot act on are refused by name, each of them', () => {
  const sections = [
    'dialers',
    'forwarder',
    'healthChecks',
    'link',
    'metrics',
    'trace',
    'transport',
    'profile',
    'web',
  ];
  const problems = problemsOf(`${SMALLEST}${sections.map((name) => `${name}: {}\n`).join('')}`);
  assert.deepEqual(
    problems.map(({ path, line, message }) => [path, line, message]),
    sections.map((name, i) => [name, 9 + i, 'is not supported by this version']),
  );
});

test('keys that this version cannot act on are refused by name, in every supported section', () => {
  const text = FULL.replace('  bind: eth7', '  endpointsFile: x.yml')
    .replace('connectTimeout: 1s500ms', 'outQueueSize: 4')
    .replace('sendInterval: 2s', 'unresponsiveAfter: 2s')
    .replace('  ca: pki/ca.pem', '  ca: pki/ca.pem\n  alt_server_certs: []')
    .replace('edge:\n', 'edge:\n  db: x\n')
    .replace('connectTimeout: 3s', 'rxBufferSize: 1');
  assert.deepEqual(
    problemsOf(text).map(({ path, message }) => [path, message]),
    [
      'ctrl.endpointsFile',
      'ctrl.options.outQueueSize',
      'ctrl.heartbeats.unresponsiveAfter',
      'identity.alt_server_certs',
      'edge.db',
      'listeners[0].options.rxBufferSize',
    ].map((path) => [path, 'is not supported by this version']),
  );
});

test('a key that nobody knows is a warning that names the nearest known one, never an error', () => {
  const text = FULL.replace('  bind: eth7', '  endpoint_file: x')
    .replace('advertise:', 'advertize: "x:1", advertise:')
    .replace('edge:\n', 'metricz: {}\nedge:\n  underlay_type: x\n');
  assert.deepEqual(told(configOf(text).warnings), [
    '15 metricz: is unknown and has no effect; the nearest known key is metrics',
    '5 ctrl.endpoint_file: is unknown and has no effect; the nearest known key is endpointsFile',
    '17 edge.underlay_type: has no effect',
    '32 listeners[0].options.advertize: is unknown and has no effect; the nearest known key is advertise',
  ]);
});

test('the last of equal keys holds, with a warning', () => {
  const config = configOf(SMALLEST.replace('ctrl:\n', 'ctrl:\n  endpoint: tls:old.example:1\n'));
  assert.equal(config.ctrl.endpoints[0]?.host, 'ctrl.example');
  assert.deepEqual(told(config.warnings), [
    '5 endpoint: stands twice in one map: the last one holds',
    '1 edge.csr: is missing: this router cannot enroll',
  ]);
});

test('with endpoint and endpoints both given, endpoints is ignored', () => {
  const config = configOf(SMALLEST.replace('ctrl:\n', 'ctrl:\n  endpoints: ["tls:other.example:1"]\n'));
  assert.deepEqual(
    config.ctrl.endpoints.map(({ host }) => host),
    ['ctrl.example'],
  );
});

test('ctrl needs an endpoint, and each of several is checked by its place', () => {
  assert.deepEqual(told(problemsOf(SMALLEST.replace('  endpoint: tls:ctrl.example:6262', '  options: {}'))), [
    '3 ctrl: endpoint or endpoints is required',
  ]);
  const text = SMALLEST.replace(
    '  endpoint: tls:ctrl.example:6262',
    '  endpoints:\n  - tls:a.example:1\n  - tcp:b.example:2\n  - 5',
  );
  assert.deepEqual(told(problemsOf(text)), [
    '6 ctrl.endpoints[1]: must be an address such as tls:host:6262, not "tcp:b.example:2"',
    '7 ctrl.endpoints[2]: must be a string, not 5',
  ]);
});

test('bind takes an interface by name or by an address of its own', () => {
  const bound = (text: string): string | undefined =>
    configOf(FULL.replace('bind: eth7', `bind: ${text}`)).ctrl.bind;
  assert.equal(bound('eth7'), '192.0.2.7');
  assert.equal(bound('"fe80::7"'), 'fe80::7');
  assert.equal(problemsOf(FULL.replace('bind: eth7', 'bind: 0.0.0.0'))[0]?.path, 'ctrl.bind');
});

test('connectTimeout wins over connectTimeoutMs, its older form', () => {
  const timeout = (options: string): number =>
    configOf(FULL.replace('connectTimeout: 1s500ms', options)).ctrl.connectTimeoutMs;
  assert.equal(timeout('connectTimeoutMs: 700'), 700);
  assert.equal(timeout('connectTimeoutMs: 700, connectTimeout: 2s'), 2_000);
  const [problem] = problemsOf(FULL.replace('connectTimeout: 1s500ms', 'connectTimeoutMs: 29'));
  assert.equal(problem?.message, 'must be an integer from 30 to 60000, not 29');
});

test('variables are put into string values after the file is read, never into keys; an unset one is empty', () => {
  const environment = { HOST: 'env.example', PORT: '6262', PKI: 'file:///etc/pki' };
  const text = SMALLEST.replace('tls:ctrl.example:6262', '"tls:${HOST}:$PORT"')
    .replace('pki/router.pem', '$PKI/router.pem')
    .replace('pki/ca.pem', 'ca${UNSET}${UNSET:-x}.pem');
  const config = configOf(text, { environment });
  assert.deepEqual(config.ctrl.endpoints, [{ type: 'tls', host: 'env.example', port: 6262 }]);
  assert.equal(config.identity.cert, '/etc/pki/router.pem');
  assert.equal(config.identity.ca, 'ca.pem');
  assert.equal(problemsOf(SMALLEST.replace('v: 3', 'v: $V'))[0]?.path, 'v');
});

test('an identity is a path, a file URL or inline PEM; other places are refused', () => {
  const cert = (text: string): string => configOf(SMALLEST.replace('pki/router.pem', text)).identity.cert;
  assert.equal(cert('pki/a.pem'), 'pki/a.pem');
  assert.equal(cert('file:///etc/a.pem'), '/etc/a.pem');
  assert.equal(cert('file:/etc/a.pem'), '/etc/a.pem');
  assert.equal(cert('file:a.pem'), 'a.pem');
  assert.equal(cert('"pem:-----BEGIN X-----"'), 'pem:-----BEGIN X-----');
  assert.equal(cert('"-----BEGIN X-----"'), '-----BEGIN X-----');
  const [problem] = problemsOf(SMALLEST.replace('pki/router.key', '"pkcs11:softhsm2?pin=1234"'));
  assert.deepEqual(
    [problem?.path, problem?.message],
    ['identity.key', 'pkcs11: is not supported; supported: a path, file: and pem:'],
  );
});

test('a server key without a server certificate is a problem', () => {
  const [problem] = problemsOf(FULL.replace('  server_cert: pki/server.pem\n', ''));
  assert.equal(problem?.path, 'identity.server_key');
});

test('the root csr wins over the one of edge', () => {
  const config = configOf(`${FULL}csr: { organization: Root, sans: { dns: [root.example] } }\n`);
  assert.deepEqual([config.csr.subject, config.csr.hosts], [{ organization: 'Root' }, ['root.example']]);
});

test('a listener needs a name in the csr, unless there is no csr at all', () => {
  const nameless = FULL.replace(/ {4}sans:\n(?: {6}.*\n)+/, '');
  assert.deepEqual(told(problemsOf(nameless)), [
    '16 edge.csr: needs at least one entry in sans: who dials the listener checks its name',
  ]);
  const without = configOf(nameless.replace(/ {2}csr:\n(?: {4}.*\n)+/, '  underlay_type: x\n'));
  assert.ok(told(without.warnings).some((text) => text.endsWith('is missing: this router cannot enroll')));
  assert.ok(without.edgeListener);
});

test('a listener takes address or bind, and advertise beside or inside its options', () => {
  const config = configOf(
    FULL.replace(
      'address: tls:0.0.0.0:3022',
      'bind: tls:127.0.0.1:1\n    advertise: "[2001:db8::2]:7"',
    ).replace('advertise: "edge.example:443", ', ''),
  );
  assert.deepEqual(config.edgeListener?.address, { type: 'tls', host: '127.0.0.1', port: 1 });
  assert.deepEqual(config.edgeListener?.advertise, { host: '2001:db8::2', port: 7 });
  const both = configOf(
    FULL.replace(
      'address: tls:0.0.0.0:3022',
      'address: tls:0.0.0.0:3022\n    bind: tls:x:1\n    advertise: "y:1"',
    ),
  );
  assert.deepEqual(
    [both.edgeListener?.address.port, both.edgeListener?.advertise.host],
    [3022, 'edge.example'],
  );
});

test('a listener needs binding, address and advertise, and the edge section', () => {
  assert.deepEqual(told(problemsOf(`${SMALLEST}listeners:\n- binding: edge\n- {}\n- tls:x:1\n`)), [
    '10 listeners[0].binding: an edge listener needs the edge section',
    '10 listeners[0].bind: is required',
    '10 listeners[0].advertise: is required',
    '11 listeners[1].binding: is required',
    '12 listeners[2]: must be a map, not "tls:x:1"',
  ]);
});

test('edge without a listener starts, with a warning', () => {
  const config = configOf(FULL.slice(0, FULL.indexOf('listeners:')));
  assert.equal(config.edgeListener, undefined);
  assert.deepEqual(told(config.warnings), ['15 edge: no listener: SDKs cannot connect']);
});

test('what is no YAML, or no map, is told with its line', () => {
  const [syntax] = problemsOf('v: 3\nctrl: [\n');
  assert.ok(syntax!.line >= 2, `line ${syntax!.line}`);
  assert.deepEqual(told(problemsOf('- v: 3\n')), ['1 : must be a map']);
  assert.deepEqual(told(problemsOf('')), ['1 : must be a map']);
  const bomb = `a: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [${'*a,'.repeat(20)}]\nc: &c [${'*b,'.repeat(20)}]\nv: [${'*c,'.repeat(20)}]\n`;
  assert.match(problemsOf(bomb)[0]!.message, /alias/i);
});

test('a file that cannot be used is an error that lists every problem; one that is not there says so', () => {
  const file = join(directory, 'router.yml');
  writeFileSync(file, SMALLEST.replace('v: 3', 'v: 1').replace('tls:', 'udp:'));
  assert.throws(
    () => loadRouterConfig(file, {}),
    (error) =>
      error instanceof FrontdoorError &&
      error.kind === 'invalid' &&
      error.message.split('\n').length === 3 &&
      error.message.includes('line 2: v: must be 3, not 1') &&
      error.message.includes('line 4: ctrl.endpoint: must be an address'),
  );
  assert.throws(
    () => loadRouterConfig(join(directory, 'none.yml'), {}),
    (error) => error instanceof FrontdoorError && error.kind === 'notFound',
  );
});
