// Rules over several fields, keys without effect, and corner cases of the syntax: the position and severity of each
// problem.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { CheckedFolder, fileWith, read, summaryOf, WHOLE_FILE } from './testing/router-file-fixture.ts';

const folder = new CheckedFolder();
after(() => folder.close());

const SMALLEST = `
v: 3
ctrl:
  endpoint: tls:ctrl.example:6262
identity:
  cert: pki/router.pem
  key: pki/router.key
  ca: pki/ca.pem
`;

/** A line of 80 characters. */
const COMMENT = `# ${'x'.repeat(77)}\n`;

function problemsOf(field: string, yaml: string | undefined, base: unknown = WHOLE_FILE): string[] {
  return summaryOf(read(fileWith(field, yaml, base)).problems);
}

test('the whole file of these tests has no problem at all', () => {
  assert.deepEqual(summaryOf(read(JSON.stringify(WHOLE_FILE)).problems), []);
});

test('v, ctrl and identity alone are valid, and warned of what they cannot do', () => {
  assert.deepEqual(summaryOf(read(SMALLEST).problems), ['warning csr csr']);
});

test('all problems are reported at once, in the order of lines, each with path, line, rule, value and message', () => {
  const text = `v: 4
ctrl:
  endpoint: ctrl.example:6262
  defaultRequestTimeout: soon
  heartbeats: often
identity:
  cert: 17
  key: pki/router.key
  ca: pki/ca.pem
edge: {}
listeners:
  - binding: edge
    address: tls:0.0.0.0:70000
    options:
      advertise: edge.example
forwarder:
  linkDialQueueLength: 0
`;
  assert.deepEqual(
    read(text).problems.map(({ line, severity, path, rule, value }) => [line, severity, path, rule, value]),
    [
      [1, 'error', 'v', 'version', 4],
      [3, 'error', 'ctrl.endpoint', 'address', 'ctrl.example:6262'],
      [4, 'error', 'ctrl.defaultRequestTimeout', 'duration', 'soon'],
      [5, 'error', 'ctrl.heartbeats', 'type', 'often'],
      [7, 'error', 'identity.cert', 'type', 17],
      [10, 'warning', 'edge.csr', 'csr', undefined],
      [10, 'warning', 'edge.csr.sans', 'sans', undefined],
      [13, 'error', 'listeners[0].address', 'address', 'tls:0.0.0.0:70000'],
      [15, 'error', 'listeners[0].options.advertise', 'host-port', 'edge.example'],
      [17, 'error', 'forwarder.linkDialQueueLength', 'minimum', 0],
    ],
  );
});

test('a missing key is reported at its own path, on the line of the map that lacks it', () => {
  const { problems } = read('v: 3\nctrl:\n  endpoint: tls:x:1\nidentity:\n  cert: a\n');
  assert.deepEqual(
    problems.filter(({ rule }) => rule === 'required').map(({ path, line }) => [path, line]),
    [['identity.key', 4]],
  );
});

test('an empty file lacks v, identity and ctrl; what is no map is one error', () => {
  for (const text of ['', '# nothing\n', '~\n', '---\n'])
    assert.deepEqual(summaryOf(read(text).problems).slice(0, 3), [
      'error required v',
      'error required identity',
      'error required ctrl',
    ]);
  for (const text of ['- v: 3\n', 'text\n', '5\n'])
    assert.deepEqual(summaryOf(read(text).problems), ['error type ']);
});

test('invalid YAML is one error at the root, with its line', () => {
  for (const [content, line] of [
    ['v: 3\nctrl: [\n', 2],
    ['v: 3\nctrl:\n\tendpoint: x\n', 3],
    ['v: 3\nx: \0\n', 2],
    [`a: &a [1, 1, 1, 1, 1, 1]\nb: &b [${'*a, '.repeat(2_000)}]\nc: [${'*b, '.repeat(2_000)}]\n`, 3],
    [Buffer.from([0x76, 0x3a, 0xff, 0xfe]), 1],
  ] as const) {
    const { status, problems } = folder.judge(content);
    assert.deepEqual(
      problems.map((problem) => [problem.severity, problem.path, problem.rule]),
      [['error', '', 'syntax']],
    );
    assert.ok(Math.abs(problems[0]!.line - line) <= 1, `line ${problems[0]!.line}`);
    assert.equal(status, 1);
  }
});

test('a file of 10 MiB is judged at once: comments are passed over, more content is refused', () => {
  // Processor time, because the machine may be busy with other tests.
  const started = process.cpuUsage();
  assert.equal(folder.judge(`${COMMENT.repeat(131_072)}${SMALLEST}`).status, 0);
  const long = folder.judge(`${SMALLEST}${'k: [1, 2, 3]\n'.repeat(800_000)}`);
  assert.deepEqual([long.status, summaryOf(long.problems)], [1, ['error syntax ']]);
  const huge = folder.judge('#'.repeat(17 * 1_048_576));
  assert.deepEqual([huge.status, summaryOf(huge.problems)], [1, ['error syntax ']]);
  const { user, system } = process.cpuUsage(started);
  assert.ok(user + system < 10_000_000, `${user + system} µs`);
});

