// The requirement's defaults and bounds, number by number, as `router check` prints them. The numbers are repeated
// here on purpose: they come from the requirement, not from the schema.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { checkRouterFile } from '#router/config';

type Json = Record<string, unknown>;

const folder = mkdtempSync(join(tmpdir(), 'router-limits-'));
after(() => rmSync(folder, { recursive: true }));
const FILE = join(folder, 'router.yml');

/** Every section, nothing in it that has a default. */
const SECTIONS = {
  v: 3,
  ctrl: { endpoint: 'tls:ctrl.example:6262' },
  identity: { cert: 'cert.pem', key: 'key.pem', ca: 'ca.pem' },
  edge: { csr: { sans: { dns: ['router.example'] } } },
  link: {
    listeners: [{ binding: 'transport', bind: 'tls:0.0.0.0:10080', advertise: 'router.example:10080' }],
    dialers: [{ binding: 'transport', healthyDialBackoff: {}, unhealthyDialBackoff: {} }],
  },
  dialers: [{ binding: 'transport' }],
  listeners: [
    { binding: 'edge', address: 'tls:0.0.0.0:3022', options: { advertise: 'router.example:3022' } },
  ],
  forwarder: {},
  healthChecks: { ctrlPingCheck: {}, linkCheck: {} },
  metrics: {},
  profile: { memory: { path: 'heap' } },
};

const DEFAULTS: readonly [path: string, value: unknown][] = [
  ['ctrl.defaultRequestTimeout', '5s'],
  ['ctrl.endpointsFile', join(folder, 'endpoints.yml')],
  ['edge.db', `${FILE}.proto.gzip`],
  ['edge.dbSaveIntervalSeconds', '30s'],
  ['forwarder.faultTxInterval', 15_000],
  ['forwarder.idleCircuitTimeout', 60_000],
  ['forwarder.idleTxInterval', 60_000],
  ['forwarder.linkDialQueueLength', 1_000],
  ['forwarder.linkDialWorkerCount', 32],
  ['forwarder.rateLimitedQueueLength', 5_000],
  ['forwarder.rateLimitedWorkerCount', 5],
  ['forwarder.xgressCloseCheckInterval', 5_000],
  ['forwarder.xgressDialDwellTime', 0],
  ['forwarder.xgressDialQueueLength', 1_000],
  ['forwarder.xgressDialWorkerCount', 128],
  ['healthChecks.ctrlPingCheck.interval', '30s'],
  ['healthChecks.ctrlPingCheck.timeout', '15s'],
  ['healthChecks.ctrlPingCheck.initialDelay', '15s'],
  ['healthChecks.linkCheck.interval', '5s'],
  ['healthChecks.linkCheck.initialDelay', '1s'],
  ['healthChecks.linkCheck.minLinks', 0],
  ['link.listeners[0].groups', ['default']],
  ['link.dialers[0].groups', ['default']],
  ['link.dialers[0].split', true],
  ['link.dialers[0].healthyDialBackoff.minRetryInterval', '5s'],
  ['link.dialers[0].healthyDialBackoff.maxRetryInterval', '5m'],
  ['link.dialers[0].healthyDialBackoff.retryBackoffFactor', 1.5],
  ['link.dialers[0].unhealthyDialBackoff.minRetryInterval', '1m'],
  ['link.dialers[0].unhealthyDialBackoff.maxRetryInterval', '1h'],
  ['link.dialers[0].unhealthyDialBackoff.retryBackoffFactor', 10],
  ['metrics.reportInterval', '1m'],
  ['metrics.messageQueueSize', 10],
  ['metrics.intervalAgeThreshold', '80s'],
  ['profile.memory.intervalMs', 15_000],
];

const POOLS = [
  ['linkDialQueueLength', 10_000],
  ['linkDialWorkerCount', 10_000],
  ['rateLimitedQueueLength', 50_000],
  ['rateLimitedWorkerCount', 10_000],
  ['xgressDialQueueLength', 10_000],
  ['xgressDialWorkerCount', 10_000],
] as const;

const BACKOFFS = ['healthyDialBackoff', 'unhealthyDialBackoff'] as const;

function check(document: unknown, isEffective = false): { readonly status: number; readonly report: Json } {
  writeFileSync(FILE, JSON.stringify(document));
  let out = '';
  const options = { json: true, effective: isEffective, files: false };
  const status = checkRouterFile(FILE, options, {
    out: (text) => void (out += text),
    err: () => {},
    env: {},
  });
  return { status, report: JSON.parse(out) as Json };
}

