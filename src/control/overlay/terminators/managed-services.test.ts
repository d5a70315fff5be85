// Services of the edge management API: who dials and hosts them, through which routers, and what a change ends.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { contentType } from '#wire';
import { decodeCircuitCreated, decodeEdgeRefusal, EdgeErrorCode } from '#wire/circuits';
import { OverlayWorld } from '../testing/overlay-world.ts';
import type { ScriptedRouter } from '../testing/scripted-router.ts';

const ALL_ROUTERS = { edgeRouterRoles: ['#all'], semantic: 'AnyOf' };

let world: OverlayWorld;
let router: ScriptedRouter;

beforeEach(async () => {
  world = await OverlayWorld.open();
  for (const id of ['host', 'dialer']) {
    await world.addIdentity(id, 'edge');
    await world.setEntity('identity', id, { roleAttributes: [id] });
  }
  await world.setEntity('service', 'web', { encryptionRequired: true, roleAttributes: [], configs: [] });
  const web = { semantic: 'AnyOf', serviceRoles: ['@web'] };
  await world.setEntity('service-policy', 'hosting', { ...web, type: 'Bind', identityRoles: ['#host'] });
  await world.setEntity('service-policy', 'dialing', { ...web, type: 'Dial', identityRoles: ['#dialer'] });
  await world.setEntity('edge-router-policy', 'all', { ...ALL_ROUTERS, identityRoles: ['#all'] });
  await world.setEntity('service-edge-router-policy', 'all-services', {
    ...ALL_ROUTERS,
    serviceRoles: ['#all'],
  });
  await world.start();
  router = await world.router('r1');
});
afterEach(() => world.close());

async function refused(hasKey = true): Promise<number> {
  router.send(world.dialFrame('dialer', 'web', { hasKey }));
  return decodeEdgeRefusal(await router.frame(contentType.error)).code;
}

async function dialed(): Promise<void> {
  router.send(world.dialFrame('dialer', 'web'));
  await router.route();
  decodeCircuitCreated(await router.frame(contentType.createCircuitV2Response));
}

test('a policy lets an identity host and another dial; the end of each ends what it permitted', async () => {
  await world.bind(router, 'host', 'web', 't1');
  await dialed();
  assert.equal(world.controller.circuitCount, 1);
  await world.setEntity('service-policy', 'dialing', { type: 'Dial', identityRoles: [], serviceRoles: [] });
  await router.next('unroute');
  assert.equal(world.controller.circuitCount, 0);
  assert.equal(await refused(), EdgeErrorCode.invalidSession);
  world.model.removeEdgeEntity('hosting');
  const rows = () => world.store.db.selectFrom('terminator').select('id').execute();
  assert.equal((await rows()).length, 1);
  await router.settle();
  assert.deepEqual(await rows(), []);
});

test('a router that no policy permits neither carries dials nor hosts', async () => {
  await world.bind(router, 'host', 'web', 't1');
  await world.setEntity('edge-router-policy', 'all', { ...ALL_ROUTERS, identityRoles: ['#host'] });
  assert.equal(await refused(), EdgeErrorCode.invalidSession);
  await world.setEntity('edge-router-policy', 'all', { edgeRouterRoles: ['@r1'], identityRoles: ['#all'] });
  await dialed();
  await world.setEntity('service-edge-router-policy', 'all-services', {
    edgeRouterRoles: ['#fast'],
    serviceRoles: ['#all'],
  });
  await router.next('unroute');
  const answer = await world.bind(router, 'host', 'web', 't2');
  assert.match(JSON.stringify(answer), /Invalid Session/);
});

test('a service that requires encryption refuses dials without a key from the first moment', async () => {
  await world.bind(router, 'host', 'web', 't1');
  assert.equal(await refused(false), EdgeErrorCode.encryptionDataMissing);
  await world.setEntity('service', 'web', { encryptionRequired: false, roleAttributes: [], configs: [] });
  await world.bind(router, 'host', 'web', 't2', false);
  router.send(world.dialFrame('dialer', 'web', { hasKey: false }));
  await router.route();
});

test('terminators are there again after a restart', async () => {
  await world.bind(router, 'host', 'web', 't1');
  await world.controller.close();
  await world.start();
  router = await world.router('r1');
  await dialed();
});

test('addresses that an administrator set are dialed by cost beside hosts, and outlive policies', async () => {
  await world.setEntity('service', 'web', { encryptionRequired: false, roleAttributes: [], configs: [] });
  const placed = {
    id: 'p1',
    serviceId: 'web',
    routerId: 'r1',
    binding: 'transport',
    address: 'tcp:127.0.0.1:80',
    instanceId: '',
    cost: 100,
    precedence: 0,
    peerData: new Map<number, Uint8Array>(),
  };
  world.model.setFabricTerminator(placed);
  await world.bind(router, 'host', 'web', 't1', false);
  const egressOfDial = async () => {
    router.send(world.dialFrame('dialer', 'web', { hasKey: false }));
    const { egress } = await router.route();
    decodeCircuitCreated(await router.frame(contentType.createCircuitV2Response));
    return [egress?.binding, egress?.destination];
  };
  assert.deepEqual(await egressOfDial(), ['edge', 't1']);
  world.model.setFabricTerminator({ ...placed, precedence: 1 });
  assert.deepEqual(await egressOfDial(), ['transport', 'tcp:127.0.0.1:80']);
  world.model.removeEdgeEntity('hosting');
  await router.settle();
  const listed = world.controller.fabric.terminators().map(({ id, kind }) => [id, kind]);
  assert.deepEqual(listed, [['p1', 'edge']]);
  world.model.removeFabricTerminator('p1');
  assert.equal(await refused(false), EdgeErrorCode.invalidTerminator);
});

test('cost and precedence that an administrator sets for a host count at once; deleted, it is no longer dialed', async () => {
  await world.bind(router, 'host', 'web', 't1');
  await world.bind(router, 'host', 'web', 't2');
  const { store } = world;
  await store.transaction(async (trx, touch) => {
    await trx.updateTable('terminator').set({ precedence: 1 }).where('id', '=', 't2').execute();
    touch('terminator', 't2');
  });
  router.send(world.dialFrame('dialer', 'web'));
  assert.equal((await router.route()).egress?.destination, 't2');
  decodeCircuitCreated(await router.frame(contentType.createCircuitV2Response));
  await store.transaction(async (trx, touch) => {
    await trx.deleteFrom('terminator').execute();
    for (const id of ['t1', 't2']) touch('terminator', id);
  });
  assert.equal(await refused(), EdgeErrorCode.invalidTerminator);
});
