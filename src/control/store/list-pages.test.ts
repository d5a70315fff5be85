import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, it } from 'node:test';
import { SeededRandom } from '../../../test/support/seeded-random.ts';
import { describeEachStore } from './engine/each-store-suite.ts';
import { listEnvironments, type EnvironmentRecord } from '../shares/records/environment-store.ts';
import { createFrontdoor, type GrantedFrontdoor } from '../shares/records/frontdoor-store.ts';
import type { PageRequest } from './engine/page.ts';
import type { Store } from './engine/store.ts';

const SEED = Date.now() & 0xffff;

/** Few names for many rows, so that most are ties; in an order that only bytes have. */
const NAMES = ['', 'Z', 'a', 'a b', 'é', 'z', 'ß', 'Ω', '漢', '😀', '\u{FFFD}'];

describeEachStore('pages of a list', (open) => {
  let store: Store;
  before(async () => {
    store = await open();
    await store.db.insertInto('organization').values({ id: 'o', name: 'o', created_at: 1 }).execute();
  });
  after(() => store.close());

  const newFrontdoor = () =>
    store.transaction((trx, touch) =>
      createFrontdoor(trx, touch, { organizationId: 'o', name: 'f', nowMs: 1 }),
    );

  async function add(frontdoor: GrantedFrontdoor, names: readonly string[]): Promise<string[]> {
    const rows = names.map((name, i) => ({
      id: randomUUID(),
      kind: 'environment' as const,
      frontdoor_id: frontdoor.id,
      name,
      agent_version: null,
      created_at: Math.floor(i / 3),
    }));
    await store.transaction((trx) => trx.insertInto('identity').values(rows).execute());
    return rows.map(({ id }) => id);
  }

  const page = (frontdoor: GrantedFrontdoor, request: Partial<PageRequest>) =>
    listEnvironments(store, frontdoor, { page: 0, size: 10, sort: 'default', direction: 'asc', ...request });

  /** The whole list at once: what pages must add up to. */
  async function whole(frontdoor: GrantedFrontdoor, request: Partial<PageRequest>) {
    const { content } = await page(frontdoor, { ...request, page: 0, size: 1_000 });
    return content;
  }

  const bytes = (text: string) => Buffer.from(text);

  it('have one order, by bytes and then by id, in both directions', async () => {
    const frontdoor = await newFrontdoor();
    await add(
      frontdoor,
      Array.from({ length: 110 }, (_, i) => NAMES[(i * 7) % NAMES.length]!),
    );
    const byName = await whole(frontdoor, { sort: 'name' });
    assert.equal(byName.length, 110);
    const expected = byName.toSorted(
      (a, b) => Buffer.compare(bytes(a.name), bytes(b.name)) || Buffer.compare(bytes(a.id), bytes(b.id)),
    );
    assert.deepEqual(byName, expected);
    assert.deepEqual(await whole(frontdoor, { sort: 'name', direction: 'desc' }), byName.toReversed());
    const byAge = await whole(frontdoor, {});
    assert.deepEqual(
      byAge,
      byAge.toSorted((a, b) => a.createdAtMs - b.createdAtMs || Buffer.compare(bytes(a.id), bytes(b.id))),
    );
  });

  it('add up to the list in any order and size, with the total on each', async (test) => {
    test.diagnostic(`seed ${SEED}`);
    const frontdoor = await newFrontdoor();
    await add(
      frontdoor,
      Array.from({ length: 95 }, (_, i) => NAMES[(i * 5) % NAMES.length]!),
    );
    const random = new SeededRandom(SEED);
    for (const sort of ['default', 'name', 'id']) {
      for (const direction of ['asc', 'desc'] as const) {
        const all = await whole(frontdoor, { sort, direction });
        for (let i = 0; i < 25; i += 1) {
          const size = 1 + random.int(30);
          const number = random.int(8);
          const got = await page(frontdoor, { sort, direction, size, page: number });
          assert.deepEqual(got.content, all.slice(number * size, (number + 1) * size));
          assert.equal(got.total, 95);
        }
      }
    }
  });

  it('beyond the end are empty and still have the total; of an empty list too', async () => {
    const frontdoor = await newFrontdoor();
    assert.deepEqual(await page(frontdoor, {}), { content: [], total: 0 });
    await add(frontdoor, ['a', 'b', 'c']);
    assert.deepEqual(await page(frontdoor, { page: 5 }), { content: [], total: 3 });
    assert.deepEqual((await page(frontdoor, { page: 1, size: 3 })).content, []);
    assert.deepEqual((await page(frontdoor, { page: 1_000_000, size: 1_000 })).total, 3);
  });

  it('never show what was true before a change: inserts, renames and deletes in between', async (test) => {
    test.diagnostic(`seed ${SEED}`);
    const frontdoor = await newFrontdoor();
    const ids = await add(
      frontdoor,
      Array.from({ length: 60 }, (_, i) => NAMES[i % NAMES.length]!),
    );
    const random = new SeededRandom(SEED);
    const changes = [
      () => add(frontdoor, [random.pick(NAMES)]).then((added) => ids.push(...added)),
      () =>
        store.db
          .updateTable('identity')
          .set({ name: random.pick(NAMES) })
          .where('id', '=', random.pick(ids))
          .execute(),
      async () => {
        const id = random.pick(ids);
        ids.splice(ids.indexOf(id), 1);
        await store.db.deleteFrom('identity').where('id', '=', id).execute();
      },
    ];
    for (let i = 0; i < 40; i += 1) {
      for (const number of [0, 2, 4]) await page(frontdoor, { sort: 'name', page: number });
      await changes[i % changes.length]!();
      const all: readonly EnvironmentRecord[] = await whole(frontdoor, { sort: 'name' });
      for (const number of [4, 3, 1]) {
        const { content, total } = await page(frontdoor, { sort: 'name', page: number });
        assert.deepEqual(content, all.slice(number * 10, number * 10 + 10));
        assert.equal(total, ids.length);
      }
    }
  });

  it('are each their own frontdoor’s', async () => {
    const [one, other] = [await newFrontdoor(), await newFrontdoor()];
    await add(one, ['a', 'b']);
    await add(other, ['c']);
    assert.deepEqual(
      (await page(one, { sort: 'name' })).content.map(({ name }) => name),
      ['a', 'b'],
    );
    assert.deepEqual(
      (await page(other, { sort: 'name' })).content.map(({ name }) => name),
      ['c'],
    );
    assert.equal((await page(one, {})).total, 2);
  });

  it('count what was added at the same time, and what went with its frontdoor', async () => {
    const frontdoor = await newFrontdoor();
    await Promise.all(Array.from({ length: 30 }, (_, i) => add(frontdoor, [`n${i}`])));
    assert.equal((await page(frontdoor, {})).total, 30);
    await store.db.deleteFrom('frontdoor').where('id', '=', frontdoor.id).execute();
    assert.deepEqual(
      await store.db.selectFrom('collection').selectAll().where('frontdoor_id', '=', frontdoor.id).execute(),
      [],
    );
  });
});
