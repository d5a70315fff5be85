// Changes of routers on both databases.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import type { Change, Store } from '../../store/mod.ts';
import { findEdgeEntity, lockEdgeEntities, updateEdgeEntity } from './edge-entity-store.ts';
import {
  changeFabricRouter,
  createFabricNode,
  findFabricNode,
  type FabricNode,
  type RouterAttributeChange,
} from './fabric-store.ts';

describeEachStore('attributes of a router', (open) => {
  let store: Store;
  const changes: Change[] = [];
  before(async () => {
    store = await open();
    store.onChange((some) => void changes.push(...some));
  });
  after(() => store.close());

  const change = (id: string, wished: Omit<RouterAttributeChange, 'nowMs'>): Promise<FabricNode> =>
    store.transaction(async (trx, touch) => {
      await lockEdgeEntities(trx);
      const router = await findFabricNode(trx, 'router', id);
      return changeFabricRouter(trx, touch, router!, { ...wished, nowMs: 2 });
    });

  it('are added, replaced and taken away, are reported, and leave the other data as it is', async () => {
    const { id } = await store.transaction((trx, touch) =>
      createFabricNode(trx, touch, { kind: 'router', name: 'east', nowMs: 1 }),
    );
    changes.length = 0;
    const first = await change(id, { roleAttributes: ['site', 'site', 'east'] });
    assert.deepEqual([first.isTunneler, first.roleAttributes], [false, ['site', 'east']]);
    assert.deepEqual(await findFabricNode(store.db, 'router', id), first);
    assert.deepEqual(changes.map(({ entity }) => entity).toSorted(), ['edge-entity', 'identity']);

    const stored = (await findEdgeEntity(store.db, 'edge-router', id))!;
    await store.transaction((trx, touch) =>
      updateEdgeEntity(trx, touch, { ...stored, data: { ...stored.data, cost: 7 }, tags: { owner: 'ops' } }),
    );
    const second = await change(id, { isTunneler: true });
    assert.deepEqual([second.isTunneler, second.roleAttributes], [true, ['site', 'east']]);
    await change(id, { roleAttributes: [] });
    const last = (await findEdgeEntity(store.db, 'edge-router', id))!;
    assert.deepEqual(last.data, { isTunnelerEnabled: true, roleAttributes: [], cost: 7 });
    assert.deepEqual([last.tags, last.updatedAtMs], [{ owner: 'ops' }, 2]);
  });
});
