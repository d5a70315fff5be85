// Routers with a tunnel listener: what their own identity dials and hosts, and what a change of policies ends.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { textOf, utf8 } from '#base';
import { contentType, headerId, makeFrame } from '#wire';
import { decodeEdgeRefusal, EdgeErrorCode, peerDataOfEntries } from '#wire/circuits';
import {
  CreateTerminatorResult,
  ctrlMessages,
  DataState_Action,
  TerminatorPrecedence,
  type CtrlBody,
  type CtrlInit,
} from '#wire/ctrl';
import { OverlayWorld } from '../testing/overlay-world.ts';
import type { ScriptedRouter } from '../testing/scripted-router.ts';

const { publicKey, callerId, dialerIdentityId } = headerId.peerData;
const WEB = { encryptionRequired: true, roleAttributes: [], configs: [] };
const OF_TUNNELS = { semantic: 'AnyOf', serviceRoles: ['@web'], identityRoles: ['#tunnels'] };

let world: OverlayWorld;
let router: ScriptedRouter;

beforeEach(async () => {
  world = await OverlayWorld.open();
  await world.identityOf('r1');
  await setTunneler(true);
  await world.setEntity('service', 'web', WEB);
  await world.setEntity('service-policy', 'hosting', { ...OF_TUNNELS, type: 'Bind' });
  await world.setEntity('service-policy', 'dialing', { ...OF_TUNNELS, type: 'Dial' });
  const everywhere = { semantic: 'AnyOf', edgeRouterRoles: ['#all'], serviceRoles: ['#all'] };
  await world.setEntity('service-edge-router-policy', 'all-services', everywhere);
  await world.start();
  router = await world.router('r1');
});
afterEach(() => world.close());

async function setTunneler(isTunnelerEnabled: boolean, ...more: readonly string[]): Promise<void> {
  const roleAttributes = ['tunnels', ...more];
  await world.setEntity('edge-router', 'r1', {
    isTunnelerEnabled,
    roleAttributes,
    appData: { city: 'Bern' },
  });
}

async function host(of: ScriptedRouter, address: string, more: CtrlInit<'createTunnelTerminatorV2'> = {}) {
  const peerData = [{ key: publicKey, value: Uint8Array.of(9) }];
  const request = { serviceId: 'web', address, peerData, startTime: 77n, ...more };
  of.send(ctrlMessages.createTunnelTerminatorV2.frame(request));
  return of.next('createTunnelTerminatorV2Response');
}

function dial(of: ScriptedRouter, more: CtrlInit<'createTunnelCircuitV2'> = {}): void {
  const peerData = [
    { key: publicKey, value: Uint8Array.of(7) },
    { key: callerId, value: utf8('someone else') },
  ];
  of.send(ctrlMessages.createTunnelCircuitV2.frame({ serviceName: 'web', peerData, ...more }));
}

async function refusalOf(of: ScriptedRouter): Promise<number> {
  return decodeEdgeRefusal(await of.frame(contentType.error)).code;
}

function rows() {
  return world.store.db.selectFrom('terminator').selectAll().execute();
}

test('a router hosts and dials a service as its own identity, and cannot claim to be another', async () => {
  const made = await host(router, 't1', { cost: 5 });
  assert.deepEqual(
    [made.result, made.terminatorId, made.startTime],
    [CreateTerminatorResult.SUCCESS, 't1', 77n],
  );
  const [row] = await rows();
  assert.deepEqual([row?.binding, row?.identity_id, row?.cost], ['tunnel', 'r1', 5]);
  dial(router);
  const { egress } = await router.route({ peerData: new Map([[publicKey, Uint8Array.of(9)]]) });
  assert.deepEqual([egress?.binding, egress?.destination], ['tunnel', 't1']);
  const peerData = peerDataOfEntries(egress!.peerData);
  assert.equal(textOf(peerData.get(callerId)!), 'name-r1');
  assert.equal(textOf(peerData.get(dialerIdentityId)!), 'r1');
  const granted = await router.next('createTunnelCircuitV2Response');
  assert.deepEqual([...peerDataOfEntries(granted.peerData).get(publicKey)!], [9]);
  assert.deepEqual([granted.tags['clientId'], granted.tags['hostId']], ['r1', 'r1']);
  assert.equal(world.controller.circuitCount, 1);
});

test('cost and precedence of a hosted terminator change, and only its own router changes or removes it', async () => {
  await host(router, 't1');
  const other = await world.router('r2');
  const { REQUIRED: precedence } = TerminatorPrecedence;
  const flags = { updateCost: true, updatePrecedence: true };
  const change = { terminatorId: 't1', cost: 9, precedence, ...flags };
  other.send(ctrlMessages.updateTunnelTerminator.frame(change));
  assert.equal(await refusalOf(other), EdgeErrorCode.invalidTerminator);
  other.send(makeFrame(contentType.removeTunnelTerminator, { body: utf8('t1') }));
  await other.frame(contentType.removeTunnelTerminatorResponse);
  router.send(ctrlMessages.updateTunnelTerminator.frame(change));
  await router.frame(contentType.updateTunnelTerminatorResponse);
  assert.deepEqual(
    (await rows()).map(({ cost, precedence }) => [cost, precedence]),
    [[9, 1]],
  );
  router.send(makeFrame(contentType.removeTunnelTerminator, { body: utf8('t1') }));
  await router.frame(contentType.removeTunnelTerminatorResponse);
  assert.deepEqual(await rows(), []);
});