test('a byte order mark and Windows line ends do no harm, a second document is refused', () => {
  assert.equal(folder.judge(`\uFEFF${SMALLEST}`).status, 0);
  assert.equal(folder.judge(SMALLEST.replaceAll('\n', '\r\n')).status, 0);
  for (const second of ['v: [\n', 'link: {}\n', '']) {
    const { status, problems } = folder.judge(`${SMALLEST}---\n${second}`);
    assert.equal(status, 1);
    assert.deepEqual(
      problems.map(({ rule, line, message }) => [rule, line, message]),
      [['syntax', SMALLEST.split('\n').length, 'has a second document, which would have no effect']],
    );
  }
  assert.equal(folder.judge(Buffer.from(`\uFEFF${SMALLEST}`, 'utf16le')).status, 0);
});

test('an unknown section is an error if the section that it probably is meant to be is missing', () => {
  for (const [written, meant] of [
    ['listners', 'listeners'],
    ['dialer', 'dialers'],
    ['lnk', 'link'],
    ['Edge', 'edge'],
    ['healthcheck', 'healthChecks'],
  ] as const) {
    const { status, problems } = folder.judge(`${SMALLEST}${written}: {}\n`);
    const found = problems.filter(({ path }) => path === written);
    assert.deepEqual([status, found.length], [1, 1], written);
    assert.equal(found[0]!.severity, 'error');
    assert.equal(found[0]!.message, `is unknown, and ${meant} is missing`);
  }
  for (const rest of ['ha: {}\n', 'listners: []\nlisteners: []\n', 'ctrl2: {}\n'])
    assert.equal(folder.judge(`${SMALLEST}${rest}`).status, 0, rest);
});

test('unknown keys are warned of at every level, with the nearest known key', () => {
  for (const [field, nearest] of [
    ['ctrl.endpiont', 'endpoint'],
    ['ctrl.options.outQueueSiz', 'outQueueSize'],
    ['ctrl.heartbeats.sendIntervall', 'sendInterval'],
    ['identity.serverCert', 'server_cert'],
    ['edge.DB', 'db'],
    ['edge.csr.organisation', 'organization'],
    ['edge.csr.sans.dnss', 'dns'],
    ['link.dialer', 'dialers'],
    ['link.listeners[0].advertize', 'advertise'],
    ['link.dialers[0].splitt', 'split'],
    ['link.dialers[0].healthyDialBackoff.minRetry', 'minRetryInterval'],
    ['dialers[0].option', 'options'],
    ['dialers[0].options.mtuu', 'mtu'],
    ['listeners[0].adress', 'address'],
    ['listeners[0].options.advertis', 'advertise'],
    ['listeners[3].options.modes', 'mode'],
    ['web[0].bindpoints', 'bindPoints'],
    ['web[0].bindPoints[0].addres', 'address'],
    ['web[0].options.readTimeouts', 'readTimeout'],
    ['web[0].apis[0].bindings', 'binding'],
    ['forwarder.linkDialQueue', 'linkDialQueueLength'],
    ['healthChecks.linkChecks', 'linkCheck'],
    ['healthChecks.linkCheck.minLink', 'minLinks'],
    ['metrics.reportInterva', 'reportInterval'],
    ['trace.pathe', 'path'],
    ['profile.memory.interval', 'intervalMs'],
    ['transport.westworld', 'westworld3'],
    ['proxy.adress', 'address'],
    ['tls.handshakeTimeouts', 'handshakeTimeout'],
    ['connectEvents.enable', 'enabled'],
  ] as const) {
    const { problems } = read(fileWith(field, '1'));
    const [found] = problems.filter(({ path }) => path === field);
    const shown = /^(?:identity|proxy)/.test(field) ? '(hidden)' : 1;
    assert.deepEqual([found?.severity, found?.rule, found?.value], ['warning', 'unknown-key', shown], field);
    if (field === 'transport.westworld') continue;
    assert.ok(found!.message.endsWith(`the nearest known key is ${nearest}`), `${field}: ${found!.message}`);
  }
});

test('thousands of unknown keys are counted, not listed', () => {
  const { problems } = read(`${SMALLEST}${Array.from({ length: 5_000 }, (_, i) => `k${i}: 1\n`).join('')}`);
  assert.equal(problems.filter(({ rule }) => rule === 'unknown-key').length, 1_001);
  assert.ok(problems.some(({ path, message }) => path === '' && message.startsWith('4000 more')));
});

