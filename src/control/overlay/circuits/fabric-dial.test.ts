import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { contentType, headerId, textOfBody } from '#wire';
import { RouteErrorCode } from '#wire/circuits';
import { ctrlMessages } from '#wire/ctrl';
import { ScriptedMesh } from '../testing/scripted-mesh.ts';

let mesh: ScriptedMesh;
afterEach(() => mesh.close());

/** Router a dials; b and c host, b over the shorter way. */
async function open(strategy: Parameters<ScriptedMesh['service']>[1] = 'smartrouting', random = 0.5) {
  mesh = await ScriptedMesh.open(['a', 'b', 'c'], { tuning: { random: () => random } });
  await mesh.links({ 'a-b': 1, 'a-c': 3 });
  mesh.service('svc', strategy);
  mesh.terminator('tb', 'b');
  mesh.terminator('tc', 'c');
}

/** Where a dial goes, which is made. */
async function dialed(): Promise<string> {
  mesh.dial('a');
  const { forwards } = await mesh.router('a').route();
  const to = forwards[0]!.dstAddress === 'a-b' ? 'b' : 'c';
  await mesh.router(to).route();
  await mesh.router('a').frame(contentType.circuitSuccess);
  return to;
}

/** A dial whose egress says no: where it goes twice. */
async function refused(errorCode: number = RouteErrorCode.connectionRefused): Promise<string> {
  mesh.dial('a');
  let tried = '';
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const { forwards } = await mesh.router('a').route();
    const to = forwards[0]!.dstAddress === 'a-b' ? 'b' : 'c';
    tried += to;
    await mesh.router(to).route({ isSuccess: false, error: 'refused', errorCode });
  }
  await mesh.refusal('a');
  return tried;
}

test('a router dials a service by id or by name: circuit, ingress address, data of the terminator', async () => {
  await open();
  mesh.terminator('tb', 'b', { peerData: new Map([[1234, Uint8Array.of(7)]]) });
  for (const service of ['svc', 'name-svc']) {
    const peerData = [1112, 1115, 1008].map((key) => ({ key, value: Uint8Array.of(1) }));
    mesh.router('a').send(ctrlMessages.circuitRequest.frame({ service, ingressId: 'x', peerData }));
    const route = await mesh.router('a').route();
    const { egress } = await mesh.router('b').route({
      peerData: new Map([
        [1110, Uint8Array.of(1)],
        [1011, Uint8Array.of(5)],
      ]),
    });
    assert.deepEqual([egress?.binding, egress?.destination], ['transport', 'tcp:tb:1']);
    assert.deepEqual(
      egress!.peerData.map(({ key }) => key),
      [1112],
      'a router names no identity',
    );
    assert.deepEqual(route.tags, { serviceId: 'svc' });
    const answer = await mesh.router('a').frame(contentType.circuitSuccess);
    assert.equal(textOfBody(answer), route.circuitId);
    assert.equal(answer.headers.text(headerId.ctrl.ingressAddress), route.forwards[0]?.srcAddress);
    assert.deepEqual([...answer.headers.bytes(1234)!, ...answer.headers.bytes(1011)!], [7, 5]);
    assert.equal(answer.headers.has(1110), false);
  }
  const [circuit] = mesh.world.controller.fabric.circuits();
  assert.deepEqual([circuit?.identityId, circuit?.serviceName], [undefined, 'name-svc']);
});

test('a dial without an address reaches only a host without one', async () => {
  await open();
  mesh.terminator('tb', 'b', { instanceId: 'one' });
  assert.equal(await dialed(), 'c');
  mesh.terminator('tc', 'c', { instanceId: 'two' });
  mesh.dial('a');
  assert.match(await mesh.refusal('a'), /service svc has no terminators for instanceId $/);
});

test('an instance of a service is dialed as instance@service', async () => {
  await open();
  mesh.terminator('tc', 'c', { instanceId: 'two' });
  for (const service of ['two@svc', 'two@name-svc']) {
    mesh.dial('a', service);
    await mesh.router('a').route();
    assert.equal((await mesh.router('c').route()).egress?.destination, 'tcp:tc:1');
    await mesh.router('a').frame(contentType.circuitSuccess);
  }
  mesh.dial('a', 'three@svc');
  assert.match(await mesh.refusal('a'), /service svc has no terminators for instanceId three/);
});

test('a share cannot be dialed by a router, and what is not there is named', async () => {
  await open();
  await mesh.world.addIdentity('env1', 'environment');
  await mesh.world.addService('share1', 'env1');
  for (const name of ['share1', 'share-share1', 'me@share1']) {
    mesh.dial('a', name);
    assert.match(await mesh.refusal('a'), /is a share: routers dial services of the fabric only/);
  }
  mesh.dial('a', 'nothing');
  assert.equal(await mesh.refusal('a'), 'there is no service nothing');
  const peerData = [{ key: 2000, value: new Uint8Array(16_385) }];
  mesh.router('a').send(ctrlMessages.circuitRequest.frame({ service: 'svc', peerData }));
  assert.equal(await mesh.refusal('a'), 'too much peer data');
});

test('a host at a router that no link leads to is not reached', async () => {
  mesh = await ScriptedMesh.open(['a', 'b']);
  mesh.service('svc');
  mesh.terminator('t', 'b');
  mesh.dial('a');
  assert.match(await mesh.refusal('a'), /hosted at router b, which router a cannot reach/);
});

