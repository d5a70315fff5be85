import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { contentType, headerId, makeFrame } from '#wire';
import { ctrlMessages, PeerState } from '#wire/ctrl';
import { FabricEvents } from './model/fabric-events.ts';
import type { ClusterMembers } from './routers/cluster-announcer.ts';
import { AWAY_LIMIT_MS } from './circuits/away-circuits.ts';
import { ScriptedMesh } from './testing/scripted-mesh.ts';

let mesh: ScriptedMesh;
afterEach(() => mesh.close());

test('the mesh is shown as it is: routers, links with what they cost, circuits, terminators', async () => {
  mesh = await ScriptedMesh.open(['a', 'b']);
  const conns = [{ type: 'link.default', localAddr: 'tcp:1.2.3.4:5', remoteAddr: 'tcp:6.7.8.9:10' }];
  const link = { id: 'l', destRouterId: 'b', linkProtocol: 'tls', dialAddress: 'tls:b:1', iteration: 3 };
  mesh.router('a').send(ctrlMessages.routerLinks.frame({ links: [link] }));
  const connState = { stateIteration: 1, conns };
  mesh.router('a').send(ctrlMessages.linkState.frame({ linkId: 'l', linkIteration: 3, connState }));
  await mesh.measure('a', { l: 1.5 });
  const { fabric } = mesh.world.controller;
  assert.deepEqual(fabric.links(), [
    {
      id: 'l',
      sourceRouterId: 'a',
      destinationRouterId: 'b',
      protocol: 'tls',
      dialAddress: 'tls:b:1',
      iteration: 3,
      staticCost: 1,
      sourceLatencyMs: 1.5,
      destinationLatencyMs: undefined,
      cost: 1 + 1 + 65_000,
      isUsable: true,
      connections: [{ type: 'link.default', localAddress: 'tcp:1.2.3.4:5', remoteAddress: 'tcp:6.7.8.9:10' }],
    },
  ]);
  mesh.service('svc');
  mesh.terminator('t', 'b', { precedence: 1, cost: 3 });
  await mesh.circuit(['a', 'b']);
  const [circuit] = fabric.circuits();
  assert.deepEqual([circuit?.routerIds, circuit?.linkIds, circuit?.terminatorId], [['a', 'b'], ['l'], 't']);
  const [terminator] = fabric.terminators();
  const { kind, serviceName, precedence, cost, dynamicCost } = terminator!;
  assert.deepEqual(
    [kind, serviceName, precedence, cost, dynamicCost],
    ['fabric', 'name-svc', 'required', 3, 2],
  );

  const listener = { address: 'tls:b.test:7', protocol: 'tls', groups: ['default'] };
  mesh.router('b').send(ctrlMessages.updateLinkListeners.frame({ listeners: [listener] }));
  await mesh.router('b').settle();
  const shown = fabric
    .routers()
    .map(({ id, isOnline, version, linkListeners, edgeAddress }) => [
      id,
      isOnline,
      version,
      linkListeners,
      edgeAddress,
    ]);
  assert.deepEqual(shown, [
    ['a', true, 'v1.7.2', [], 'localhost:3022'],
    ['b', true, 'v1.7.2', ['tls:b.test:7'], 'localhost:3022'],
  ]);
  mesh.router('b').channel.close('away');
  await mesh.router('b').closed();
  await mesh.router('a').settle();
  assert.deepEqual([fabric.routers()[1]?.isOnline, fabric.links()[0]?.isUsable], [false, false]);
});

test('the way of a circuit is shown without a dial: the cheapest terminator, the others, and those out of reach', async () => {
  mesh = await ScriptedMesh.open(['a', 'b', 'c', 'd']);
  await mesh.link('a-b', 1);
  await mesh.link('a-c', 50);
  mesh.service('svc');
  mesh.terminator('near', 'b');
  mesh.terminator('far', 'c');
  mesh.terminator('lost', 'd');
  const { fabric } = mesh.world.controller;
  assert.equal(fabric.route('a', 'nope', ''), undefined);
  const route = fabric.route('a', 'svc', '')!;
  assert.deepEqual([route.serviceName, route.chosenId, route.problem], ['name-svc', 'near', undefined]);
  assert.deepEqual(
    route.candidates.map(({ terminator, path }) => [terminator.id, path?.routerIds]),
    [
      ['near', ['a', 'b']],
      ['far', ['a', 'c']],
      ['lost', undefined],
    ],
  );
  const [near, far, lost] = route.candidates;
  assert.ok(near!.cost! < far!.cost! && lost!.cost === undefined);
  const [{ circuitId } = { circuitId: '' }] = await mesh.circuit(['a', 'b']);
  const circuit = fabric.circuits().find(({ id }) => id === circuitId);
  assert.deepEqual(circuit?.linkIds, near!.path!.linkIds);
  const nowhere = fabric.route('d', 'svc', 'other')!;
  assert.equal(nowhere.chosenId, undefined);
  assert.match(nowhere.problem ?? '', /no terminators for instanceId other/);
  assert.match(fabric.route('a', 'svc', '')!.candidates[0]!.terminator.id, /near/);
});