test('keys that OpenZiti takes and does nothing with are not unknown, whatever their value', () => {
  for (const field of [
    'ctrl.dataDir',
    'ctrl.ha',
    'edge.underlay_type',
    'ha',
    'healthCheck',
    'example',
    'forwarder.latencyProbeTimeout',
    'forwarder.idleSessionTimeout',
    'listeners[0].options.getSessionTimeout',
    'listeners[0].options.retransmission',
    'dialers[0].options.retransmission',
    'transport.ws',
  ]) {
    for (const yaml of ['1', 'x', '{ a: [1] }', 'null'])
      assert.deepEqual(problemsOf(field, yaml), [`warning no-effect ${field}`], `${field}: ${yaml}`);
  }
});

test('a known key that has no effect in this version is one warning', () => {
  for (const [field, yaml] of [
    ['plugins', '[a.so]'],
    ['managedConfig', '{ allow: [all] }'],
    ['enableDebugOps', 'true'],
    ['transport.westworld3', '{ profile_version: 1, instrument: { enabled: true } }'],
    ['transport.dtls', '{ writeBufferSize: 1 }'],
    ['transport.wss.writeTimeout', '10'],
    ['transport.wss.enableCompression', 'true'],
    ['ctrl.rateLimiter', '{ minSize: 5 }'],
    ['edge.sessionValidateChunkSize', '5'],
    ['metrics.eventQueueSize', '256'],
    ['metrics.enableDataDelayMetric', 'true'],
    ['forwarder.unresponsiveLinkTimeout', '5s'],
  ] as const) {
    assert.deepEqual(problemsOf(field, yaml), [`warning unsupported ${field}`], field);
  }
  assert.deepEqual(
    problemsOf('forwarder.unresponsiveLinkTimeout', '4999')[1],
    'error minimum forwarder.unresponsiveLinkTimeout',
  );
  assert.deepEqual(problemsOf('managedConfig', '{ allow: [true] }')[1], 'error type managedConfig.allow[0]');
  assert.deepEqual(problemsOf('plugins', '5'), ['warning unsupported plugins', 'warning type plugins']);
  assert.deepEqual(
    problemsOf('ctrl.rateLimiter', '{ minSize: 300 }')[1],
    'error order ctrl.rateLimiter.minSize',
  );
});

test('options of another binding are known, and have no effect', () => {
  assert.deepEqual(problemsOf('listeners[0].options.mode', 'host'), [
    'warning no-effect listeners[0].options.mode',
  ]);
  assert.deepEqual(problemsOf('listeners[1].options.outQueueSize', '4'), [
    'warning no-effect listeners[1].options.outQueueSize',
  ]);
  assert.deepEqual(problemsOf('listeners[0].service', 'x'), ['warning no-effect listeners[0].service']);
  assert.deepEqual(problemsOf('listeners[2].advertise', 'x'), ['warning no-effect listeners[2].advertise']);
});

test('the last of equal keys alone is checked, and the second is warned of at its line', () => {
  const { problems } = read(`${SMALLEST}forwarder:\n  linkDialQueueLength: 0\n  linkDialQueueLength: 1\n`);
  assert.deepEqual(
    problems
      .filter(({ path }) => path !== 'csr')
      .map(({ severity, rule, path, line }) => [severity, rule, path, line]),
    [['warning', 'duplicate-key', 'forwarder.linkDialQueueLength', 11]],
  );
});

test('variables are put into string values, never into keys; numbers cannot come of them', () => {
  const environment = { HOST: 'env.example', PORT: '6262', V: '3' };
  const given = (field: string, yaml: string): string[] =>
    summaryOf(read(fileWith(field, yaml), environment).problems);
  assert.deepEqual(given('ctrl.endpoint', '"tls:${HOST}:$PORT"'), []);
  assert.deepEqual(given('v', '"$V"'), ['error type v']);
  assert.deepEqual(given('metrics.messageQueueSize', '"${PORT}"'), ['error type metrics.messageQueueSize']);
  assert.deepEqual(
    given('ctrl.endpoint', '"tls:${UNSET}:$PORT"'),
    [],
    'an unset one is empty: all interfaces',
  );
  const [problem] = read(fileWith('ctrl.endpoint', '"tls:${HOST}:$UNSET"'), environment).problems;
  assert.equal(problem?.value, 'tls:${HOST}:$UNSET');
  assert.match(problem.message, /with its variables it is "tls:env\.example:"$/);
  assert.deepEqual(given('$HOST', '1'), ['warning unknown-key $HOST']);
});