/** The whole file with other values at the paths. */
function withValues(values: Readonly<Record<string, unknown>>): Json {
  const document = structuredClone(SECTIONS) as Json;
  for (const [path, value] of Object.entries(values)) {
    const steps = stepsOf(path);
    let at = document;
    for (const step of steps.slice(0, -1)) at = at[step] as Json;
    at[steps.at(-1)!] = value;
  }
  return document;
}

function valueAt(document: Json, path: string): unknown {
  return stepsOf(path).reduce<unknown>((at, step) => (at as Json)[step], document);
}

function stepsOf(path: string): string[] {
  return path.split(/[.[\]]+/).filter((step) => step !== '');
}

/** Milliseconds, of the forms that durations are printed in. */
function milliseconds(text: unknown): unknown {
  if (typeof text !== 'string') return text;
  const parts = [...text.matchAll(/([\d.]+)(ms|s|m|h)/g)];
  if (parts.map(([all]) => all).join('') !== text || text === '') return text;
  const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
  return parts.reduce((sum, [, number, unit]) => sum + Number(number) * units[unit!]!, 0);
}

function assertValid(values: Readonly<Record<string, unknown>>): void {
  const { status, report } = check(withValues(values));
  assert.equal(status, 0, JSON.stringify([values, report]));
}

function assertRefused(
  path: string,
  value: unknown,
  more: Readonly<Record<string, unknown>> = {},
  where = path,
): void {
  const { status, report } = check(withValues({ ...more, [path]: value }));
  const errors = (report['problems'] as { severity: string; path: string }[])
    .filter(({ severity }) => severity === 'error')
    .map((problem) => problem.path);
  assert.deepEqual([status, errors], [1, [where]], `${path}: ${String(value)}`);
}

test('every default of the requirement is filled in', () => {
  const { status, report } = check(SECTIONS, true);
  assert.equal(status, 0);
  for (const [path, expected] of DEFAULTS)
    assert.deepEqual(milliseconds(valueAt(report, path)), milliseconds(expected), path);
});

test('queues and workers of the forwarder hold their bounds at the edges', () => {
  for (const [key, most] of POOLS) {
    const path = `forwarder.${key}`;
    for (const value of [1, most]) assertValid({ [path]: value });
    for (const value of [0, most + 1]) assertRefused(path, value);
  }
});

test('intervals of the forwarder may be 0 where that disables', () => {
  for (const key of ['faultTxInterval', 'idleTxInterval', 'xgressDialDwellTime'])
    assertValid({ [`forwarder.${key}`]: 0 });
});

test('backoffs of link dialers hold their bounds at the edges', () => {
  for (const policy of BACKOFFS) {
    const at = `link.dialers[0].${policy}`;
    const [min, max, factor] = ['minRetryInterval', 'maxRetryInterval', 'retryBackoffFactor'].map(
      (key) => `${at}.${key}`,
    ) as [string, string, string];
    assertValid({ [min]: '10ms', [max]: '24h' });
    assertValid({ [min]: '24h', [max]: '24h' });
    assertValid({ [min]: '10ms', [max]: '10ms' });
    for (const value of ['9ms', '24h0m0.001s']) {
      assertRefused(min, value, { [max]: '24h' });
      assertRefused(max, value, { [min]: '10ms' });
    }
    for (const value of [1, 100]) assertValid({ [factor]: value });
    for (const value of [0.99, 100.01]) assertRefused(factor, value);
  }
});

test('each required key is reported missing at its own path, and no other key is', () => {
  const required = [
    'v',
    'identity',
    'ctrl',
    'link.listeners[0].binding',
    'link.listeners[0].bind',
    'link.listeners[0].advertise',
    'link.dialers[0].binding',
    'listeners[0].binding',
    'profile.memory.path',
  ];
  for (const path of required) assertRefused(path, undefined);
  assertRefused('ctrl.endpoint', undefined);
  assertRefused('trace', {}, {}, 'trace.path');
  assertRefused('profile', { cpu: {} }, {}, 'profile.cpu.path');
  for (const section of Object.keys(SECTIONS)) {
    if (['v', 'identity', 'ctrl', 'edge'].includes(section)) continue;
    assertValid({ [section]: undefined });
  }
  assertValid({ edge: undefined, listeners: undefined, csr: { sans: { dns: ['router.example'] } } });
});

test('any version but 3 is refused', () => {
  for (const version of [1, 2, 4, '3', 3.5]) assertRefused('v', version);
});
