import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { contentType, headerId } from '#wire';
import { ctrlMessages, DataState_Action, type CtrlBody, type CtrlInit } from '#wire/ctrl';
import { until } from '../../../../test/support/deadline.ts';
import type { ServiceEndpoint } from '../model/service.ts';
import { OverlayWorld } from '../testing/overlay-world.ts';
import type { ScriptedRouter } from '../testing/scripted-router.ts';

let world: OverlayWorld;

beforeEach(async () => {
  world = await OverlayWorld.open();
  await world.addIdentity('env1', 'environment');
  await world.addIdentity('env2', 'environment');
  await world.addIdentity('gw1', 'gateway');
});

afterEach(() => world.close());

type Events = CtrlBody<'dataState'>['events'];

function subscribe(router: ScriptedRouter, request: CtrlInit<'subscribeToDataModel'>): void {
  const subscriptionDurationSeconds = 300;
  router.send(ctrlMessages.subscribeToDataModel.frame({ subscriptionDurationSeconds, ...request }));
}

/** Connects a router and takes the keys, which it gets without a subscription. */
async function routerOf(id: string): Promise<ScriptedRouter> {
  const router = await world.router(id);
  await router.next('dataStateChangeSet');
  return router;
}

/** Takes all parts of a state. */
async function wholeState(router: ScriptedRouter) {
  const first = await router.frame(contentType.dataState);
  const { events, endIndex, timelineId } = ctrlMessages.dataState.decode(first.body);
  let largest = first.body.length;
  let isContinued = first.headers.bool(headerId.dataModel.isContinued);
  let parts = 1;
  while (isContinued) {
    const frame = await router.frame(contentType.dataStateChangeSet);
    const part = ctrlMessages.dataStateChangeSet.decode(frame.body);
    assert.ok(frame.headers.has(headerId.dataModel.isContinued) && part.isSynthetic);
    events.push(...part.changes);
    largest = Math.max(largest, frame.body.length);
    isContinued = frame.headers.bool(headerId.dataModel.isContinued);
    parts += 1;
  }
  return { events, endIndex, timelineId, parts, largest, first };
}

/** Who may host and dial each service, as a router understands the events. */
function permissionsOf(events: Events): Record<string, string[]> {
  const policies = new Map<string, { type: string; service: Set<string>; identity: Set<string> }>();
  const identities = new Set<string>();
  const services = new Set<string>();
  for (const { action, model } of events) {
    const isDeletion = action === DataState_Action.DELETE;
    if (model.case === 'identity') identities[isDeletion ? 'delete' : 'add'](model.value.id);
    if (model.case === 'service') {
      services[isDeletion ? 'delete' : 'add'](model.value.id);
      if (isDeletion) for (const { service } of policies.values()) service.delete(model.value.id);
    }
    if (model.case === 'servicePolicy') {
      const { id, policyType } = model.value;
      if (isDeletion) policies.delete(id);
      else if (!policies.has(id))
        policies.set(id, {
          type: policyType === 1 ? 'dials' : 'hosts',
          service: new Set(),
          identity: new Set(),
        });
    }
    if (model.case === 'servicePolicyChange') {
      const { policyId, relatedEntityIds, relatedEntityType, add } = model.value;
      const related = policies.get(policyId)![relatedEntityType === 1 ? 'service' : 'identity'];
      for (const id of relatedEntityIds) related[add ? 'add' : 'delete'](id);
    }
  }
  const found: Record<string, string[]> = Object.fromEntries([...services].map((id) => [id, []]));
  for (const { type, service, identity } of policies.values())
    for (const id of service)
      for (const who of identity) if (identities.has(who)) found[id]?.push(`${who} ${type}`);
  for (const list of Object.values(found)) list.sort();
  return found;
}

test('a subscriber gets a full state, and of a new share its entities only', async () => {
  await world.addService('svc1', 'env1');
  await world.start();
  const router = await routerOf('r1');
  subscribe(router, { subscriptionId: 'sub1' });
  const state = await wholeState(router);
  assert.equal(state.first.headers.text(headerId.dataModel.subscriptionId), 'sub1');
  const cases = [...new Set(state.events.map(({ model }) => model.case))];
  assert.deepEqual(cases, [
    'configType',
    'config',
    'identity',
    'service',
    'servicePolicy',
    'servicePolicyChange',
    'publicKey',
  ]);
  assert.deepEqual(permissionsOf(state.events), { svc1: ['env1 hosts', 'gw1 dials'] });
  await world.addService('svc2', 'env1');
  const frame = await router.frame(contentType.dataStateChangeSet);
  const set = ctrlMessages.dataStateChangeSet.decode(frame.body);
  assert.deepEqual([set.previousIndex, set.index], [state.endIndex, state.endIndex + 1n]);
  assert.equal(frame.headers.text(headerId.dataModel.subscriptionId), 'sub1');
  assert.deepEqual(
    set.changes.map(({ model }) => model.case),
    ['config', 'service', 'servicePolicyChange', 'servicePolicyChange'],
  );
});

