import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { ManualClock } from '#base';
import { attachModel, type AttachedModel } from '../model/model-loader.ts';
import { OverlayModel } from '../model/overlay-model.ts';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { createFabricNode, deleteFabricNode } from '../records/fabric-store.ts';
import { createFabricService } from '../records/fabric-service-store.ts';
import { FabricTerminatorWriter } from './fabric-terminator-writer.ts';
import type { Store } from '../../store/mod.ts';
import { shareCatalog } from '../../shares/records/share-guard.ts';

describeEachStore('terminators that routers make for services of the fabric', (open) => {
  const clock = new ManualClock();
  const model = new OverlayModel();
  let store: Store;
  let attached: AttachedModel;
  let writer: FabricTerminatorWriter;
  let serviceId: string;
  before(async () => {
    store = await open();
    attached = await attachModel(store, model, shareCatalog);
    writer = new FabricTerminatorWriter(store, clock);
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

  it('are in the model when they are acknowledged, bytes and all, and after a start', async () => {
    const wanted = wantedAt(await addRouter());
    const id = await writer.create(wanted);
    assert.deepEqual(model.fabricTerminator(id), { id, ...wanted });
    const later = new OverlayModel();
    (await attachModel(store, later, shareCatalog)).close();
    assert.deepEqual(later.fabricTerminator(id), { id, ...wanted });
    assert.deepEqual(later.fabricService(serviceId), {
      id: serviceId,
      name: 'database',
      terminatorStrategy: 'weighted',
    });
  });

  it('change their cost and precedence, each alone, and are removed; a missing one is refused', async () => {
    const wanted = wantedAt(await addRouter());
    const [id, other] = [await writer.create(wanted), await writer.create(wanted)];
    assert.equal(await writer.update(id, { cost: 9 }), true);
    assert.deepEqual(model.fabricTerminator(id), { id, ...wanted, cost: 9 });
    assert.equal(await writer.update(id, { precedence: 2 }), true);
    assert.deepEqual(model.fabricTerminator(id), { id, ...wanted, cost: 9, precedence: 2 });
    assert.equal(await writer.update('none', { cost: 1 }), false);
    await writer.remove([id, 'none']);
    assert.equal(model.fabricTerminator(id), undefined);
    assert.ok(model.fabricTerminator(other));
    assert.equal(await writer.update(id, { cost: 1 }), false);
  });

  it('are refused for a service or router that is gone', async () => {
    const routerId = await addRouter();
    await assert.rejects(writer.create({ ...wantedAt(routerId), serviceId: 'none' }), {
      kind: 'conflict',
      code: 'service-gone',
    });
    await store.transaction((trx, touch) => deleteFabricNode(trx, touch, 'router', routerId));
    await assert.rejects(writer.create(wantedAt(routerId)), { kind: 'conflict' });
    assert.ok(![...model.fabricTerminators()].some((each) => each.routerId === routerId));
  });
});