test('the routers of a circuit that an operator ends are notified at once', async () => {
  mesh = await ScriptedMesh.open(['a', 'b']);
  await mesh.link('a-b', 1);
  mesh.service('svc');
  mesh.terminator('t', 'b');
  const [{ circuitId } = { circuitId: '' }] = await mesh.circuit(['a', 'b']);
  const { fabric } = mesh.world.controller;
  assert.equal(fabric.endCircuit('nope'), false);
  assert.equal(fabric.endCircuit(circuitId), true);
  for (const id of ['a', 'b']) {
    const unroute = await mesh.router(id).next('unroute');
    assert.deepEqual([unroute.circuitId, unroute.now], [circuitId, true]);
  }
  assert.deepEqual(fabric.circuits(), []);
});

test('routers are asked for diagnostics by name: values as JSON, their errors, and those that are away', async () => {
  mesh = await ScriptedMesh.open(['a', 'b']);
  const { fabric } = mesh.world.controller;
  const asked = fabric.inspect(['links', 'config', 'nothing']);
  for (const id of ['a', 'b']) {
    const frame = await mesh.router(id).frame(contentType.inspectRequest);
    const { requestedValues } = ctrlMessages.inspectRequest.decode(frame.body);
    assert.deepEqual(requestedValues, ['links', 'config', 'nothing']);
    const values = [
      { name: 'links', value: '{"links":[]}' },
      { name: 'config', value: 'v: 3' },
    ];
    const body = id === 'a' ? { success: true, values } : { success: false, errors: ['no'] };
    mesh.router(id).channel.reply(frame, ctrlMessages.inspectResponse.frame(body));
  }
  assert.deepEqual(await asked, [
    { routerId: 'a', name: 'links', value: { links: [] } },
    { routerId: 'a', name: 'config', value: 'v: 3' },
    { routerId: 'b', name: '', error: 'no' },
  ]);
  assert.match((await fabric.inspect(['links'], 'nobody'))[0]!.error!, /not connected/);
  const one = fabric.inspect(['links'], 'b');
  const frame = await mesh.router('b').frame(contentType.inspectRequest);
  mesh.router('b').channel.reply(frame, makeFrame(contentType.result));
  assert.match((await one)[0]!.error!, /does not know how/);
  const broken = fabric.inspect(['links'], 'b');
  await mesh.router('b').frame(contentType.inspectRequest);
  mesh.router('b').channel.close('gone');
  assert.equal(typeof (await broken)[0]?.error, 'string');
});

test('a router may ask what concerns itself; unknown names are left out', async () => {
  mesh = await ScriptedMesh.open(['a', 'b', 'c']);
  await mesh.links({ 'a-b': 1, 'b-c': 1 });
  mesh.service('svc');
  mesh.terminator('t', 'b');
  const [{ circuitId } = { circuitId: '' }] = await mesh.circuit(['a', 'b']);
  const requestedValues = ['Connected-Routers', 'links', 'circuits', 'config'];
  const frame = await mesh.request('c', ctrlMessages.inspectRequest.frame({ requestedValues }));
  const { values } = ctrlMessages.inspectResponse.decode(frame.body);
  const inspected = new Map(values.map(({ name, value }) => [name, JSON.parse(value) as { id: string }[]]));
  assert.deepEqual(
    inspected.get('Connected-Routers')?.map(({ id }) => id),
    ['a', 'b', 'c'],
  );
  assert.deepEqual(
    inspected.get('links')?.map(({ id }) => id),
    ['b-c'],
  );
  assert.deepEqual([inspected.get('circuits'), inspected.has('config')], [[], false]);
  const own = await mesh.request('a', ctrlMessages.inspectRequest.frame({ requestedValues: ['circuits'] }));
  assert.deepEqual(JSON.parse(ctrlMessages.inspectResponse.decode(own.body).values[0]!.value), [circuitId]);
});

test('changed link listeners reach the others; a router deleted while it is offline is announced as removed for good', async () => {
  mesh = await ScriptedMesh.open(['a', 'b']);
  await mesh.router('a').next('peerStateChanges');
  const listeners = [
    { address: 'tls:b.test:7', protocol: 'tls', groups: ['default'] },
    { address: 'x'.repeat(600), protocol: 'tls' },
  ];
  mesh.router('b').send(ctrlMessages.updateLinkListeners.frame({ listeners }));
  const [change] = (await mesh.router('a').next('peerStateChanges')).changes;
  assert.deepEqual([change?.id, change?.state, change?.version], ['b', PeerState.HEALTHY, 'v1.7.2']);
  assert.deepEqual(
    change?.listeners.map(({ address }) => address),
    ['tls:b.test:7'],
  );
  mesh.router('b').channel.close('away');
  const states = async () =>
    (await mesh.router('a').next('peerStateChanges')).changes.map(({ state }) => state);
  assert.deepEqual(await states(), [PeerState.UNHEALTHY]);
  mesh.world.model.removeIdentity('b');
  assert.deepEqual(await states(), [PeerState.REMOVED]);
});

