// Service policies with posture checks: what the posture of a session permits, and what a change of it ends.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { SessionPosture } from '#domain/posture';
import { contentType } from '#wire';
import { decodeCircuitCreated, decodeEdgeRefusal, EdgeErrorCode } from '#wire/circuits';
import { OverlayWorld } from '../testing/overlay-world.ts';
import type { ScriptedRouter } from '../testing/scripted-router.ts';

const ALL_ROUTERS = { edgeRouterRoles: ['#all'], semantic: 'AnyOf' };
const WEB = { semantic: 'AnyOf', serviceRoles: ['@web'] };
const LINUX = {
  typeId: 'OS',
  roleAttributes: ['basic'],
  operatingSystems: [{ type: 'Linux', versions: [] }],
};

let world: OverlayWorld;
let router: ScriptedRouter;

beforeEach(async () => {
  world = await OverlayWorld.open();
  for (const id of ['host', 'dialer', 'other']) {
    await world.addIdentity(id, 'edge');
    await world.setEntity('identity', id, {});
  }
  await world.setEntity('posture-check', 'linux', LINUX);
  await world.setEntity('service', 'web', { encryptionRequired: true, configs: [] });
  await world.setEntity('service-policy', 'hosting', { ...WEB, type: 'Bind', identityRoles: ['@host'] });
  await dialPolicy(['#basic']);
  await world.setEntity('edge-router-policy', 'all', { ...ALL_ROUTERS, identityRoles: ['#all'] });
  await world.setEntity('service-edge-router-policy', 'all-services', {
    ...ALL_ROUTERS,
    serviceRoles: ['#all'],
  });
  await world.start();
  router = await world.router('r1');
  await world.bind(router, 'host', 'web', 't1');
});
afterEach(() => world.close());

async function dialPolicy(postureCheckRoles: readonly string[], name = 'dialing'): Promise<void> {
  const data = { ...WEB, type: 'Dial', identityRoles: ['#all'], postureCheckRoles };
  await world.setEntity('service-policy', name, data);
}

function report(identityId: string, type: string, mfaAtMs?: number): void {
  const posture = new SessionPosture(true);
  const responses = [{ type: { case: 'os' as const, value: { type, version: '1.0.0' } } }];
  assert.equal(posture.report({ responses }, world.clock.nowMs()), undefined);
  if (mfaAtMs !== undefined) posture.onMfaPassed(mfaAtMs);
  world.sessions.setPosture(`token-${identityId}`, posture);
}

async function refused(identityId = 'dialer'): Promise<void> {
  router.send(world.dialFrame(identityId, 'web'));
  const { code } = decodeEdgeRefusal(await router.frame(contentType.error));
  assert.equal(code, EdgeErrorCode.invalidSession);
}

async function dialed(identityId = 'dialer'): Promise<void> {
  router.send(world.dialFrame(identityId, 'web'));
  await router.route();
  decodeCircuitCreated(await router.frame(contentType.createCircuitV2Response));
}

test('a session dials once its own device passes; the report of another session helps nobody else', async () => {
  await refused();
  report('other', 'Linux');
  await refused();
  await dialed('other');
  report('dialer', 'Windows');
  await refused();
  report('dialer', 'Linux');
  await dialed();
});

test('a report, a check and a policy that change end the circuits that no longer pass, and no other', async () => {
  for (const id of ['dialer', 'other']) {
    report(id, 'Linux');
    await dialed(id);
  }
  report('dialer', 'Windows');
  await router.next('unroute');
  assert.equal(world.controller.circuitCount, 1);
  const windows = { ...LINUX, operatingSystems: [{ type: 'Windows', versions: [] }] };
  await world.setEntity('posture-check', 'linux', windows);
  await router.next('unroute');
  assert.equal(world.controller.circuitCount, 0);
  await dialed();
  // Has the attribute that the policy demands.
  await world.setEntity('posture-check', 'later', LINUX);
  await router.next('unroute');
  assert.equal(world.controller.circuitCount, 0);
  await dialPolicy([], 'without checks');
  await dialed();
});

test('a one-time password that is too old ends circuits without any other change', async () => {
  await world.setEntity('posture-check', 'code', { typeId: 'MFA', timeoutSeconds: 600 });
  await dialPolicy(['@code']);
  await refused();
  report('dialer', 'Linux', world.clock.nowMs());
  await dialed();
  world.advance(599_000);
  await router.settle();
  assert.equal(world.controller.circuitCount, 1);
  world.advance(5_000);
  await router.next('unroute');
  assert.equal(world.controller.circuitCount, 0);
  await refused();
});

test('a host whose device no longer passes loses its terminator', async () => {
  const hosting = { ...WEB, type: 'Bind', identityRoles: ['@host'], postureCheckRoles: ['@linux'] };
  report('host', 'Linux');
  await world.setEntity('service-policy', 'hosting', hosting);
  const rows = () => world.store.db.selectFrom('terminator').select('id').execute();
  await router.settle();
  assert.equal((await rows()).length, 1);
  report('host', 'Windows');
  await router.settle();
  assert.deepEqual(await rows(), []);
  assert.match(JSON.stringify(await world.bind(router, 'host', 'web', 't2')), /Invalid Session/);
});