test('smartrouting counts what is set, the way, circuits that stand, and failures', async () => {
  await open();
  assert.equal(await dialed(), 'b');
  // The way to c costs four more, each circuit two: b, b, then either, c.
  assert.equal(await dialed(), 'b');
  mesh.terminator('tb', 'b', { cost: 1 });
  assert.equal(await dialed(), 'c');
  mesh.terminator('tb', 'b', { cost: 0 });
  mesh.terminator('tc', 'c', { cost: 1_000 });
  assert.equal(await refused(), 'bc');
  const costs = mesh.world.controller.fabric.terminators().map(({ id, dynamicCost }) => [id, dynamicCost]);
  assert.deepEqual(costs, [
    ['tb', 2 * 2 + 20],
    ['tc', 2 + 20],
  ]);
  assert.equal(mesh.world.controller.fabric.dynamicCost('tb'), 24);
  const [circuit] = mesh.world.controller.fabric.circuits();
  assert.equal(mesh.world.controller.fabric.endCircuit(circuit!.id), true);
  assert.equal(mesh.world.controller.fabric.terminators()[0]?.dynamicCost, 22);
});

test('required goes before default, and failed comes last, at any cost', async () => {
  await open();
  mesh.terminator('tc', 'c', { precedence: 1, cost: 60_000 });
  assert.equal(await dialed(), 'c');
  mesh.terminator('tc', 'c', { precedence: 2 });
  for (let i = 0; i < 4; i += 1) assert.equal(await dialed(), 'b');
});

test('random and weighted take the dearer one too', async () => {
  await open('random', 0.9);
  assert.equal(await dialed(), 'c');
  mesh.service('svc', 'weighted');
  assert.equal(await dialed(), 'c');
  mesh.service('svc', 'smartrouting');
  assert.equal(await dialed(), 'b');
});

test('ha goes over to another after three failed dials, and stays there', async () => {
  await open('ha');
  mesh.terminator('tc', 'c', { cost: 100 });
  for (let i = 0; i < 3; i += 1)
    assert.equal(await dialed(), 'b', 'the active one, however many circuits it has');
  mesh.terminator('tb', 'b', { cost: 500 });
  const failure = { isSuccess: false, error: 'refused', errorCode: RouteErrorCode.connectionRefused };
  for (let i = 0; i < 3; i += 1) {
    mesh.dial('a');
    assert.equal((await mesh.router('a').route()).forwards[0]?.dstAddress, 'a-b');
    await mesh.router('b').route(failure);
    // The second attempt goes elsewhere, and changes nothing.
    await mesh.router('a').route();
    await mesh.router('c').route();
    await mesh.router('a').frame(contentType.circuitSuccess);
  }
  mesh.terminator('tb', 'b', { cost: 0 });
  for (let i = 0; i < 3; i += 1) assert.equal(await dialed(), 'c');
});

test('a terminator that its router cannot use is put behind the others until it is looked at again', async () => {
  await open();
  assert.equal(await refused(RouteErrorCode.misconfiguredTerminator), 'bc');
  const healthy = () => mesh.world.controller.fabric.terminators().map(({ isHealthy }) => isHealthy);
  assert.deepEqual(healthy(), [false, false]);
  mesh.terminator('tc', 'c', { cost: 500 });
  assert.deepEqual(healthy(), [false, true]);
  assert.equal(await dialed(), 'c');
});

test('a router that is quiesced gets circuits where there is no other way alone', async () => {
  await open();
  const answer = await mesh.request('b', contentType.quiesceRouter);
  assert.equal(answer.headers.bool(headerId.channel.resultSuccess), true);
  assert.equal(await dialed(), 'c');
  mesh.world.model.removeFabricTerminator('tc');
  assert.equal(await dialed(), 'b', 'nobody else hosts it');
  mesh.terminator('tc', 'c', { cost: 100 });
  await mesh.request('b', contentType.dequiesceRouter);
  assert.equal(await dialed(), 'b');
  const refusal = await mesh.request('b', contentType.decommissionRouter);
  assert.equal(refusal.headers.bool(headerId.channel.resultSuccess), false);
});

test('circuits of a service that is deleted end, those of a terminator that is taken away continue', async () => {
  await open();
  await dialed();
  mesh.world.model.removeFabricTerminator('tb');
  await mesh.router('b').settle();
  assert.equal(mesh.world.controller.circuitCount, 1);
  for (const id of ['tc']) mesh.world.model.removeFabricTerminator(id);
  mesh.world.model.removeFabricService('svc');
  assert.equal((await mesh.router('b').next('unroute')).now, true);
  assert.equal(mesh.world.controller.circuitCount, 0);
});

test('the circuits and dials of one router are bounded', async () => {
  mesh = await ScriptedMesh.open(['a', 'b'], {
    tuning: {
      pendingLimits: { maxPendingPerRouter: 1, maxPendingPerIdentity: 9 },
      circuitLimits: { maxCircuits: 9, maxCircuitsPerIdentity: 1 },
    },
  });
  await mesh.link('a-b', 1);
  mesh.service('svc');
  mesh.terminator('t', 'b');
  mesh.dial('a');
  mesh.dial('a');
  assert.equal(await mesh.refusal('a'), 'this router has too many dials in progress');
  for (const id of ['a', 'b']) await mesh.router(id).route();
  await mesh.router('a').frame(contentType.circuitSuccess);
  mesh.dial('a');
  assert.equal(await mesh.refusal('a'), 'this router has too many circuits');
});