test('a router without a tunneler, a policy or a service is refused, and so are dials of a share and without a key', async () => {
  await world.addIdentity('env', 'environment');
  await world.addService('shared', 'env');
  await host(router, 't1');
  for (const [serviceName, code] of [
    ['share-shared', EdgeErrorCode.invalidService],
    ['nowhere', EdgeErrorCode.invalidService],
  ] as const) {
    dial(router, { serviceName });
    assert.equal(await refusalOf(router), code);
  }
  assert.equal((await host(router, 't2', { serviceId: 'shared' })).errorCode, EdgeErrorCode.invalidService);
  dial(router, { peerData: [] });
  assert.equal(await refusalOf(router), EdgeErrorCode.encryptionDataMissing);
  const plain = await world.router('r2');
  dial(plain);
  assert.equal(await refusalOf(plain), EdgeErrorCode.tunnelingNotEnabled);
  assert.equal((await host(plain, 't3')).errorCode, EdgeErrorCode.tunnelingNotEnabled);
  await world.setEntity('service-edge-router-policy', 'all-services', {
    edgeRouterRoles: [],
    serviceRoles: ['#all'],
  });
  dial(router);
  assert.equal(await refusalOf(router), EdgeErrorCode.invalidEdgeRouterForSession);
});

test('a private share that is granted to a router is dialed while the router is for its organization', async () => {
  await world.addIdentity('env', 'environment');
  await world.addService('shared', 'env', { openTo: 'grants', grants: ['r1'] });
  await world.bind(router, 'env', 'shared', 't9');
  await router.route();
  await router.next('unroute');
  const isRefused = async (): Promise<void> => {
    dial(router, { serviceName: 'share-shared' });
    assert.equal(await refusalOf(router), EdgeErrorCode.invalidService);
  };
  await isRefused();
  await setTunneler(true, 'fd');
  dial(router, { serviceName: 'share-shared' });
  const { egress } = await router.route();
  assert.deepEqual([egress?.destination, ...peerDataOfEntries(egress!.peerData).get(publicKey)!], ['t9', 7]);
  const granted = await router.next('createTunnelCircuitV2Response');
  assert.deepEqual([...peerDataOfEntries(granted.peerData).get(publicKey)!], [9]);
  dial(router, { serviceName: 'share-shared', peerData: [] });
  assert.equal(await refusalOf(router), EdgeErrorCode.encryptionDataMissing);
  // A service of this name, which the router may not dial, comes first.
  await world.setEntity('service', 'share-shared', WEB);
  await isRefused();
  world.model.removeEdgeEntity('share-shared');
  await setTunneler(true);
  await router.next('unroute');
  assert.equal(world.controller.circuitCount, 0);
  await isRefused();
});

test('a router that may tunnel again gets its grants again with its identity', async () => {
  await world.addIdentity('env', 'environment');
  await world.addService('shared', 'env', { openTo: 'grants', grants: ['r1'] });
  await setTunneler(false, 'fd');
  const subscription = { subscriptionId: 'one', subscriptionDurationSeconds: 300 };
  router.send(ctrlMessages.subscribeToDataModel.frame(subscription));
  await router.next('dataState');
  await setTunneler(true, 'fd');
  // Changes of entities wait while the last projection was recent, by the time of the machine.
  const ticks = setInterval(() => world.advance(1_000), 50);
  const isGrant = ({ model }: CtrlBody<'dataStateChangeSet'>['changes'][number]): boolean =>
    model.case === 'servicePolicyChange' &&
    model.value.policyId === 'shared.dial' &&
    model.value.relatedEntityIds.includes('r1');
  try {
    for (;;) {
      const { changes } = await router.next('dataStateChangeSet');
      if (changes.some(isGrant)) return;
    }
  } finally {
    clearInterval(ticks);
  }
});

test('a lost policy ends circuits and terminators, and so does the end of the tunneler', async () => {
  await host(router, 't1');
  dial(router);
  await router.route();
  await router.next('createTunnelCircuitV2Response');
  world.model.removeEdgeEntity('dialing');
  await router.next('unroute');
  assert.equal(world.controller.circuitCount, 0);
  assert.equal((await rows()).length, 1);
  await setTunneler(false);
  await router.settle();
  assert.deepEqual(await rows(), []);
});

test('terminators of tunnels are there again after a restart, and validated with their binding', async () => {
  await host(router, 't1');
  await world.controller.close();
  await world.start();
  router = await world.router('r1');
  const { terminators } = await router.next('validateTerminatorsV2');
  assert.deepEqual(
    terminators.map(({ id, binding }) => [id, binding]),
    [['t1', 'tunnel']],
  );
  dial(router);
  await router.route();
  await router.next('createTunnelCircuitV2Response');
});

test('the data model has the identity of a router while it may tunnel', async () => {
  const subscription = { subscriptionId: 'one', subscriptionDurationSeconds: 300 };
  router.send(ctrlMessages.subscribeToDataModel.frame(subscription));
  const { events } = await router.next('dataState');
  const identity = events.flatMap(({ model }) => (model.case === 'identity' ? model.value : []));
  assert.deepEqual(
    identity.map(({ id, name, appDataJson }) => [id, name, textOf(appDataJson)]),
    [['r1', 'r1', '{"city":"Bern"}']],
  );
  const related = events.flatMap(({ model }) =>
    model.case === 'servicePolicyChange' && model.value.relatedEntityIds.includes('r1')
      ? model.value.policyId
      : [],
  );
  assert.deepEqual(related.sort(), ['dialing', 'hosting']);
  await setTunneler(false);
  world.advance(60_000);
  const { changes } = await router.next('dataStateChangeSet').then(async (first) => {
    return first.isSynthetic ? router.next('dataStateChangeSet') : first;
  });
  const removed = changes.find(
    ({ action, model }) => action === DataState_Action.DELETE && model.case === 'identity',
  );
  assert.ok(removed);
});
