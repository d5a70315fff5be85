import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { EdgeEntityRecord } from '../records/edge-entity.ts';
import { insertEdgeEntity, updateEdgeEntity } from '../records/edge-entity-store.ts';
import { Secrets } from '../../secrets/secrets.ts';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import type { Store } from '../../store/mod.ts';
import {
  endManagementSession,
  extendManagementSession,
  findAdministratorSession,
  MAX_MANAGEMENT_SESSIONS,
  openManagementSession,
} from './management-session-store.ts';

const secrets = new Secrets([{ id: 'k1', key: new Uint8Array(32).fill(7) }]);

function administrator(isAdmin: boolean): EdgeEntityRecord {
  return {
    id: 's',
    kind: 'identity',
    name: 's',
    data: { isAdmin },
    tags: {},
    createdAtMs: 1,
    updatedAtMs: 1,
  };
}

/** Adds an administrator with a row in both tables. */
async function addAdministrator(store: Store): Promise<void> {
  const row = { id: 's', kind: 'edge', frontdoor_id: null, name: 's', agent_version: null } as const;
  await store.transaction(async (trx, touch) => {
    await trx
      .insertInto('identity')
      .values({ ...row, created_at: 1 })
      .execute();
    await insertEdgeEntity(trx, touch, administrator(true));
  });
}

describeEachStore('sessions of administrators at the edge management API', (open) => {
  let store: Store;
  before(async () => {
    store = await open();
  });
  after(() => store.close());

  it('end by time, by their end, with the right, and by too many others', async () => {
    await addAdministrator(store);
    const openOne = (nowMs: number) =>
      openManagementSession(store.db, secrets, { identityId: 's', method: 'cert' }, nowMs, 100);
    const find = async (token: string, nowMs: number): Promise<string | undefined> =>
      (await findAdministratorSession(store.db, secrets, token, nowMs))?.session.id;
    const session = await openOne(0);
    assert.equal(await find(session.token, 99), session.id);
    assert.equal(await find(session.token, 100), undefined);
    await extendManagementSession(store.db, session.id, 300);
    assert.equal(await find(session.token, 200), session.id);
    await endManagementSession(store.db, session.id);
    assert.equal(await find(session.token, 200), undefined);
    assert.equal(await find('made up', 200), undefined);

    const oldest = await openOne(1);
    const next = await openOne(2);
    for (let count = 2; count <= MAX_MANAGEMENT_SESSIONS; count += 1) await openOne(3);
    assert.equal(await find(oldest.token, 50), undefined);
    assert.equal(await find(next.token, 50), next.id);
    const plain = administrator(false);
    await store.transaction((trx, touch) => updateEdgeEntity(trx, touch, plain));
    assert.equal(await find(next.token, 50), undefined);
  });
});
