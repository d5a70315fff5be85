import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { authorsNamed } from '../credentials/accounts/mod.ts';
import { ephemeralSecrets } from '../secrets/key-file.ts';
import { describeEachStore } from '../store/engine/each-store-suite.ts';
import type { PageRequest, Store } from '../store/mod.ts';
import { auditAfter, lastSequence, listAudit, type AuditFilter } from './audit-reading.ts';
import { appendAudit, appendAuditAll } from './audit-store.ts';

const EVENTS = 25;

describeEachStore('the audit trail', (open) => {
  let store: Store;
  before(async () => {
    store = await open();
    const secrets = ephemeralSecrets();
    // Every second is refused, every third is another actor's, every fifth about another thing.
    for (let n = 1; n <= EVENTS; n += 1) {
      await store.transaction(async (trx, touch) => {
        for (const organizationId of ['one', 'two']) {
          const entry = {
            organizationId,
            actor: { kind: 'account', id: n % 3 === 0 ? 'b' : 'a' },
            action: n <= 10 ? 'early' : 'late',
            target: { kind: 'thing', id: n % 5 === 0 ? 'y' : 'x' },
            address: null,
            result: n % 2 === 0 ? 'refused' : 'ok',
          } as const;
          await appendAudit(trx, touch, secrets, entry, n);
        }
      });
    }
  });
  after(() => store.close());

  const newest = { sort: 'default', direction: 'asc' } as const;
  const page = async (
    filter: AuditFilter,
    number: number,
    size: number,
    order: Pick<PageRequest, 'sort' | 'direction'> = newest,
  ) => {
    const request = { page: number, size, ...order };
    const { content, total } = await listAudit(store.db, 'one', filter, request);
    assert.ok(content.every((row) => row.organization_id === 'one'));
    return { sequences: content.map(({ sequence }) => sequence), total };
  };

  it('is read newest first, in pages that never overlap', async () => {
    assert.deepEqual(await page({}, 0, 10), { sequences: down(25, 16), total: 25 });
    assert.deepEqual(await page({}, 1, 10), { sequences: down(15, 6), total: 25 });
    assert.deepEqual(await page({}, 2, 10), { sequences: down(5, 1), total: 25 });
    assert.deepEqual(await page({}, 3, 10), { sequences: [], total: 25 });
    assert.deepEqual(await page({}, 1_000_000_000, 1_000), { sequences: [], total: 25 });
  });

  it('is found by the names of resources and authors, of the own organization alone', async () => {
    const person = (id: string, organizationId: string) => ({
      id,
      organization_id: organizationId,
      name: 'Ann Author',
      email: 'ann@example.com',
      role: 'reader' as const,
      created_at: 0,
      last_seen_at: null,
    });
    for (const id of ['named', 'foreign'])
      await store.db.insertInto('organization').values({ id, name: id, created_at: 0 }).execute();
    await store.db
      .insertInto('person')
      .values([person('p1', 'named'), person('p2', 'foreign')])
      .execute();
    const entry = { organizationId: 'named', action: 'a', address: null, result: 'ok' } as const;
    const share = { kind: 'share', id: 'sh1' };
    const actor = (id: string) => ({ kind: 'person' as const, id });
    await store.transaction((trx, touch) =>
      appendAuditAll(
        trx,
        touch,
        ephemeralSecrets(),
        [
          { ...entry, actor: actor('p1'), target: share },
          {
            ...entry,
            actor: actor('p2'),
            target: share,
            before: { name: 'Wiki "x"' },
            after: { target: 'wiki' },
          },
          { ...entry, actor: actor('p3'), target: share, after: { hostname: 'wiki.example' } },
        ],
        1,
      ),
    );
    const found = async (text: string) => {
      const request = { page: 0, size: 10, ...newest };
      const { content, total } = await listAudit(
        store.db,
        'named',
        { text, actorsNamed: authorsNamed('named', text) },
        request,
      );
      assert.equal(content.length, total);
      return content.map(({ actor_id: id }) => id);
    };
    assert.deepEqual(await found('wiki'), ['p3', 'p2']);
    assert.deepEqual(await found('WIKI "x"'), ['p2']);
    assert.deepEqual(await found('ann auth'), ['p1']);
    assert.deepEqual(await found('ANN@example'), ['p1']);
    assert.deepEqual(await found('hostname'), []);
  });

  it('is read oldest first on demand, and searched for a text', async () => {
    const oldest = { sort: 'at', direction: 'asc' } as const;
    assert.deepEqual(await page({}, 0, 3, oldest), { sequences: [1, 2, 3], total: 25 });
    assert.deepEqual(await page({}, 8, 3, oldest), { sequences: [25], total: 25 });
    const descending = { sort: 'at', direction: 'desc' } as const;
    assert.deepEqual(await page({}, 0, 2, descending), { sequences: [25, 24], total: 25 });
    assert.deepEqual(await page({ text: 'EARL' }, 0, 2, oldest), { sequences: [1, 2], total: 10 });
    assert.deepEqual(await page({ text: '%' }, 0, 2), { sequences: [], total: 0 });
  });

  it('is narrowed by action, actor, target and result, each and together', async () => {
    assert.deepEqual(await page({ action: 'early' }, 0, 4), { sequences: [10, 9, 8, 7], total: 10 });
    assert.deepEqual(await page({ action: 'early' }, 2, 4), { sequences: [2, 1], total: 10 });
    assert.deepEqual(await page({ actorId: 'b' }, 0, 3), { sequences: [24, 21, 18], total: 8 });
    assert.deepEqual(await page({ targetId: 'y' }, 0, 9), { sequences: [25, 20, 15, 10, 5], total: 5 });
    assert.deepEqual(await page({ result: 'refused' }, 0, 2), { sequences: [24, 22], total: 12 });
    const all = { action: 'late', actorId: 'a', targetId: 'y', result: 'refused' } as const;
    assert.deepEqual(await page(all, 0, 20), { sequences: [20], total: 1 });
    assert.deepEqual(await page({ action: 'never' }, 0, 20), { sequences: [], total: 0 });
  });

  it('is followed from an event on, at most so many at a time', async () => {
    const next = async (filter: AuditFilter, from: number, limit: number) => {
      const span = await auditAfter(store.db, 'one', filter, from, limit);
      return { sequences: span.rows.map(({ sequence }) => sequence), lastSequence: span.lastSequence };
    };
    assert.deepEqual(await next({}, 0, 3), { sequences: [1, 2, 3], lastSequence: 3 });
    assert.deepEqual(await next({}, 23, 3), { sequences: [24, 25], lastSequence: 25 });
    assert.deepEqual(await next({}, 25, 3), { sequences: [], lastSequence: 25 });
    // What does not fit the filter is passed over for good.
    assert.deepEqual(await next({ actorId: 'b' }, 20, 3), { sequences: [21, 24], lastSequence: 25 });
    assert.deepEqual(await next({ actorId: 'b' }, 24, 3), { sequences: [], lastSequence: 25 });
  });

  it('of an organization without events is empty', async () => {
    assert.equal(await lastSequence(store.db, 'none'), 0);
    const none = await listAudit(store.db, 'none', {}, { page: 0, size: 10, ...newest });
    assert.deepEqual(none, { content: [], total: 0 });
  });
});

function down(from: number, to: number): number[] {
  return Array.from({ length: from - to + 1 }, (_, n) => from - n);
}