test('a full state waits for the changes of other control planes, and has them', async () => {
  await world.addService('svc1', 'env1');
  const stored = Promise.withResolvers<void>();
  await world.start({ store: { ...world.store, caughtUp: () => stored.promise } });
  const router = await routerOf('r1');
  subscribe(router, { timelineId: 'of another control plane', currentIndex: 7n });
  await router.settle();
  await world.addService('svc2', 'env1');
  stored.resolve();
  const { events } = await wholeState(router);
  assert.deepEqual(Object.keys(permissionsOf(events)).sort(), ['svc1', 'svc2']);
});

test('change sets lead to the permissions that a full state has, for each kind of change', async () => {
  await world.addService('svc1', 'env1');
  await world.start();
  const router = await routerOf('r1');
  subscribe(router, { subscriptionId: 'sub1' });
  const { events, endIndex } = await wholeState(router);
  let index = endIndex;
  const step = async (change: () => void | Promise<void>): Promise<Record<string, string[]>> => {
    await change();
    const set = await router.next('dataStateChangeSet');
    assert.equal(set.previousIndex, index);
    index = set.index;
    events.push(...set.changes);
    const other = await routerOf(`r${index}`);
    subscribe(other, { subscriptionId: 'other' });
    const whole = permissionsOf((await wholeState(other)).events);
    other.channel.close('done');
    assert.deepEqual(permissionsOf(events), whole);
    return whole;
  };
  const service = world.model.hostedService('svc1')!;
  const change = (more: Partial<typeof service>) =>
    step(() => world.model.setHostedService({ ...service, ...more }));
  const grants = ['env1', 'env2'];
  assert.deepEqual(await change({ openTo: 'grants', grants }), {
    svc1: ['env1 dials', 'env1 hosts', 'env2 dials'],
  });
  assert.deepEqual(await change({ openTo: 'grants', grants: ['env2'] }), {
    svc1: ['env1 hosts', 'env2 dials'],
  });
  assert.deepEqual(await change({ openTo: 'grants', grants: [] }), { svc1: ['env1 hosts'] });
  assert.deepEqual(await change({}), { svc1: ['env1 hosts', 'gw1 dials'] });
  assert.deepEqual(await change({ hostId: 'env2' }), { svc1: ['env2 hosts', 'gw1 dials'] });
  assert.deepEqual(await step(() => world.addIdentity('gw2', 'gateway')), {
    svc1: ['env2 hosts', 'gw1 dials', 'gw2 dials'],
  });
  assert.deepEqual(await step(() => world.model.removeIdentity('gw1')), {
    svc1: ['env2 hosts', 'gw2 dials'],
  });
  assert.deepEqual(await step(() => world.model.removeHostedService('svc1')), {});
});

/** The addresses at which a router intercepts each share, as it understands the events. */
function interceptionsOf(events: Events): Record<string, string[]> {
  const configs = new Map<string, string>();
  const services = new Map<string, readonly string[]>();
  for (const { action, model } of events) {
    const isDeletion = action === DataState_Action.DELETE;
    if (model.case === 'config' && (isDeletion || model.value.typeId === 'intercept.v1')) {
      if (isDeletion) configs.delete(model.value.id);
      else configs.set(model.value.id, model.value.dataJson);
    }
    if (model.case === 'service') services.set(model.value.id, isDeletion ? [] : model.value.configs);
  }
  const found: Record<string, string[]> = {};
  for (const [service, ids] of services)
    for (const id of ids) {
      const json = configs.get(id);
      if (json !== undefined) (found[service] ??= []).push(json);
    }
  assert.ok(configs.size <= Object.keys(found).length, 'no config without a service');
  return found;
}

