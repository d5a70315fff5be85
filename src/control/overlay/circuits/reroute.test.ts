import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { contentType } from '#wire';
import { encodeRouteResult } from '#wire/circuits';
import { ctrlMessages, DestType, FaultSubject, type CtrlBody } from '#wire/ctrl';
import { ScriptedMesh } from '../testing/scripted-mesh.ts';

const REROUTE = 99_969_996;
const FIVE = ['a', 'b', 'c', 'd', 'e'];
let mesh: ScriptedMesh;
afterEach(() => mesh.close());

/** From a to e: over b at 2 ms a link, over c at 5, over d at 50. */
async function diamond(): Promise<void> {
  mesh = await ScriptedMesh.open(FIVE);
  await mesh.links({ 'a-b': 1, 'b-e': 1, 'a-c': 5, 'c-e': 5, 'a-d': 50, 'd-e': 50 });
  mesh.service('svc');
  mesh.terminator('t', 'e');
}

function pathOf(at = 0): string {
  return mesh.world.controller.fabric.circuits()[at]?.routerIds.join('') ?? 'none';
}

function linksOf({ forwards }: CtrlBody<'route'>): string[] {
  return forwards.filter(({ dstType }) => dstType === DestType.LINK).map(({ dstAddress }) => dstAddress);
}

async function unroutes(routerId: string): Promise<[string, boolean][]> {
  const router = mesh.router(routerId);
  await router.settle();
  const found: [string, boolean][] = [];
  while (router.waiting(contentType.unroute) > 0) {
    const { circuitId, now } = await router.next('unroute');
    found.push([circuitId, now]);
  }
  return found;
}

test('a circuit takes the cheapest way, over a router between its ends', async () => {
  await diamond();
  const [first, transit, last] = await mesh.circuit(['a', 'b', 'e']);
  assert.deepEqual([linksOf(first!), linksOf(transit!), linksOf(last!)], [['a-b'], ['b-e', 'a-b'], ['b-e']]);
  assert.deepEqual(
    [first!.egress, transit!.egress, last!.egress?.destination],
    [undefined, undefined, 'tcp:t:1'],
  );
  const [circuit] = mesh.world.controller.fabric.circuits();
  assert.deepEqual(circuit?.linkIds, ['a-b', 'b-e']);
  assert.equal(circuit?.cost, 2 * (1 + 1 + 1) + 2 * 10);
});

test('the latencies that routers measure decide the path of the next circuit', async () => {
  await diamond();
  await mesh.circuit(['a', 'b', 'e']);
  for (const id of ['a', 'b']) await mesh.measure(id, { 'a-b': 40 });
  await mesh.circuit(['a', 'c', 'e']);
  // The time in a link's queues counts like its latency.
  const histograms = { 'link.a-c.latency': { mean: 5e6 }, 'link.a-c.queue_time': { mean: 500e6 } };
  mesh.router('a').send(ctrlMessages.metrics.frame({ sourceId: 'a', histograms }));
  await mesh.router('a').settle();
  await mesh.circuit(['a', 'b', 'e']);
});

test('a lost link: both ends kept, routes sent router by router from the ingress, then unused routers unrouted', async () => {
  await diamond();
  const before = await mesh.circuit(['a', 'b', 'e']);
  const { circuitId } = before[0]!;
  await mesh.fault('b', 'b-e', FaultSubject.LINK_FAULT, 1);
  const other = await mesh.router('e').next('fault');
  assert.deepEqual([other.id, other.iteration], ['b-e', 1]);

  const held = await mesh.router('a').frame(contentType.route);
  const moved = ctrlMessages.route.decode(held.body);
  assert.deepEqual([moved.circuitId, moved.attempt, linksOf(moved)], [circuitId, REROUTE, ['a-c']]);
  assert.equal(moved.forwards[0]?.srcAddress, before[0]!.forwards[0]?.srcAddress, 'the same ingress address');
  await mesh.router('c').settle();
  assert.equal(mesh.router('c').waiting(contentType.route), 0, 'not before the ingress answered');
  const success = {
    circuitId,
    attempt: REROUTE,
    isSuccess: true,
    error: '',
    errorCode: 0,
    peerData: new Map(),
  };
  mesh.router('a').send(encodeRouteResult(held, success));

  const transit = await mesh.router('c').route();
  assert.deepEqual(linksOf(transit), ['c-e', 'a-c']);
  assert.deepEqual(await unroutes('b'), [], 'it carries what is on its way until the new one stands');
  const last = await mesh.router('e').route();
  assert.equal(last.egress, undefined, 'the end is not dialed again');
  assert.deepEqual(linksOf(last), ['c-e']);
  assert.equal(last.forwards[0]?.srcAddress, before[2]!.egress?.address);
  await mesh.router('e').settle();
  assert.deepEqual(await unroutes('b'), [[circuitId, true]]);
  for (const id of ['a', 'c', 'e']) assert.deepEqual(await unroutes(id), []);
  assert.equal(pathOf(), 'ace');
});

