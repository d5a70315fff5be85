import assert from 'node:assert/strict';
import { mock, test, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ManualClock, silentLog, type Log } from '#base';
import { decodeHosting, ServiceChecks, type HealthCheckConfig, type ServiceProbe } from '#sdk/hosting';
import { TerminatorPrecedence } from '#wire/ctrl';
import { until } from '../../../../test/support/deadline.ts';
import type { TunnelService } from '../services/tunnel-service.ts';
import { planOf, type HostedTerminator } from './hosted-terminator.ts';

const { DEFAULT, FAILED } = TerminatorPrecedence;
const service = {
  id: 's1',
  name: 'web',
  identity: { name: 'gate', appData: {}, defaultHosting: { cost: 10, precedence: DEFAULT } },
  hosting: { cost: undefined, precedence: undefined },
} as unknown as TunnelService;

function terminatorOf(id: string, portChecks: readonly object[]): HostedTerminator {
  const config = { protocol: 'tcp', address: '127.0.0.1', port: 1, portChecks };
  const plan = planOf(service, decodeHosting(new Map([['host.v1', config]]))[0]!, 0);
  return { ...plan, id, values: plan.baseline };
}

const check = (interval: string, ...actions: object[]): object => ({
  address: '127.0.0.1:1',
  interval,
  timeout: '1s',
  actions,
});
const UNHEALTHY = { trigger: 'fail', action: 'mark unhealthy' };
const HEALTHY = { trigger: 'pass', action: 'mark healthy' };

interface World {
  readonly checks: ServiceChecks<HostedTerminator>;
  readonly changes: string[];
  readonly events: string[];
  readonly probed: HealthCheckConfig[];
  tick(ms: number): Promise<void>;
}

function open(t: TestContext, probe: ServiceProbe, log: Log = silentLog): World {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  const clock = new ManualClock();
  const changes: string[] = [];
  const events: string[] = [];
  const probed: HealthCheckConfig[] = [];
  const checks = new ServiceChecks<HostedTerminator>({
    clock,
    log,
    probe: (config) => {
      probed.push(config);
      return probe(config);
    },
    onChanged: ({ id, values }) => changes.push(`${id} ${values.cost} ${values.precedence}`),
    onEvent: ({ id }, passed) => events.push(`${id} ${passed}`),
  });
  t.after(() => checks.close());
  return {
    checks,
    changes,
    events,
    probed,
    tick: async (ms) => {
      clock.advance(ms);
      mock.timers.tick(ms);
      for (let i = 0; i < 5; i += 1) await turn();
    },
  };
}

test('a service is checked at once and at its interval, and a change of its health changes the terminator', async (t) => {
  let fault: string | undefined = 'refused';
  const world = open(t, () => Promise.resolve(fault));
  const terminator = terminatorOf('t1', [
    check('5s', UNHEALTHY, HEALTHY, { trigger: 'change', action: 'send event' }),
  ]);
  world.checks.start(terminator);
  await world.tick(0);
  assert.equal(terminator.values.precedence, FAILED);
  await world.tick(5_000);
  fault = undefined;
  await world.tick(4_999);
  assert.equal(world.probed.length, 2);
  await world.tick(1);
  assert.deepEqual(world.changes, [`t1 10 ${FAILED}`, `t1 10 ${DEFAULT}`]);
  assert.deepEqual(world.events, ['t1 false', 't1 true']);
});

test('the interval runs from the start of a check, and a slow one is not begun twice', async (t) => {
  const ends: (() => void)[] = [];
  const world = open(t, () => new Promise((resolve) => ends.push(() => resolve(undefined))));
  world.checks.start(terminatorOf('t1', [check('5s')]));
  await world.tick(0);
  await world.tick(7_000);
  assert.equal(world.probed.length, 1);
  ends[0]!();
  await world.tick(0);
  await world.tick(0);
  assert.equal(world.probed.length, 2);
});

test('checks of a config that was replaced, or of a lost service, no longer have an effect', async (t) => {
  const ends: ((fault: string) => void)[] = [];
  const world = open(t, () => new Promise((resolve) => ends.push(resolve)));
  const terminator = terminatorOf('t1', [check('5s', UNHEALTHY)]);
  world.checks.start(terminator);
  await world.tick(0);
  world.checks.start(terminator);
  await world.tick(0);
  ends[0]!('late');
  await world.tick(0);
  assert.deepEqual(world.changes, []);
  world.checks.stop('t1');
  ends[1]!('late');
  await world.tick(60_000);
  assert.deepEqual([world.changes, world.probed.length], [[], 2]);
});

test('of checks whose targets hang, a bounded number runs and waits; others follow when these end', async (t) => {
  const ends: (() => void)[] = [];
  let leftOut = 0;
  const log = { ...silentLog, warn: () => void (leftOut += 1) };
  const world = open(t, () => new Promise((resolve) => ends.push(() => resolve(undefined))), log);
  for (let i = 0; i < 5_000; i += 1) world.checks.start(terminatorOf(`t${i}`, [check('1h')]));
  await world.tick(0);
  assert.equal(world.probed.length, 256);
  assert.equal(leftOut, 5_000 - 256 - 4_096);
  for (const end of ends.splice(0)) end();
  await until(
    'the next checks',
    () => world.probed.length,
    (count) => count === 512,
  );
});