test('routers receive all control planes and the leader when they connect, when they ask, and at each change', async () => {
  let members: ClusterMembers | undefined;
  let notify: () => void = () => {};
  const cluster = {
    members: () => members,
    onMembersChange: (listener: () => void) => {
      notify = listener;
    },
  };
  mesh = await ScriptedMesh.open(['a'], { replicas: { cluster } });
  await mesh.router('a').settle();
  assert.equal(mesh.router('a').waiting(contentType.updateCtrlAddresses), 0, 'nothing is known yet');
  members = { addresses: ['tls:one:1', 'tls:two:2'], index: 7n, isLeader: false };
  notify();
  const first = await mesh.router('a').next('updateCtrlAddresses');
  assert.deepEqual([first.addresses, first.index, first.isLeader], [['tls:one:1', 'tls:two:2'], 7n, false]);
  const second = await mesh.connect('b');
  assert.equal((await second.next('updateCtrlAddresses')).index, 7n);
  second.send(makeFrame(contentType.requestClusterMembers));
  const asked = await second.frame(contentType.updateCtrlAddresses);
  assert.equal(asked.headers.has(headerId.channel.replyFor), false);
  members = { addresses: ['tls:two:2'], index: 9n, isLeader: true };
  notify();
  assert.equal((await second.next('updateCtrlAddresses')).isLeader, true);
  assert.equal((await second.next('updateClusterLeader')).index, 9n);
  notify();
  await second.next('updateCtrlAddresses');
  await second.settle();
  assert.equal(second.waiting(contentType.updateClusterLeader), 0, 'once');
  const third = await mesh.connect('c');
  assert.equal(
    (await third.next('updateClusterLeader')).index,
    9n,
    'one that comes later is notified as well',
  );
});

test('a change of control planes is an event, and so is the leader', async () => {
  let members: ClusterMembers | undefined;
  let notify: () => void = () => {};
  const events = new FabricEvents();
  const seen: unknown[] = [];
  events.listen('cluster', (event) => void seen.push(event));
  const cluster = {
    members: () => members,
    onMembersChange: (listener: () => void) => {
      notify = listener;
    },
  };
  mesh = await ScriptedMesh.open(['a'], { replicas: { cluster }, events });
  const addresses = ['tls:one:1'];
  for (const [index, isLeader] of [
    [7n, true],
    [8n, true],
    [9n, false],
  ] as const) {
    members = { addresses, index, isLeader };
    notify();
  }
  assert.deepEqual(seen, [
    { type: 'members.changed', index: 7, addresses },
    { type: 'leadership.gained', index: 7, addresses },
    { type: 'members.changed', index: 8, addresses },
    { type: 'members.changed', index: 9, addresses },
    { type: 'leadership.lost', index: 9, addresses },
  ]);
});

test('a single control plane announces none to routers, even when they ask', async () => {
  mesh = await ScriptedMesh.open(['a']);
  mesh.router('a').send(makeFrame(contentType.requestClusterMembers));
  await mesh.router('a').settle();
  assert.equal(mesh.router('a').waiting(contentType.updateCtrlAddresses), 0);
});

test('a router that comes back is asked for its circuits: missing ones end, or are routed again', async () => {
  mesh = await ScriptedMesh.open(['a', 'b', 'c']);
  await mesh.links({ 'a-b': 1, 'b-c': 1 });
  mesh.service('svc');
  mesh.terminator('t', 'b');
  const [kept] = await mesh.circuit(['a', 'b']);
  const [lost] = await mesh.circuit(['a', 'b']);
  mesh.terminator('t', 'c');
  const [transit] = await mesh.circuit(['a', 'b', 'c']);
  mesh.router('b').channel.close('restarted');
  await mesh.router('b').closed();
  mesh.world.clock.advance(61_000);
  const router = await mesh.connect('b');
  const links = [{ id: 'b-c', destRouterId: 'c', iteration: 2 }];
  router.send(ctrlMessages.routerLinks.frame({ links, fullRefresh: true }));
  const frame = await router.frame(contentType.inspectRequest);
  const value = JSON.stringify({ circuits: { [kept!.circuitId]: {} } });
  const values = [{ name: 'router-circuits', value }];
  router.channel.reply(frame, ctrlMessages.inspectResponse.frame({ success: true, values }));
  assert.equal((await mesh.router('a').next('unroute')).circuitId, lost!.circuitId);
  assert.equal((await mesh.router('a').route()).circuitId, transit!.circuitId);
  assert.deepEqual(
    mesh.world.controller.fabric.circuits().map(({ id }) => id),
    [kept!.circuitId, transit!.circuitId],
  );
});

test('circuits of a router that stays away for a quarter of an hour end', async () => {
  mesh = await ScriptedMesh.open(['a', 'b']);
  mesh.service('svc');
  mesh.terminator('t', 'a');
  await mesh.circuit(['a']);
  mesh.router('a').channel.close('for good');
  await mesh.router('b').next('peerStateChanges');
  await mesh.router('b').settle();
  mesh.world.advance(AWAY_LIMIT_MS - 1);
  assert.equal(mesh.world.controller.circuitCount, 1);
  mesh.world.advance(1);
  assert.equal(mesh.world.controller.circuitCount, 0);
});