test('a silent link: circuits over it move at once where there is another way, and the others wait for it', async () => {
  await diamond();
  await mesh.circuit(['a', 'b', 'e']);
  mesh.terminator('t', 'b');
  await mesh.circuit(['a', 'b']);
  const silent = { 'link.b-e.latency': { mean: 8_888_888_888_888 } };
  mesh.router('b').send(ctrlMessages.metrics.frame({ sourceId: 'b', histograms: silent }));
  for (const id of ['a', 'c', 'e']) await mesh.router(id).route();
  assert.deepEqual(
    mesh.world.controller.fabric
      .circuits()
      .map(({ routerIds }) => routerIds.join(''))
      .sort(),
    ['ab', 'ace'],
  );
  assert.equal(
    [...mesh.world.controller.fabric.links()].filter(({ id }) => id === 'b-e').length,
    1,
    'it stands',
  );
  // Circuits without another path are not ended, because the link may return.
  for (const [at, id] of [
    ['a', 'a-c'],
    ['a', 'a-d'],
    ['a', 'a-b'],
  ] as const) {
    const histograms = { [`link.${id}.latency`]: { mean: 8_888_888_888_888 } };
    mesh.router(at).send(ctrlMessages.metrics.frame({ sourceId: at, histograms }));
    await mesh.router(at).settle();
  }
  assert.equal(mesh.world.controller.fabric.circuits().length, 2);
});

test('only circuits over the lost link move, all of them, and a hundred at once', async () => {
  await diamond();
  await mesh.circuit(['a', 'b', 'e']);
  mesh.terminator('t', 'b');
  await mesh.circuit(['a', 'b']);
  mesh.terminator('t', 'e');
  for (let i = 1; i < 100; i += 1) await mesh.circuit(['a', 'b', 'e']);
  await mesh.fault('e', 'b-e');
  for (const id of ['a', 'c', 'e']) for (let i = 0; i < 100; i += 1) await mesh.router(id).route();
  for (let i = 0; i < 100; i += 1) await mesh.router('b').next('unroute');
  const paths = mesh.world.controller.fabric.circuits().map(({ routerIds }) => routerIds.join(''));
  assert.deepEqual(
    [paths.filter((path) => path === 'ace').length, paths.filter((path) => path === 'ab').length],
    [100, 1],
  );
});

test('a circuit that no path is left for ends at once, at every router on it', async () => {
  mesh = await ScriptedMesh.open(['a', 'b', 'c']);
  await mesh.links({ 'a-b': 1, 'b-c': 1 });
  mesh.service('svc');
  mesh.terminator('t', 'c');
  const [{ circuitId } = { circuitId: '' }] = await mesh.circuit(['a', 'b', 'c']);
  await mesh.fault('a', 'a-b');
  for (const id of ['a', 'b', 'c']) assert.deepEqual(await unroutes(id), [[circuitId, true]]);
  assert.equal(mesh.world.controller.circuitCount, 0);
});

test('a router that cannot take the circuit: tried once more on what is left, then the circuit ends', async () => {
  await diamond();
  const [{ circuitId } = { circuitId: '' }] = await mesh.circuit(['a', 'b', 'e']);
  await mesh.fault('a', 'a-b');
  await mesh.router('a').route();
  // Its link is gone too, as it says before its answer.
  mesh.router('c').send(ctrlMessages.fault.frame({ subject: FaultSubject.LINK_FAULT, id: 'c-e' }));
  assert.deepEqual(linksOf(await mesh.router('a').route()), ['a-d']);
  await mesh.router('d').route({ isSuccess: false, error: 'no', errorCode: 8 });
  await mesh.router('a').route();
  await mesh.router('d').route({ isSuccess: false, error: 'no', errorCode: 8 });
  assert.deepEqual(await unroutes('d'), [[circuitId, true]]);
  for (const id of ['a', 'b', 'c', 'e']) assert.deepEqual(await unroutes(id), [[circuitId, true]], id);
  assert.equal(mesh.world.controller.circuitCount, 0);
});

