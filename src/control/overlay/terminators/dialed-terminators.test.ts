import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { attachModel, type AttachedModel } from '../model/model-loader.ts';
import { OverlayModel } from '../model/overlay-model.ts';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { createFabricNode, deleteFabricNode } from '../records/fabric-store.ts';
import { createFabricService } from '../records/fabric-service-store.ts';
import { TerminatorRegistry } from './terminator-registry.ts';
import type { Store } from '../../store/mod.ts';

describeEachStore('terminators that routers make for services of the fabric', (open) => {
  const model = new OverlayModel();
  let store: Store;
  let attached: AttachedModel;
  let terminators: TerminatorRegistry;
  let serviceId: string;
  before(async () => {
    store = await open();
    attached = await attachModel(store, model);
    terminators = new TerminatorRegistry(store, model);
    serviceId = await addService('database');
  });
  after(async () => {
    attached.close();
    await store.close();
  });

  const addService = async (name: string) => {
    const wanted = { name, terminatorStrategy: 'weighted', nowMs: 1 } as const;
    return (await store.transaction((trx, touch) => createFabricService(trx, touch, wanted))).id;
  };
  const addRouter = async () => {
    const wanted = { kind: 'router', name: 'r', nowMs: 1 } as const;
    return (await store.transaction((trx, touch) => createFabricNode(trx, touch, wanted))).id;
  };
  const wantedAt = (routerId: string) => ({
    serviceId,
    routerId,
    binding: 'transport',
    address: 'tcp:10.0.0.1:5432',
    instanceId: 'i',
    cost: 4,
    precedence: 1,
    peerData: new Map([[1110, new TextEncoder().encode('10.0.0.1:5432')]]),
  });

  it('are in memory when they are acknowledged, bytes and all, and after a start', async () => {
    const wanted = wantedAt(await addRouter());
    const id = await terminators.addDialed(wanted, 1);
    assert.deepEqual(model.fabricTerminator(id), { id, ...wanted });
    assert.deepEqual(terminators.get(id)?.peerData, wanted.peerData);
    const later = new OverlayModel();
    (await attachModel(store, later)).close();
    assert.deepEqual(later.fabricTerminator(id), { id, ...wanted });
    assert.deepEqual(later.fabricService(serviceId), {
      id: serviceId,
      name: 'database',
      terminatorStrategy: 'weighted',
    });
  });

  it('change their cost and precedence, each alone, and are removed; a missing one is refused', async () => {
    const wanted = wantedAt(await addRouter());
    const [id, other] = [await terminators.addDialed(wanted, 1), await terminators.addDialed(wanted, 1)];
    const made = terminators.get(id)!;
    assert.equal(await terminators.update(made, { cost: 9 }), true);
    assert.deepEqual(model.fabricTerminator(id), { id, ...wanted, cost: 9 });
    assert.equal(await terminators.update(made, { precedence: 2 }), true);
    assert.deepEqual(model.fabricTerminator(id), { id, ...wanted, cost: 9, precedence: 2 });
    assert.deepEqual([made.cost, made.precedence], [9, 2]);
    await terminators.removeOf('another', [id]);
    assert.equal(terminators.get(id), made);
    await terminators.removeOf(wanted.routerId, [id, 'none']);
    assert.equal(model.fabricTerminator(id), undefined);
    assert.equal(terminators.get(id), undefined);
    assert.ok(terminators.get(other));
    assert.equal(await terminators.update(made, { cost: 1 }), false);
  });

  it('are refused for a service or router that is gone', async () => {
    const routerId = await addRouter();
    await assert.rejects(terminators.addDialed({ ...wantedAt(routerId), serviceId: 'none' }, 1), {
      kind: 'conflict',
      code: 'service-gone',
    });
    await store.transaction((trx, touch) => deleteFabricNode(trx, touch, 'router', routerId));
    await assert.rejects(terminators.addDialed(wantedAt(routerId), 1), { kind: 'conflict' });
    assert.equal(terminators.ofRouter(routerId).size, 0);
  });
});