test('ctrl needs endpoint or endpoints, unless listeners or an endpoints file name the controllers', () => {
  const without = fileWith('ctrl', '{}');
  assert.deepEqual(summaryOf(read(without).problems), ['error required ctrl.endpoint']);
  assert.deepEqual(problemsOf('ctrl', '{ listeners: [{ bind: "tls:0.0.0.0:1" }] }'), []);
  for (const name of ['endpoints.yml', 'endpoints']) {
    const other = new CheckedFolder();
    const file = other.write('router.yml', without);
    assert.equal(other.check(file).status, 1, name);
    other.write(name, '');
    assert.equal(other.check(file).status, 0, name);
    other.close();
  }
  const named = folder.write('named.yml', '');
  assert.equal(folder.judge(fileWith('ctrl', `{ endpointsFile: ${named} }`)).status, 0);
  assert.equal(folder.judge(fileWith('ctrl', '{ endpointsFile: /none/endpoints.yml }')).status, 1);
});

test('csr: the root one wins; without any a router starts; a dialed router needs names', () => {
  const names = '{ sans: { dns: [root.example] } }';
  assert.deepEqual(problemsOf('csr', names), ['warning ignored edge.csr']);
  assert.deepEqual(problemsOf('edge', `{ csr: null }`), [
    'warning empty edge.csr',
    'warning csr edge.csr',
    'warning sans edge.csr.sans',
  ]);
  assert.deepEqual(problemsOf('edge.csr', '{ country: DE }'), ['error sans edge.csr.sans']);
  assert.deepEqual(
    problemsOf('edge.csr', '{ SANS: { DNS: [a.example] }, Country: DE }'),
    [],
    'keys in any case',
  );
  const undialed = `${SMALLEST}csr: { country: DE }\n`;
  assert.deepEqual(summaryOf(read(undialed).problems), []);
});

test('edge without an edge listener starts, edge and tunnel listeners without edge do not', () => {
  assert.deepEqual(problemsOf('listeners', '[]'), ['warning no-listener edge']);
  const { edge: _edge, ...fabricOnly } = WHOLE_FILE;
  const problems = problemsOf('csr', '{ sans: { dns: [a.example] } }', fabricOnly);
  assert.deepEqual(problems, [
    'error needs-edge listeners[0].binding',
    'error needs-edge listeners[3].binding',
  ]);
});

test('a tunnel dialer sets options of a tunnel listener, and has no effect without one', () => {
  assert.deepEqual(problemsOf('dialers', '[{ binding: tunnel }]'), []);
  const listeners = WHOLE_FILE.listeners.slice(0, 3);
  assert.deepEqual(problemsOf('dialers', '[{ binding: tunnel }]', { ...WHOLE_FILE, listeners }), [
    'warning no-effect dialers[0].binding',
  ]);
});

test('a section that is empty counts as absent, except where its absence cannot be meant', () => {
  for (const section of ['link', 'dialers', 'web', 'metrics', 'profile', 'transport', 'connectEvents', 'csr'])
    assert.deepEqual(problemsOf(section, 'null')[0], `warning empty ${section}`, section);
  for (const section of ['v', 'identity', 'ctrl', 'edge', 'trace'])
    assert.ok(problemsOf(section, 'null').includes(`error type ${section}`), section);
  const { effective } = read(fileWith('link', 'null'));
  assert.ok(effective !== undefined && !('link' in effective));
});

test('numbers of connections have no effect with split false', () => {
  const dialer = (more: string): string[] => problemsOf('link.dialers[0]', `{ binding: transport${more} }`);
  const numbers = ', maxDefaultConnections: 2, maxAckConnections: 0';
  assert.deepEqual(dialer(numbers), []);
  assert.deepEqual(dialer(', split: false'), []);
  assert.deepEqual(dialer(`, split: false${numbers}`), [
    'warning no-effect link.dialers[0].maxDefaultConnections',
    'warning no-effect link.dialers[0].maxAckConnections',
  ]);
});

test('server_key alone and a missing ca are warned of', () => {
  const identity = (more: string): string[] => problemsOf('identity', `{ cert: a, key: b${more} }`);
  assert.deepEqual(identity(', ca: c'), []);
  assert.deepEqual(identity(''), ['warning ca identity.ca']);
  assert.deepEqual(identity(', ca: c, server_key: d'), ['warning no-effect identity.server_key']);
});

test('keys, passwords and inline PEM appear in no problem', () => {
  for (const [field, yaml] of [
    ['identity.key', '"pkcs11:/lib.so?pin=hunter2"'],
    ['identity.key', '["-----BEGIN PRIVATE KEY-----hunter2"]'],
    ['proxy', '{ type: http, address: "p:1", password: [hunter2] }'],
    ['proxy', '{ type: http, address: "p:1", passwrod: hunter2 }'],
  ] as const) {
    const { out } = folder.check(folder.write('secret.yml', fileWith(field, yaml)), { json: true });
    assert.match(out, /"path"/);
    assert.doesNotMatch(out, /hunter2/, field);
  }
});
