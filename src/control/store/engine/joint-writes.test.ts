import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeEachStore } from './each-store-suite.ts';
import { writeJointly } from './joint-writes.ts';
import { statementsOf } from './statement-log-fixture.ts';
import type { Queries, Store } from './store.ts';

describeEachStore('joint writes', (open) => {
  let store: Store;
  before(async () => (store = await open()));
  after(() => store.close());

  const frontend = (id: string) => ({
    id,
    public_name: id,
    zone: `${id}.example`,
    is_default: 0,
    created_at: 0,
  });
  const insertion = (trx: Queries, id: string) => trx.insertInto('frontend').values(frontend(id));
  const ids = async () =>
    (await store.db.selectFrom('frontend').select('id').orderBy('id').execute()).map(({ id }) => id);

  it('are all done, in one statement on PostgreSQL, and return the rows of the last', async () => {
    await insertion(store.db, 'a').execute();
    let rows;
    const statements = await statementsOf(() =>
      store.transaction(async (trx) => {
        const first = [insertion(trx, 'b'), insertion(trx, 'c')];
        rows = await writeJointly(
          trx,
          first,
          trx.deleteFrom('frontend').where('id', '=', 'a').returning('id'),
        );
      }),
    );
    assert.deepEqual(rows, [{ id: 'a' }]);
    assert.deepEqual(await ids(), ['b', 'c']);
    assert.equal(statements.length, store.isShared ? 3 : 5);
  });

  it('are none done when one of them fails', async () => {
    const held = await ids();
    for (const [first, last] of [
      ['b', 'd'],
      ['d', 'b'],
    ] as const) {
      const failing = store.transaction((trx) =>
        writeJointly(trx, [insertion(trx, first)], insertion(trx, last)),
      );
      await assert.rejects(failing, { code: 'unique-violation' });
    }
    assert.deepEqual(await ids(), held);
  });
});
