import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import type { Change, Queries, Store } from '../../store/mod.ts';
import type { EdgeEntityRecord } from './edge-entity.ts';
import {
  edgeEntitiesAfter,
  edgeEntitiesNaming,
  findEdgeEntities,
  findEdgeEntity,
  insertEdgeEntity,
  lockEdgeEntities,
  updateEdgeEntity,
  deleteEdgeEntity,
} from './edge-entity-store.ts';
import { findIdentityClient, identityClients, putIdentityClient } from './identity-client-store.ts';
import { findIdentityPassword, putIdentityPassword } from '../../credentials/identities/mod.ts';

function entity(id: string, more: Partial<EdgeEntityRecord> = {}): EdgeEntityRecord {
  return { id, kind: 'service', name: id, data: {}, tags: {}, createdAtMs: 1, updatedAtMs: 1, ...more };
}

describeEachStore('entities of the edge management API', (open) => {
  let store: Store;
  const changes: Change[] = [];
  before(async () => {
    store = await open();
    store.onChange((some) => void changes.push(...some));
  });
  after(() => store.close());

  const add = (...records: readonly EdgeEntityRecord[]): Promise<void> =>
    store.transaction(async (trx, touch) => {
      await lockEdgeEntities(trx);
      for (const record of records) await insertEdgeEntity(trx, touch, record);
    });

  /** An administrator with a row in both tables. */
  const addAdministrator = (id: string): Promise<void> =>
    store.transaction(async (trx, touch) => {
      const row = { id, kind: 'edge', frontdoor_id: null, name: id, agent_version: null } as const;
      await trx
        .insertInto('identity')
        .values({ ...row, created_at: 1 })
        .execute();
      await insertEdgeEntity(trx, touch, entity(id, { kind: 'identity', data: { isAdmin: true } }));
    });

  it('come back as they were stored, page by page, and report each change', async () => {
    const data = { roles: ['@b', '#ä'], nested: { deep: [1, null, true] } };
    const first = entity('a', { data, tags: { owner: 'ops' } });
    await add(first, entity('b'), entity('c', { kind: 'config' }));
    assert.deepEqual(await findEdgeEntity(store.db, 'service', 'a'), first);
    assert.equal(await findEdgeEntity(store.db, 'config', 'a'), undefined);
    const ids = (records: readonly EdgeEntityRecord[]): string[] => records.map(({ id }) => id).sort();
    assert.deepEqual(ids(await edgeEntitiesAfter(store.db, 'a', 1)), ['b']);
    assert.deepEqual(ids(await findEdgeEntities(store.db, ['a', 'c', 'none'])), ['a', 'c']);
    assert.deepEqual(ids(await edgeEntitiesNaming(store.db, '@b')), ['a']);
    changes.length = 0;
    const changed = { ...first, name: 'z', tags: {}, updatedAtMs: 2 };
    await store.transaction(async (trx, touch) => {
      await updateEdgeEntity(trx, touch, changed);
      await deleteEdgeEntity(trx, touch, 'b');
    });
    assert.deepEqual(await findEdgeEntity(store.db, 'service', 'a'), changed);
    assert.deepEqual(
      changes.map(({ entity: kind, id }) => `${kind} ${id}`),
      ['edge-entity a', 'edge-entity b'],
    );
  });

  it('have names of their own in their kind', async () => {
    await add(entity('d', { name: 'one' }), entity('e', { name: 'one', kind: 'config' }));
    await assert.rejects(add(entity('f', { name: 'one' })), { kind: 'conflict' });
    assert.equal(await findEdgeEntity(store.db, 'service', 'f'), undefined);
  });

  it('have one password for an identity, and a user name for one identity', async () => {
    await addAdministrator('p');
    await addAdministrator('q');
    const put = (identityId: string, username: string, passwordHash: string): Promise<void> =>
      putIdentityPassword(store.db, { identityId, username, passwordHash }, 5);
    await put('p', 'ann', 'h1');
    await put('p', 'ann', 'h2');
    assert.deepEqual(await findIdentityPassword(store.db, 'ann'), {
      identityId: 'p',
      username: 'ann',
      passwordHash: 'h2',
    });
    await assert.rejects(put('q', 'ann', 'h3'), { kind: 'conflict' });
  });

  it('have a description of their client, which is written only when it differs', async () => {
    await addAdministrator('c1');
    await addAdministrator('c2');
    let writes = 0;
    const counted = {
      selectFrom: (table: 'identity_client') => store.db.selectFrom(table),
      insertInto(table: 'identity_client') {
        writes += 1;
        return store.db.insertInto(table);
      },
    } as unknown as Queries;
    const [linux, sdk] = [{ os: 'linux' }, { type: 'sdk', version: '1' }];
    const put = async (envInfo: Record<string, string>, sdkInfo: Record<string, string>) => {
      await putIdentityClient(counted, 'c1', { envInfo, sdkInfo });
      return writes;
    };
    assert.equal(await put({}, {}), 0);
    assert.equal(await put(linux, sdk), 1);
    assert.equal(await put(linux, sdk), 1);
    assert.equal(await put({}, {}), 1);
    assert.equal(await put({}, { ...sdk, version: '2' }), 2);
    assert.deepEqual(await findIdentityClient(store.db, 'c1'), {
      envInfo: linux,
      sdkInfo: { ...sdk, version: '2' },
    });
    assert.deepEqual(await findIdentityClient(store.db, 'c2'), { envInfo: {}, sdkInfo: {} });
    assert.deepEqual([...(await identityClients(store.db)).keys()], ['c1']);
  });
});
