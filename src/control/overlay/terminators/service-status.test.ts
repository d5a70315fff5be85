import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { contentType } from '#wire';
import { RouteErrorCode } from '#wire/circuits';
import { ctrlMessages } from '#wire/ctrl';
import { MAX_LINES_PER_TICK } from './service-status-log.ts';
import { OverlayWorld, tokenOf } from '../testing/overlay-world.ts';
import type { ScriptedRouter } from '../testing/scripted-router.ts';
import {
  FIRST_HOST_MS,
  HOST_AWAY_MS,
  isProbeDue,
  isWaiting,
  MAX_RETRY_MS,
  MIN_RETRY_MS,
  retryDelayMs,
  stepService,
  type ServiceEvent,
  type ServiceStatusState,
} from './service-status-machine.ts';

const REFUSED = {
  isSuccess: false,
  error: 'connection refused',
  errorCode: RouteErrorCode.connectionRefused,
};
let world: OverlayWorld;
let router: ScriptedRouter;

beforeEach(async () => {
  world = await OverlayWorld.open();
  await world.addIdentity('env1', 'environment');
  await world.addIdentity('gw1', 'gateway');
  await world.addService('svc1', 'env1');
  await world.start();
  router = await world.router('r1');
});
afterEach(() => world.close());

function state(serviceId = 'svc1'): string {
  return world.controller.status.service(serviceId).state;
}

async function health(checkPassed: boolean): Promise<void> {
  const session = {
    sessionToken: tokenOf('Bind', 'svc1', 'env1'),
    apiSessionToken: 'token-env1',
    fingerprints: ['fp-env1'],
  };
  router.send(ctrlMessages.healthEvent.frame({ ...session, terminatorId: 'term1', checkPassed }));
  await router.settle();
}

test('a share is PENDING, then DEPLOYED once a probe reached its backend; the probe leaves nothing behind', async () => {
  assert.equal(state(), 'PENDING');
  await world.bind(router, 'env1', 'svc1', 'term1');
  assert.equal(state(), 'PENDING');
  const probe = await router.route();
  assert.deepEqual([probe.egress?.destination, probe.forwards.length], ['term1', 0]);
  const unroute = await router.next('unroute');
  assert.deepEqual([unroute.circuitId, unroute.now], [probe.circuitId, true]);
  assert.equal(state(), 'DEPLOYED');
  assert.equal(world.controller.circuitCount, 0);
});

test('a failed probe has a reason, is repeated with growing pauses, and recovery shows at once', async () => {
  await world.bind(router, 'env1', 'svc1', 'term1');
  await router.route(REFUSED);
  await router.settle();
  const first = world.controller.status.service('svc1');
  assert.equal(first.state, 'FAILED');
  assert.deepEqual([first.failure?.count, first.failure?.lastError], [1, 'connection refused']);
  assert.equal(first.failure?.nextRetry, new Date(world.clock.nowMs() + 1_000).toISOString());
  world.advance(900);
  await router.settle();
  assert.equal(router.waiting(contentType.route), 0);
  world.advance(200);
  await router.route(REFUSED);
  await router.settle();
  assert.equal(world.controller.status.service('svc1').failure?.count, 2);
  world.advance(2_100);
  await router.route();
  await router.next('unroute');
  assert.deepEqual(world.controller.status.service('svc1'), { state: 'DEPLOYED' });
});

test("the host's own check turns a share to FAILED and back without waiting for a probe's turn", async () => {
  await world.bind(router, 'env1', 'svc1', 'term1');
  await router.route();
  await router.next('unroute');
  await health(false);
  assert.equal(state(), 'FAILED');
  assert.match(world.controller.status.service('svc1').failure!.lastError, /target/);
  // A backend that takes connections and does not answer stays FAILED.
  world.advance(1_100);
  await router.route();
  await router.next('unroute');
  assert.equal(state(), 'FAILED');
  // A router that connects again creates its terminators again: that says nothing of the backend.
  await world.bind(router, 'env1', 'svc1', 'term1');
  await router.route();
  await router.next('unroute');
  assert.equal(state(), 'FAILED');
  await health(true);
  await router.route();
  await router.next('unroute');
  assert.equal(state(), 'DEPLOYED');
});

