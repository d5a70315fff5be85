import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { contentType, headerId, textOfBody, type Frame } from '#wire';
import { ctrlMessages, type CtrlInit } from '#wire/ctrl';
import { attachModel, type AttachedModel } from '../model/model-loader.ts';
import { deleteFabricService } from '../records/fabric-service-store.ts';
import { ScriptedMesh } from '../testing/scripted-mesh.ts';

let mesh: ScriptedMesh;
let attached: AttachedModel;

beforeEach(async () => {
  mesh = await ScriptedMesh.open([]);
  attached = await attachModel(mesh.world.store, mesh.world.model);
  for (const id of ['a', 'b']) await mesh.connect(id);
  await addService('svc');
});
afterEach(() => {
  attached.close();
  return mesh.close();
});

/** The terminators of other tests are in the model only; these need the row of their service. */
async function addService(id: string): Promise<void> {
  const row = { id, name: `name-${id}`, terminator_strategy: 'smartrouting' as const, created_at: 1 };
  await mesh.world.store.transaction(async (trx, touch) => {
    await trx.insertInto('fabric_service').values(row).execute();
    touch('fabric-service', id);
  });
}

function isDone(frame: Frame): boolean {
  return frame.headers.bool(headerId.channel.resultSuccess);
}

function creation(more: CtrlInit<'createTerminator'> = {}): Frame {
  const body = {
    serviceId: 'svc',
    binding: 'transport',
    address: 'tcp:x:1',
    ...more,
  } as CtrlInit<'createTerminator'>;
  return ctrlMessages.createTerminator.frame(body);
}

function ids(): string[] {
  return [...mesh.world.model.fabricTerminators()].map(({ id }) => id);
}

test('a router makes a terminator, changes it and takes it away', async () => {
  const peerData = [{ key: 9, value: Uint8Array.of(1) }];
  const made = await mesh.request('a', creation({ cost: 7, precedence: 1, instanceId: 'one', peerData }));
  const terminatorId = textOfBody(made);
  assert.equal(isDone(made), true);
  const { routerId, cost, precedence, instanceId } = mesh.world.model.fabricTerminator(terminatorId)!;
  assert.deepEqual([routerId, cost, precedence, instanceId], ['a', 7, 1, 'one']);
  const update = ctrlMessages.updateTerminator.frame({
    terminatorId,
    updateCost: true,
    cost: 9,
  });
  assert.equal(isDone(await mesh.request('a', update)), true);
  const changed = mesh.world.model.fabricTerminator(terminatorId)!;
  assert.deepEqual([changed.cost, changed.precedence], [9, 1]);
  const removal = ctrlMessages.removeTerminator.frame({ terminatorId });
  assert.equal(isDone(await mesh.request('a', removal)), true);
  assert.deepEqual(ids(), []);
});

test("another router's terminators are neither changed nor taken away", async () => {
  const id = textOfBody(await mesh.request('a', creation({ cost: 1 })));
  const update = ctrlMessages.updateTerminator.frame({ terminatorId: id, updateCost: true, cost: 9 });
  const answer = await mesh.request('b', update);
  assert.deepEqual([isDone(answer), textOfBody(answer)], [false, 'no such terminator of this router']);
  await mesh.request('b', ctrlMessages.removeTerminator.frame({ terminatorId: id }));
  await mesh.request('b', ctrlMessages.removeTerminators.frame({ terminatorIds: [id] }));
  assert.equal(mesh.world.model.fabricTerminator(id)?.cost, 1);
  await mesh.request('a', ctrlMessages.removeTerminators.frame({ terminatorIds: [id, 'unknown'] }));
  assert.deepEqual(ids(), []);
});

test('an invalid terminator is refused with the reason', async () => {
  const cases: [CtrlInit<'createTerminator'>, RegExp][] = [
    [{ serviceId: 'nope' }, /no such service/],
    [{ address: '' }, /needs binding and address/],
    [{ binding: 'edge' }, /belongs to hosting SDKs/],
    [{ address: 'x'.repeat(513) }, /too long/],
    [{ cost: 65_536 }, /cost above 65535/],
    [{ peerData: [{ key: 1, value: new Uint8Array(16_385) }] }, /too much peer data/],
    [{ peerData: Array.from({ length: 2_049 }, (_, key) => ({ key })) }, /too much peer data/],
  ];
  for (const [more, reason] of cases) {
    const answer = await mesh.request('a', creation(more));
    assert.equal(isDone(answer), false);
    assert.match(textOfBody(answer), reason);
  }
  assert.equal(isDone(await mesh.request('a', creation({ cost: 65_535 }))), true);
  for (let at = 0; at < 127; at += 1) mesh.terminator(`t${String(at)}`, 'b');
  assert.match(textOfBody(await mesh.request('a', creation())), /too many terminators/);
});

test('a service that the store no longer has, and a store that fails, are answered as failures', async () => {
  const { model, store } = mesh.world;
  await store.transaction((trx) => deleteFabricService(trx, () => undefined, 'svc'));
  assert.ok(model.fabricService('svc'), 'this control plane has not noticed');
  const late = await mesh.request('a', creation());
  assert.deepEqual([isDone(late), textOfBody(late)], [false, 'Service svc was deleted']);
  await addService('other');
  await store.close();
  const failed = await mesh.request('a', creation({ serviceId: 'other' }));
  assert.deepEqual([isDone(failed), textOfBody(failed)], [false, 'the database is closed']);
});

test('a router is asked for its terminators when it comes; one that it cannot use stays, behind the others', async () => {
  mesh.terminator('t', 'a');
  mesh.terminator('u', 'a');
  mesh.router('a').channel.close('away');
  await mesh.router('a').closed();
  mesh.world.clock.advance(61_000);
  const router = await mesh.connect('a');
  const frame = await router.frame(contentType.validateTerminatorsV2);
  const { terminators } = ctrlMessages.validateTerminatorsV2.decode(frame.body);
  assert.deepEqual(
    terminators.map(({ id, binding, address }) => [id, binding, address]),
    [
      ['t', 'transport', 'tcp:t:1'],
      ['u', 'transport', 'tcp:u:1'],
    ],
  );
  const answer = async (isValid: boolean, markers: bigint[]): Promise<(boolean | undefined)[]> => {
    const states = Object.fromEntries(
      terminators.map(({ id }, at) => [id, { valid: isValid || id === 'u', marker: markers[at]! }]),
    );
    router.send(ctrlMessages.validateTerminatorsV2Response.frame({ states }));
    await router.settle();
    return mesh.world.controller.fabric.terminators().map(({ isHealthy }) => isHealthy);
  };
  const markers = terminators.map(({ marker }) => marker);
  assert.deepEqual(await answer(false, [0n, 0n]), [true, true], 'of others than these');
  assert.deepEqual(await answer(false, markers), [false, true]);
  assert.deepEqual(ids(), ['t', 'u']);
  assert.deepEqual(await answer(true, markers), [true, true]);
});

test('an SDK cannot host under the id of a terminator of the fabric', async () => {
  await mesh.world.addIdentity('env1', 'environment');
  await mesh.world.addService('share1', 'env1');
  mesh.terminator('t', 'b');
  const answer = await mesh.world.bind(mesh.router('a'), 'env1', 'share1', 't');
  assert.deepEqual([answer.result, answer.msg], [2, 'this terminator id is taken']);
});
