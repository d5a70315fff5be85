// The commands `router check` and `router schema`: their output and exit status.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import { routerSchemaText } from './router-check.ts';
import { CheckedFolder, fileWith, WHOLE_FILE } from './testing/router-file-fixture.ts';

const folder = new CheckedFolder();
after(() => folder.close());

const SMALLEST = `v: 3
ctrl:
  endpoint: tls:ctrl.example:6262
identity:
  cert: cert.pem
  key: key.pem
  ca: ca.pem
`;

test('for people: each problem on a line of its own, then the verdict', () => {
  const file = folder.write('bad.yml', `${SMALLEST}forwarder:\n  linkDialQueueLength: 0\n`);
  assert.deepEqual(folder.check(file), {
    status: 1,
    out: [
      `${file}:1:1 warning csr: is missing: this router cannot enroll or renew its certificates (csr)`,
      `${file}:9:3 error forwarder.linkDialQueueLength: must be from 1 to 10000 (minimum, given 0)`,
      `${file} is not valid: 1 error, 1 warning`,
      '',
    ].join('\n'),
    err: '',
  });
  const good = folder.write('good.yml', JSON.stringify(WHOLE_FILE));
  assert.deepEqual(folder.check(good), { status: 0, out: `${good} is valid\n`, err: '' });
});

test('for machines: the verdict and every problem, with every key of it', () => {
  const file = folder.write(
    'bad.yml',
    `${SMALLEST}forwarder: { linkDialQueueLength: 10001 }\nanything: 1\nlink: { listeners: [{}] }\n`,
  );
  const { status, out, err } = folder.check(file, { json: true });
  assert.deepEqual([status, err], [1, '']);
  const { valid, problems } = JSON.parse(out) as { valid: boolean; problems: Record<string, unknown>[] };
  assert.equal(valid, false);
  for (const problem of problems)
    assert.deepEqual(Object.keys(problem), ['severity', 'path', 'line', 'rule', 'value', 'message']);
  assert.deepEqual(
    problems.map(({ severity, path, line, rule, value }) => [severity, path, line, rule, value]),
    [
      ['warning', 'csr', 1, 'csr', null],
      ['warning', 'csr.sans', 1, 'sans', null],
      ['error', 'forwarder.linkDialQueueLength', 8, 'maximum', 10_001],
      ['warning', 'anything', 9, 'unknown-key', 1],
      ['error', 'link.listeners[0].binding', 10, 'required', null],
      ['error', 'link.listeners[0].bind', 10, 'required', null],
      ['error', 'link.listeners[0].advertise', 10, 'required', null],
    ],
  );
  assert.deepEqual(
    JSON.parse(folder.check(folder.write('good.yml', JSON.stringify(WHOLE_FILE)), { json: true }).out),
    {
      valid: true,
      problems: [],
    },
  );
});

test('a file that cannot be read is status 2, also as JSON', () => {
  for (const path of [`${folder.path}/none.yml`, folder.path]) {
    const { status, out, err } = folder.check(path);
    assert.deepEqual([status, out], [2, '']);
    assert.match(err, /^frontdoor: cannot read .*\n$/);
    const asJson = folder.check(path, { json: true });
    const { valid, problems } = JSON.parse(asJson.out) as { valid: boolean; problems: { rule: string }[] };
    assert.deepEqual([asJson.status, valid, problems.map(({ rule }) => rule)], [2, false, ['unreadable']]);
  }
});

test('--effective fills in every default; sections whose absence is a role stay absent', () => {
  const file = folder.write('small.yml', SMALLEST);
  const { status, out, err } = folder.check(file, { effective: true });
  assert.equal(status, 0);
  assert.match(err, /^.*small\.yml:1:1 warning csr: /);
  const said = parse(out) as Record<string, unknown>;
  assert.deepEqual(JSON.parse(folder.check(file, { effective: true, json: true }).out), said);
  for (const role of ['edge', 'link', 'listeners', 'dialers', 'web', 'trace', 'profile', 'csr', 'transport'])
    assert.ok(!(role in said), role);
  assert.deepEqual(said['ctrl'], {
    endpoint: 'tls:ctrl.example:6262',
    defaultRequestTimeout: '5s',
    options: {
      outQueueSize: 4,
      maxQueuedConnects: 1,
      maxOutstandingConnects: 16,
      connectTimeout: '5s',
      connectTimeoutMs: 5_000,
      writeTimeout: '0s',
    },
    heartbeats: {
      sendInterval: '10s',
      checkInterval: '1s',
      closeUnresponsiveTimeout: '30s',
      unresponsiveAfter: '5s',
    },
    endpointsFile: `${folder.path}/endpoints.yml`,
  });
  assert.deepEqual(said['forwarder'], {
    faultTxInterval: 15_000,
    idleCircuitTimeout: 60_000,
    idleTxInterval: 60_000,
    linkDialQueueLength: 1_000,
    linkDialWorkerCount: 32,
    rateLimitedQueueLength: 5_000,
    rateLimitedWorkerCount: 5,
    xgressCloseCheckInterval: 5_000,
    xgressDialDwellTime: 0,
    xgressDialQueueLength: 1_000,
    xgressDialWorkerCount: 128,
  });
  assert.deepEqual(said['healthChecks'], {
    ctrlPingCheck: { interval: '30s', timeout: '15s', initialDelay: '15s' },
    linkCheck: { interval: '5s', initialDelay: '1s', minLinks: 0 },
  });
  assert.deepEqual(said['metrics'], {
    reportInterval: '1m',
    intervalAgeThreshold: '80s',
    messageQueueSize: 10,
  });
});