test('a share whose agent went is FAILED after two seconds, and DEPLOYED when it is back', async () => {
  await world.bind(router, 'env1', 'svc1', 'term1');
  await router.route();
  await router.next('unroute');
  router.send(ctrlMessages.removeTerminators.frame({ terminatorIds: ['term1'] }));
  await router.settle();
  assert.equal(state(), 'DEPLOYED');
  world.advance(2_100);
  assert.equal(state(), 'FAILED');
  assert.match(world.controller.status.service('svc1').failure!.lastError, /no agent hosts/);
  await world.bind(router, 'env1', 'svc1', 'term2');
  await router.route();
  await router.next('unroute');
  assert.equal(state(), 'DEPLOYED');
});

test('a router that goes takes the state of its shares along', async () => {
  await world.bind(router, 'env1', 'svc1', 'term1');
  await router.route();
  await router.next('unroute');
  router.channel.close('killed');
  const other = await world.router('r2');
  await other.settle();
  world.advance(2_100);
  assert.equal(state(), 'FAILED');
  assert.match(world.controller.status.service('svc1').failure!.lastError, /router r1 is not connected/);
  router = await world.router('r1');
  await router.route();
  await router.next('unroute');
  assert.equal(state(), 'DEPLOYED');
});

test('a share of an offline agent is FAILED at once, one of a connected agent may still bind', async () => {
  world.advance(20_000);
  await world.addService('svc2', 'env1');
  assert.equal(state('svc2'), 'FAILED');
  assert.match(world.controller.status.service('svc2').failure!.lastError, /offline/);
  router.send(ctrlMessages.connectEvents.frame({ events: [{ identityId: 'env1', isConnected: true }] }));
  await router.settle();
  await world.addService('svc3', 'env1');
  assert.equal(state('svc3'), 'PENDING');
  world.advance(FIRST_HOST_MS + 1);
  assert.equal(state('svc3'), 'FAILED');
});

test('real circuits count as probes: success puts the next one off, failure shows at once', async () => {
  await world.bind(router, 'env1', 'svc1', 'term1');
  await router.route();
  await router.next('unroute');
  world.advance(50_000);
  router.send(world.dialFrame('gw1', 'svc1'));
  await router.route();
  await router.frame(contentType.createCircuitV2Response);
  world.advance(50_000);
  await router.settle();
  assert.equal(router.waiting(contentType.route), 0);
  router.send(world.dialFrame('gw1', 'svc1'));
  await router.route(REFUSED);
  await router.route(REFUSED);
  await router.frame(contentType.error);
  assert.deepEqual([state(), world.controller.status.service('svc1').failure?.count], ['FAILED', 2]);
});

test('a host that takes no circuit at the moment says nothing about the share', async () => {
  await world.bind(router, 'env1', 'svc1', 'term1');
  await router.route();
  await router.next('unroute');
  router.send(world.dialFrame('gw1', 'svc1'));
  const full = { isSuccess: false, error: 'full', errorCode: RouteErrorCode.resourcesNotAvailable };
  await router.route(full);
  await router.route(full);
  await router.frame(contentType.error);
  assert.equal(state(), 'DEPLOYED');
  router.send(world.dialFrame('gw1', 'svc1'));
  await router.route();
  await router.frame(contentType.createCircuitV2Response);
});

test('a change of the share is probed; without traffic a probe follows each minute', async () => {
  await world.bind(router, 'env1', 'svc1', 'term1');
  await router.route();
  await router.next('unroute');
  world.model.setHostedService({ ...world.model.hostedService('svc1')!, updatedAtMs: 1 });
  await router.route();
  await router.next('unroute');
  world.advance(61_000);
  await router.route();
  await router.next('unroute');
  assert.equal(state(), 'DEPLOYED');
});