test('a router that does not answer has ten seconds, twice', async () => {
  await diamond();
  await mesh.circuit(['a', 'b', 'e']);
  await mesh.fault('a', 'a-b');
  await mesh.router('a').frame(contentType.route);
  mesh.world.advance(9_900);
  await mesh.router('a').settle();
  assert.equal(mesh.router('a').waiting(contentType.route), 0);
  mesh.world.advance(200);
  const second = await mesh.router('a').frame(contentType.route);
  // An answer to the first Route says nothing of the second.
  const { circuitId } = ctrlMessages.route.decode(second.body);
  const stale = { ...second, sequence: second.sequence - 1 };
  const answer = {
    circuitId,
    attempt: REROUTE,
    isSuccess: true,
    error: '',
    errorCode: 0,
    peerData: new Map(),
  };
  mesh.router('a').send(encodeRouteResult(stale, answer));
  await mesh.router('a').settle();
  assert.equal(mesh.router('c').waiting(contentType.route), 0);
  mesh.world.advance(10_100);
  assert.equal((await mesh.router('a').next('unroute')).now, true);
  assert.equal(mesh.world.controller.circuitCount, 0);
});

test('a router that cannot forward: its circuits are routed again, at most once a second', async () => {
  await diamond();
  const [{ circuitId } = { circuitId: '' }] = await mesh.circuit(['a', 'b', 'e']);
  mesh.world.advance(1_000);
  await mesh.fault('b', `${circuitId} unknown`, FaultSubject.FORWARD_FAULT);
  assert.deepEqual(await unroutes('b'), [['unknown', true]]);
  for (const id of ['a', 'b', 'e']) assert.equal((await mesh.router(id).route()).attempt, REROUTE);
  await mesh.router('e').settle();
  await mesh.fault('b', circuitId, FaultSubject.FORWARD_FAULT);
  assert.equal(mesh.router('a').waiting(contentType.route), 0);
  mesh.world.advance(1_000);
  // Without an owner it may be another controller's: what we do not know is left alone.
  await mesh.fault('b', `${circuitId} unknown`, FaultSubject.UNKNOWN_OWNER_FORWARD_FAULT);
  await mesh.router('a').route();
  assert.deepEqual(await unroutes('b'), []);
});

test('once a minute the dearest circuit moves, when that saves 15 or more', async () => {
  await diamond();
  await mesh.circuit(['a', 'b', 'e']);
  mesh.world.advance(0);
  for (const id of ['a', 'b']) await mesh.measure(id, { 'a-b': 10 });
  mesh.world.advance(60_000);
  await mesh.router('a').settle();
  assert.equal(mesh.router('a').waiting(contentType.route), 0, 'two less: not worth it');
  for (const id of ['a', 'b']) await mesh.measure(id, { 'a-b': 20 });
  mesh.world.advance(59_000);
  await mesh.router('a').settle();
  assert.equal(mesh.router('a').waiting(contentType.route), 0, 'not yet');
  mesh.world.advance(1_000);
  for (const id of ['a', 'c', 'e']) await mesh.router(id).route();
  await mesh.router('b').next('unroute');
  assert.equal(pathOf(), 'ace');
});

test('of many circuits two in a hundred move at a time, and never more than four', async () => {
  await diamond();
  for (let i = 0; i < 120; i += 1) await mesh.circuit(['a', 'b', 'e']);
  mesh.world.advance(0);
  for (const id of ['a', 'b']) await mesh.measure(id, { 'a-b': 90 });
  mesh.world.advance(60_000);
  await mesh.router('a').settle();
  assert.equal(mesh.router('a').waiting(contentType.route), 2);
});

test('the control channel of a router between the ends goes: its circuits go another way, where there is one', async () => {
  await diamond();
  await mesh.circuit(['a', 'b', 'e']);
  mesh.router('b').channel.close('lost');
  for (const id of ['a', 'c', 'e']) await mesh.router(id).route();
  await mesh.router('e').settle();
  assert.equal(pathOf(), 'ace');
  // None of the routers that are left leads on from there: it may forward all the same.
  await mesh.fault('a', 'a-d');
  mesh.router('c').channel.close('lost');
  await mesh.router('a').settle();
  assert.equal(pathOf(), 'ace');
  assert.deepEqual(await unroutes('a'), []);
  // Until someone says that it does not.
  await mesh.fault('a', 'a-c');
  assert.equal((await mesh.router('a').next('unroute')).now, true);
  assert.equal(mesh.world.controller.circuitCount, 0);
});

test('a router that is deleted: its circuits move, or end where there is no other way', async () => {
  await diamond();
  await mesh.circuit(['a', 'b', 'e']);
  mesh.world.model.removeIdentity('b');
  for (const id of ['a', 'c', 'e']) await mesh.router(id).route();
  await mesh.router('e').settle();
  assert.equal(pathOf(), 'ace');
  await mesh.fault('a', 'a-d');
  mesh.world.model.removeIdentity('c');
  assert.equal((await mesh.router('a').next('unroute')).now, true);
  assert.equal(mesh.world.controller.circuitCount, 0);
});