interface Whole {
  readonly edge: Record<string, unknown>;
  readonly link: {
    readonly listeners: Record<string, unknown>[];
    readonly dialers: Record<string, unknown>[];
  };
  readonly listeners: { readonly options: Record<string, unknown> }[];
  readonly profile: { readonly memory: Record<string, unknown> };
}

test('--effective fills in what stands inside the sections that are there, and is itself a valid file', () => {
  const file = folder.write('whole.yml', JSON.stringify(WHOLE_FILE));
  const { out } = folder.check(file, { effective: true, json: true });
  const said = JSON.parse(out) as Whole;
  assert.deepEqual([said.edge['db'], said.edge['dbSaveIntervalSeconds']], [`${file}.proto.gzip`, '30s']);
  const [dialer] = said.link.dialers;
  assert.deepEqual(
    [dialer?.['split'], dialer?.['groups'], dialer?.['healthyDialBackoff'], dialer?.['unhealthyDialBackoff']],
    [
      true,
      ['default'],
      { minRetryInterval: '5s', maxRetryInterval: '5m', retryBackoffFactor: 1.5 },
      { minRetryInterval: '1m', maxRetryInterval: '1h', retryBackoffFactor: 10 },
    ],
  );
  assert.deepEqual(said.link.listeners[0]?.['groups'], ['default']);
  assert.equal(said.profile.memory['intervalMs'], 15_000);
  const [edge, transport, , tunnel] = said.listeners;
  assert.deepEqual([edge?.options['outQueueSize'], edge?.options['mode']], [64, undefined]);
  assert.deepEqual([transport?.options['outQueueSize'], transport?.options['txQueueSize']], [undefined, 1]);
  assert.deepEqual([tunnel?.options['mode'], tunnel?.options['dnsSvcIpRange']], ['host', '100.64.0.1/10']);
  const again = folder.write('again.yml', folder.check(file, { effective: true }).out);
  const { problems } = folder.judge(folder.check(again, { effective: true }).out);
  assert.deepEqual(problems, []);
  assert.deepEqual(JSON.parse(folder.check(again, { effective: true, json: true }).out), JSON.parse(out));
});

test('--effective of a file that is not valid prints its problems', () => {
  const file = folder.write('bad.yml', SMALLEST.replace('v: 3', 'v: 2'));
  const { status, out } = folder.check(file, { effective: true });
  assert.equal(status, 1);
  assert.match(out, /:1:1 error v: must be 3 \(version, given 2\)\n/);
  const { valid } = JSON.parse(folder.check(file, { effective: true, json: true }).out) as { valid: boolean };
  assert.equal(valid, false);
});

test('--effective shows no password and no private key, and puts variables in', () => {
  const text = fileWith('identity.key', '"-----BEGIN PRIVATE KEY-----hunter2"').replace(
    '"ctrl": {',
    '"proxy": { "type": "http", "address": "$P:1", "password": "hunter2" }, "ctrl": {',
  );
  const { status, out } = folder.check(
    folder.write('secret.yml', text),
    { effective: true },
    { P: 'proxy.example' },
  );
  assert.equal(status, 0);
  assert.doesNotMatch(out, /hunter2/);
  assert.match(out, /address: proxy\.example:1\n/);
});

test('variables come from the environment that the command has', () => {
  const file = folder.write('env.yml', SMALLEST.replace('ctrl.example:6262', '${HOST}:$PORT'));
  assert.equal(folder.check(file, {}, { HOST: 'a.example', PORT: '1' }).status, 0);
  assert.equal(folder.check(file).status, 1);
});

test('the JSON Schema is one of draft 2020-12', () => {
  const schema = JSON.parse(routerSchemaText()) as Record<string, unknown>;
  assert.equal(schema['$schema'], 'https://json-schema.org/draft/2020-12/schema');
  assert.deepEqual(schema['required'], ['v', 'identity', 'ctrl']);
});