test('a router intercepts private shares that are granted to routers, and no others', async () => {
  await world.addService('public', 'env1');
  await world.addService('ofEnvironment', 'env1', { openTo: 'grants', grants: ['env2'] });
  await world.addService('web', 'env1', { openTo: 'grants', grants: ['env2'] });
  await world.start({ access: { interceptDomain: 'ziti' } });
  const router = await routerOf('r1');
  subscribe(router, { subscriptionId: 'sub1' });
  const { events } = await wholeState(router);
  const addressOf = (name: string, port: number, protocol = 'tcp'): string =>
    JSON.stringify({
      protocols: [protocol],
      addresses: [`${name}.ziti`],
      portRanges: [{ low: port, high: port }],
    });
  const web = world.model.hostedService('web')!;
  const step = async (more: Partial<typeof web>, expected: Record<string, string[]>): Promise<void> => {
    world.model.setHostedService({ ...web, ...more });
    events.push(...(await router.next('dataStateChangeSet')).changes);
    const other = await routerOf(`other${events.length}`);
    subscribe(other, { subscriptionId: 'other' });
    const whole = await wholeState(other);
    other.channel.close('done');
    for (const each of [events, whole.events]) assert.deepEqual(interceptionsOf(each), expected);
  };
  assert.deepEqual(interceptionsOf(events), {});
  const grants = ['env2', 'r1'];
  await step({ grants }, { web: [addressOf('share-web', 80)] });
  const endpoint = (protocol: 'tcp' | 'udp', clientPort: number) => ({
    endpoint: { protocol, clientPort, server: { address: '127.0.0.1', port: 8443 } },
  });
  await step({ grants, ...endpoint('tcp', 443) }, { web: [addressOf('share-web', 443)] });
  await step({ grants, ...endpoint('tcp', 5432) }, { web: [addressOf('share-web', 5432)] });
  await step({ grants, ...endpoint('udp', 53) }, { web: [addressOf('share-web', 53, 'udp')] });
  await step({ grants, name: 'reports' }, { web: [addressOf('reports', 80)] });
  await step({ grants, openTo: 'gateways' }, {});
  await step({ grants }, { web: [addressOf('share-web', 80)] });
  await step({ grants: ['env2'] }, {});
  await step({ grants }, { web: [addressOf('share-web', 80)] });
  world.model.removeHostedService('web');
  events.push(...(await router.next('dataStateChangeSet')).changes);
  assert.deepEqual(interceptionsOf(events), {});
});

test('a router intercepts no share of an installation without a domain for them', async () => {
  await world.start();
  const router = await routerOf('r1');
  await world.addService('web', 'env1', { openTo: 'grants', grants: ['r1'] });
  subscribe(router, { subscriptionId: 'sub1' });
  assert.deepEqual(interceptionsOf((await wholeState(router)).events), {});
});

test('a router that comes back gets what it missed; one of another timeline or an unknown index, a state', async () => {
  await world.start();
  const router = await routerOf('r1');
  subscribe(router, { subscriptionId: 'sub1' });
  const { endIndex, timelineId } = await wholeState(router);
  await world.addService('svc1', 'env1');
  const { index } = await router.next('dataStateChangeSet');
  subscribe(router, { subscriptionId: 'sub2', currentIndex: endIndex, timelineId });
  const again = await router.frame(contentType.dataStateChangeSet);
  assert.equal(again.headers.text(headerId.dataModel.subscriptionId), 'sub2');
  assert.equal(ctrlMessages.dataStateChangeSet.decode(again.body).index, index);
  subscribe(router, { subscriptionId: 'sub3', currentIndex: index, timelineId });
  await router.settle();
  assert.equal(router.waiting(contentType.dataState) + router.waiting(contentType.dataStateChangeSet), 0);
  for (const request of [
    { currentIndex: index, timelineId: 'of another control plane' },
    { currentIndex: index + 5n, timelineId },
    { currentIndex: 0n, timelineId },
  ]) {
    subscribe(router, { subscriptionId: 'sub4', ...request });
    assert.equal((await wholeState(router)).endIndex, index);
  }
});

function endpointAt(address: string): ServiceEndpoint {
  return { protocol: 'tcp', clientPort: 80, server: { address, port: 3000 } };
}

test('a large state comes in parts, and what changes in the meantime after it', async () => {
  await world.addService('svc0', 'env1');
  const service = world.model.hostedService('svc0')!;
  for (let n = 1; n < 3_000; n += 1)
    world.model.setHostedService({
      ...service,
      id: `svc${n}`,
      name: `share${n}`,
      endpoint: endpointAt(`host${n}`),
    });
  await world.start();
  const router = await routerOf('r1');
  subscribe(router, { subscriptionId: 'sub1' });
  await router.settle();
  world.model.removeHostedService('svc0');
  world.model.setHostedService({ ...service, id: 'late', name: 'late' });
  const { events, parts, largest, endIndex } = await wholeState(router);
  assert.ok(parts > 10 && largest < 128 << 10, `${parts} parts of at most ${largest} bytes`);
  const sets = await router.next('dataStateChangeSet');
  assert.ok(sets.index > endIndex);
  const permissions = permissionsOf([...events, ...sets.changes]);
  assert.equal(Object.keys(permissions).length, 3_000);
  assert.deepEqual(permissions['late'], ['env1 hosts', 'gw1 dials']);
  assert.equal(permissions['svc0'], undefined);
});