test('a probe without an answer fails after six seconds', async () => {
  await world.bind(router, 'env1', 'svc1', 'term1');
  const probe = ctrlMessages.route.decode((await router.frame(contentType.route)).body);
  world.advance(6_100);
  assert.equal(state(), 'FAILED');
  assert.equal((await router.next('unroute')).circuitId, probe.circuitId);
});

test('at most fifty probes leave in a second, and all shares get theirs', async () => {
  for (let i = 0; i < 120; i += 1) await world.addService(`many${i}`, 'env1');
  for (let i = 0; i < 120; i += 1) await world.bind(router, 'env1', `many${i}`, `t${i}`);
  await router.settle();
  assert.equal(router.waiting(contentType.route), 50);
  world.advance(1_000);
  await router.settle();
  assert.equal(router.waiting(contentType.route), 100);
  for (let i = 0; i < 100; i += 1) await router.route();
  world.advance(1_000);
  for (let i = 0; i < 20; i += 1) await router.route();
  await router.settle();
  for (let i = 0; i < 120; i += 1) assert.equal(state(`many${i}`), 'DEPLOYED');
});

test('hundreds of shares that change at once are logged in a bounded number of lines, with counts of the others', async () => {
  for (let i = 0; i < 300; i += 1) await world.addService(`many${i}`, 'env1');
  world.advance(1);
  world.logLines.length = 0;
  world.advance(FIRST_HOST_MS);
  world.advance(1);
  const lines = world.logLines.filter((line) => line.includes('share'));
  assert.equal(lines.filter((line) => line.includes('share failed')).length, MAX_LINES_PER_TICK);
  assert.equal(lines.length, MAX_LINES_PER_TICK + 1);
  assert.match(lines.at(-1)!, /251/);
  assert.equal(state('many299'), 'FAILED');
});

test('the machine: pauses grow to a bound, and only hosted shares are probed', () => {
  assert.deepEqual([1, 2, 3, 4, 5, 50].map(retryDelayMs), [
    1_000,
    2_000,
    4_000,
    MAX_RETRY_MS,
    MAX_RETRY_MS,
    MAX_RETRY_MS,
  ]);
  const run = (events: [ServiceEvent, number][]): ServiceStatusState => {
    let record: ServiceStatusState | undefined;
    for (const [event, nowMs] of events) record = stepService(record, event, nowMs);
    return record!;
  };
  const waiting = run([[{ type: 'known', isAgentConnected: true }, 0]]);
  assert.equal(isProbeDue(waiting, 1e9), false);
  assert.equal(stepService(waiting, { type: 'tick' }, FIRST_HOST_MS).state, 'FAILED');
  assert.equal(stepService(waiting, { type: 'changed' }, 5), waiting);
  const hosted = stepService(waiting, { type: 'hosted' }, 10);
  assert.equal(isProbeDue(hosted, 10), true);
  const away = stepService(
    stepService(hosted, { type: 'success' }, 20),
    { type: 'unhosted', reason: 'r' },
    30,
  );
  assert.equal(stepService(away, { type: 'tick' }, 29 + HOST_AWAY_MS).state, 'DEPLOYED');
  const failed = stepService(away, { type: 'tick' }, 30 + HOST_AWAY_MS);
  assert.deepEqual([failed.state, failed.lastError], ['FAILED', 'r']);
  assert.equal(stepService(failed, { type: 'tick' }, 1e9), failed);
  // The host of the circuit is there, although it is not stored yet.
  assert.equal(stepService(failed, { type: 'success' }, 1e9).isHosted, true);
  assert.equal(isProbeDue(stepService(hosted, { type: 'lost' }, 50), 50), false);
  assert.equal(isProbeDue(stepService(hosted, { type: 'lost' }, 50), 50 + MIN_RETRY_MS), true);
  assert.deepEqual([waiting, hosted, away, failed].map(isWaiting), [true, true, true, false]);
});
