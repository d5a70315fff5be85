import assert from 'node:assert/strict';
import { mock, test, type TestContext } from 'node:test';
import { silentLog, type Log } from '#base';
import { HEALTH_CHECK_DEFAULTS } from '../config/testing/router-config-defaults.ts';
import type { HealthChecksConfig } from '../config/router-config.ts';
import { HealthChecks, type LinkHealth } from './health-checks.ts';
import { goDurationText, healthDocument } from './health-document.ts';

const START_MS = Date.parse('2024-05-01T09:59:30Z');
/** Promises that checks await are settled in turns of this loop. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Change {
  readonly ctrlPing?: Partial<HealthChecksConfig['ctrlPing']>;
  readonly link?: Partial<HealthChecksConfig['link']>;
}

function open(t: TestContext, change: Change = {}, log: Log = silentLog) {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: START_MS });
  const world = {
    controllers: [] as { isResponsive: boolean }[],
    links: [] as LinkHealth[],
    looks: 0,
    linkLooks: 0,
  };
  const checks = new HealthChecks({
    config: {
      ctrlPing: { ...HEALTH_CHECK_DEFAULTS.ctrlPing, ...change.ctrlPing },
      link: { ...HEALTH_CHECK_DEFAULTS.link, ...change.link },
    },
    controllers: () => {
      world.looks += 1;
      return world.controllers;
    },
    links: () => {
      world.linkLooks += 1;
      return world.links;
    },
    clock: { nowMs: () => Date.now(), monotonicMs: () => Date.now() },
    log,
  });
  t.after(() => {
    checks.close();
    mock.timers.reset();
  });
  const pass = async (ms: number): Promise<void> => {
    mock.timers.tick(ms);
    await turn();
  };
  const stateOf = (id: string) => checks.health().checks.find((check) => check.id === id)!;
  return {
    world,
    checks,
    pass,
    ping: () => stateOf('controllerPing'),
    link: () => stateOf('link.health'),
  };
}

test('before its first run controllerPing fails, and link.health passes unless links are asked for', (t) => {
  const { checks } = open(t);
  assert.deepEqual(JSON.parse(healthDocument(checks.health(), false)), {
    data: {
      checks: [
        {
          consecutiveFailures: 1,
          err: { message: "didn't run yet" },
          failingSince: '2024-05-01T09:59:30Z',
          healthy: false,
          id: 'controllerPing',
          lastCheckDuration: '0s',
          lastCheckTime: '2024-05-01T09:59:30Z',
        },
        {
          healthy: true,
          id: 'link.health',
          lastCheckDuration: '0s',
          lastCheckTime: '2024-05-01T09:59:30Z',
        },
      ],
      healthy: false,
    },
    meta: {},
  });
});

test('ctrlPingCheck.initialDelay: the first run is that late', async (t) => {
  const { world, pass, ping } = open(t, { ctrlPing: { initialDelayMs: 4_000 } });
  world.controllers.push({ isResponsive: true });
  await pass(3_999);
  assert.equal(world.looks, 0);
  await pass(1);
  assert.deepEqual([ping().isHealthy, ping().checkedMs], [true, START_MS + 4_000]);
});

test('ctrlPingCheck.interval: it runs again each time that is over', async (t) => {
  const { world, pass, ping } = open(t, { ctrlPing: { initialDelayMs: 1_000, intervalMs: 7_000 } });
  world.controllers.push({ isResponsive: true });
  await pass(1_000);
  await pass(6_999);
  assert.equal(ping().checkedMs, START_MS + 1_000);
  await pass(1);
  assert.equal(ping().checkedMs, START_MS + 8_000);
  await pass(7_000);
  assert.equal(ping().checkedMs, START_MS + 15_000);
});

test('ctrlPingCheck.timeout: it waits so long for a controller that answers, and no longer', async (t) => {
  const { world, pass, ping } = open(t, { ctrlPing: { initialDelayMs: 1_000, timeoutMs: 2_000 } });
  await pass(1_000);
  for (let i = 0; i < 7; i += 1) await pass(250);
  assert.equal(ping().problem, "didn't run yet");
  await pass(250);
  assert.equal(ping().problem, 'no control channels established yet');
  await pass(30_000 - 2_000);
  await pass(500);
  world.controllers.push({ isResponsive: true });
  await pass(250);
  assert.equal(ping().isHealthy, true);
});

test('controllerPing passes while any controller answers, and reports the problem otherwise', async (t) => {
  const { world, pass, ping } = open(t, {
    ctrlPing: { initialDelayMs: 0, intervalMs: 10_000, timeoutMs: 1_000 },
  });
  const run = async (): Promise<void> => {
    for (let i = 0; i < 10; i += 1) await pass(1_000);
  };
  world.controllers.push({ isResponsive: false }, { isResponsive: true });
  await run();
  assert.equal(ping().isHealthy, true);
  world.controllers.pop();
  await run();
  await run();
  assert.equal(ping().problem, 'control channels are slow');
  world.controllers.pop();
  await run();
  assert.equal(ping().problem, 'no control channels established yet');
});

test('failures are counted from the first one, and a pass ends the count', async (t) => {
  const lines: string[] = [];
  const log: Log = {
    ...silentLog,
    info: (_fields, message) => void lines.push(message),
    warn: (_fields, message) => void lines.push(message),
  };
  const { world, pass, ping } = open(
    t,
    { ctrlPing: { initialDelayMs: 0, intervalMs: 10_000, timeoutMs: 0 } },
    log,
  );
  world.controllers.push({ isResponsive: true });
  await pass(1);
  assert.deepEqual([ping().consecutiveFailures, ping().failingSinceMs], [0, undefined]);
  world.controllers.pop();
  for (let failures = 1; failures <= 3; failures += 1) {
    await pass(10_000);
    assert.equal(ping().consecutiveFailures, failures);
    assert.equal(ping().failingSinceMs, START_MS + 10_001);
  }
  world.controllers.push({ isResponsive: true });
  await pass(10_000);
  assert.deepEqual([ping().isHealthy, ping().failingSinceMs], [true, undefined]);
  assert.deepEqual(lines, ['health check passes', 'health check fails', 'health check passes']);
});

test('linkCheck.initialDelay and linkCheck.interval: when link.health runs', async (t) => {
  const { world, pass } = open(t, { link: { initialDelayMs: 2_000, intervalMs: 3_000 } });
  for (const [ms, looks] of [
    [1_999, 0],
    [1, 1],
    [2_999, 1],
    [1, 2],
    [3_000, 3],
  ] as const) {
    await pass(ms);
    assert.equal(world.linkLooks, looks);
  }
});

test('linkCheck.minLinks: fewer links fail the check, and its details list the present ones', async (t) => {
  const { world, pass, checks, link } = open(t, { link: { initialDelayMs: 1_000, minLinks: 2 } });
  assert.equal(link().isHealthy, false);
  world.links.push({
    linkId: 'x',
    destRouterId: 'r2',
    latency: 1_234_567.5,
    connections: [
      { type: 'link.default', localAddress: 'tcp:1.2.3.4:5', remoteAddress: 'tcp:1.2.3.5:6000' },
      { type: 'link.ack', localAddress: 'tcp:1.2.3.4:6', remoteAddress: 'tcp:1.2.3.5:6000' },
    ],
  });
  await pass(1_000);
  const { data } = JSON.parse(healthDocument(checks.health(), false)) as {
    data: { checks: Record<string, unknown>[] };
  };
  const { lastCheckDuration, ...rest } = data.checks[1]!;
  assert.match(String(lastCheckDuration), /^[\d.]+(?:ns|µs|ms|s)$/);
  assert.deepEqual(rest, {
    consecutiveFailures: 2,
    details: [
      {
        linkId: 'x',
        destRouterId: 'r2',
        latency: 1_234_567.5,
        addresses: {
          'link.ack': { localAddr: 'tcp:1.2.3.4:6', remoteAddr: 'tcp:1.2.3.5:6000' },
          'link.default': { localAddr: 'tcp:1.2.3.4:5', remoteAddr: 'tcp:1.2.3.5:6000' },
        },
      },
    ],
    err: { message: 'link count 1 less than configured minimum of 2' },
    failingSince: '2024-05-01T09:59:30Z',
    healthy: false,
    id: 'link.health',
    lastCheckTime: '2024-05-01T09:59:31Z',
  });
  world.links.push({ ...world.links[0]!, linkId: 'y', latency: undefined });
  await pass(5_000);
  assert.equal(link().isHealthy, true);
});

test('the document has sorted keys, four blanks a step and a line’s end, and null where a check has no details', async (t) => {
  const { world, pass, checks } = open(t, { ctrlPing: { initialDelayMs: 0 }, link: { initialDelayMs: 0 } });
  world.controllers.push({ isResponsive: true });
  await pass(1);
  const document = healthDocument(checks.health(), false).replaceAll(/"[\d.]+(?:ns|µs|ms|s)"/g, '"5µs"');
  const check = (id: string): string => `            {
                "details": null,
                "healthy": true,
                "id": "${id}",
                "lastCheckDuration": "5µs",
                "lastCheckTime": "2024-05-01T09:59:30Z"
            }`;
  assert.equal(
    document,
    `{
    "data": {
        "checks": [
${check('controllerPing')},
${check('link.health')}
        ],
        "healthy": true
    },
    "meta": {}
}
`,
  );
});

test('the short document has names and verdicts alone', async (t) => {
  const { checks } = open(t);
  assert.deepEqual(JSON.parse(healthDocument(checks.health(), true)), {
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

test('a check that throws fails with what it threw, and runs again', async (t) => {
  const { world, pass, link } = open(t, { link: { initialDelayMs: 0, intervalMs: 1_000 } });
  Object.defineProperty(world, 'links', {
    configurable: true,
    get: () => {
      throw new Error('registry is closed');
    },
  });
  await pass(1);
  assert.deepEqual([link().isHealthy, link().problem], [false, 'registry is closed']);
  Object.defineProperty(world, 'links', { value: [] });
  await pass(1_000);
  assert.equal(link().isHealthy, true);
});

test('after close nothing runs', async (t) => {
  const { world, checks, pass } = open(t, { ctrlPing: { initialDelayMs: 0 } });
  await pass(1);
  checks.close();
  const { looks, linkLooks } = world;
  await pass(120_000);
  assert.deepEqual([world.looks, world.linkLooks], [looks, linkLooks]);
});

test('durations are written as Go writes them', () => {
  const texts = [0, 999, 1_200, 5_000_000, 1_500_000_000, 65_300_000_000, 3_600_000_000_000].map(
    goDurationText,
  );
  assert.deepEqual(texts, ['0s', '999ns', '1.2µs', '5ms', '1.5s', '1m5.3s', '1h0m0s']);
});