test('the current index is announced every 30 s if it has advanced', async () => {
  await world.start();
  const router = await routerOf('r1');
  subscribe(router, { subscriptionId: 'sub1' });
  const { endIndex } = await wholeState(router);
  world.advance(31_000);
  await router.settle();
  assert.equal(router.waiting(contentType.currentIndex), 0);
  await world.addService('svc1', 'env1');
  await router.next('dataStateChangeSet');
  world.advance(31_000);
  const frame = await router.frame(contentType.currentIndex);
  assert.equal(frame.headers.u64(headerId.dataModel.index), endIndex + 1n);
});

test('of entities of the edge management API, subscribers get what changed', async () => {
  const times = { tags: {}, createdAtMs: 1, updatedAtMs: 1 };
  const web = {
    id: 'web',
    kind: 'service',
    name: 'web',
    data: { roleAttributes: ['http'] },
    ...times,
  } as const;
  const data = { type: 'Dial', semantic: 'AnyOf', identityRoles: ['@env1'], serviceRoles: ['#http'] };
  await world.start();
  const router = await routerOf('r1');
  subscribe(router, { subscriptionId: 'sub1' });
  const { events } = await wholeState(router);
  const env1 = { id: 'env1', kind: 'identity', name: 'env1', data: {}, ...times } as const;
  world.model.setEdgeEntity(env1);
  world.model.setEdgeEntity(web);
  world.model.setEdgeEntity({ id: 'p', kind: 'service-policy', name: 'p', data, ...times });
  world.advance(250);
  events.push(...(await router.next('dataStateChangeSet')).changes);
  assert.deepEqual(permissionsOf(events), { web: ['env1 dials'] });
  world.model.setEdgeEntity({ ...web, data: {} });
  await until(
    'the change set',
    () => {
      world.advance(250);
      return router.settle();
    },
    () => router.waiting(contentType.dataStateChangeSet) > 0,
  );
  const { changes } = await router.next('dataStateChangeSet');
  assert.deepEqual(
    changes.map(({ model }) => model.case),
    ['servicePolicyChange'],
  );
  events.push(...changes);
  assert.deepEqual(permissionsOf(events), { web: [] });
});

test('posture checks are in states and change sets, with the policies that demand them', async () => {
  const times = { name: 'n', tags: {}, createdAtMs: 1, updatedAtMs: 1 };
  const check = (id: string, data: Record<string, unknown>) =>
    world.model.setEdgeEntity({ id, kind: 'posture-check', data, ...times });
  const policy = (postureCheckRoles: string[]) => {
    const data = { type: 'Dial', semantic: 'AllOf', identityRoles: [], serviceRoles: [], postureCheckRoles };
    world.model.setEdgeEntity({ id: 'p', kind: 'service-policy', data, ...times });
  };
  check('os', { typeId: 'OS', operatingSystems: [{ type: 'Linux', versions: ['>5.0.0'] }] });
  check('mfa', { typeId: 'MFA', timeoutSeconds: 600, promptOnWake: true, roleAttributes: ['strict'] });
  policy(['@os']);
  await world.start();
  const router = await routerOf('r1');
  subscribe(router, { subscriptionId: 'sub1' });
  const { events } = await wholeState(router);
  const subtypes = events.flatMap(({ model }) =>
    model.case === 'postureCheck' ? [[model.value.id, model.value.typeId, model.value.subtype.case]] : [],
  );
  assert.deepEqual(subtypes, [
    ['os', 'OS', 'osList'],
    ['mfa', 'MFA', 'mfa'],
  ]);
  const related = (of: Events) =>
    of.flatMap(({ model }) =>
      model.case === 'servicePolicyChange' && model.value.relatedEntityType === 3
        ? [[model.value.add, ...model.value.relatedEntityIds]]
        : [],
    );
  assert.deepEqual(related(events), [[true, 'os']]);
  policy(['#strict']);
  check('mfa', { typeId: 'MFA', timeoutSeconds: 60, roleAttributes: ['strict'] });
  world.advance(250);
  const { changes } = await router.next('dataStateChangeSet');
  // In this order, so that the policy demands a check all the time.
  assert.deepEqual(related(changes), [
    [true, 'mfa'],
    [false, 'os'],
  ]);
  const changed = changes.find(({ model }) => model.case === 'postureCheck')?.model;
  assert.ok(changed?.case === 'postureCheck' && changed.value.subtype.case === 'mfa');
  assert.equal(changed.value.subtype.value.timeoutSeconds, 60n);
});