test('circuits of an end whose control channel is gone stay, and end when its neighbour lost the link', async () => {
  mesh = await ScriptedMesh.open(['a', 'b']);
  await mesh.link('b-a', 1);
  mesh.service('svc');
  mesh.terminator('t', 'b');
  await mesh.circuit(['a', 'b']);
  mesh.router('b').channel.close('lost');
  await mesh.router('b').closed();
  await mesh.router('a').settle();
  assert.equal(mesh.world.controller.circuitCount, 1);
  assert.equal(mesh.world.controller.fabric.links().length, 0, 'its dialer is not there to speak for it');
  await mesh.fault('a', 'b-a', FaultSubject.LINK_FAULT, 1);
  assert.equal((await mesh.router('a').next('unroute')).now, true);
  assert.equal(mesh.world.controller.circuitCount, 0);
});

test('a link that a whole report leaves out is lost; its circuits move', async () => {
  await diamond();
  await mesh.circuit(['a', 'b', 'e']);
  const links = ['a-c', 'a-d'].map((id) => ({ id, destRouterId: id.slice(2), iteration: 1 }));
  mesh.router('a').send(ctrlMessages.routerLinks.frame({ links, fullRefresh: true }));
  for (const id of ['a', 'c', 'e']) await mesh.router(id).route();
  await mesh.router('b').next('unroute');
  assert.equal(pathOf(), 'ace');
});

test('a duplicate link is left in peace: circuits leave it while it still carries them', async () => {
  await diamond();
  await mesh.circuit(['a', 'b', 'e']);
  await mesh.fault('a', 'a-b', FaultSubject.LINK_DUPLICATE, 1);
  for (const id of ['a', 'c', 'e']) await mesh.router(id).route();
  await mesh.router('b').next('unroute');
  assert.equal(mesh.router('b').waiting(contentType.fault), 0);
});

test('a link that is lost while a circuit is made over it: the circuit moves as soon as it stands', async () => {
  await diamond();
  mesh.dial('a');
  for (const id of ['a', 'b']) await mesh.router(id).route();
  const held = await mesh.router('e').frame(contentType.route);
  await mesh.fault('a', 'a-b');
  const { circuitId, attempt } = ctrlMessages.route.decode(held.body);
  const success = { circuitId, attempt, isSuccess: true, error: '', errorCode: 0, peerData: new Map() };
  mesh.router('e').send(encodeRouteResult(held, success));
  await mesh.router('a').frame(contentType.circuitSuccess);
  for (const id of ['a', 'c', 'e']) assert.equal((await mesh.router(id).route()).attempt, REROUTE);
  await mesh.router('b').next('unroute');
});

test('routers that are no part of it change nothing: links, circuits and answers of others stay', async () => {
  await diamond();
  const [{ circuitId } = { circuitId: '' }] = await mesh.circuit(['a', 'b', 'e']);
  await mesh.fault('d', 'a-b', FaultSubject.LINK_FAULT, 9);
  await mesh.fault('d', circuitId, FaultSubject.EGRESS_FAULT);
  await mesh.fault('d', circuitId, FaultSubject.FORWARD_FAULT);
  assert.deepEqual(await unroutes('d'), [
    [circuitId, false],
    [circuitId, true],
  ]);
  // One between the ends cannot end it either.
  await mesh.fault('b', circuitId, FaultSubject.INGRESS_FAULT);
  assert.deepEqual([pathOf(), await unroutes('b')], ['abe', []]);

  await mesh.fault('a', 'a-b');
  const route = await mesh.router('a').frame(contentType.route);
  const answer = {
    circuitId,
    attempt: REROUTE,
    isSuccess: true,
    error: '',
    errorCode: 0,
    peerData: new Map(),
  };
  for (const id of ['d', 'c', 'e']) {
    mesh.router(id).send(encodeRouteResult(route, answer));
    await mesh.router(id).settle();
  }
  assert.equal(mesh.router('c').waiting(contentType.route), 0, 'the ingress did not answer yet');
  assert.deepEqual(await unroutes('d'), [[circuitId, true]]);
  mesh.router('d').send(encodeRouteResult(route, { ...answer, isSuccess: false, error: 'no', errorCode: 0 }));
  await mesh.router('d').settle();
  mesh.router('a').send(encodeRouteResult(route, answer));
  for (const id of ['c', 'e']) await mesh.router(id).route();
  await mesh.router('b').next('unroute');
  assert.equal(pathOf(), 'ace');
});
