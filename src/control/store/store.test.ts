import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, before, it } from 'node:test';
import { sql } from 'kysely';
import { describeEachStore } from './engine/each-store-suite.ts';
import { deleteFrontdoor, grantFrontdoor } from '../shares/records/frontdoor-store.ts';
import { openStore } from './engine/open-store.ts';
import { lockedByName, lockedForUpdate } from './engine/row-lock.ts';
import { isPostgres } from './schema/database-kind.ts';
import { createShare } from '../shares/records/share-store.ts';
import type { Change, Store, StoreTransaction } from './engine/store.ts';

const organization = (id: string) => ({ id, name: 'x', created_at: 1 });
const insert = (trx: StoreTransaction, id: string) =>
  trx.insertInto('organization').values(organization(id)).execute();

describeEachStore('the store', (open, newPlace) => {
  let store: Store;
  before(async () => {
    store = await open();
    await store.transaction((trx) => insert(trx, 'counter'));
  });
  after(() => store.close());

  const counter = () => store.db.selectFrom('organization').selectAll().where('id', '=', 'counter');

  it('loses none of fifty read-modify-writes at once, when each locks what it reads', async () => {
    const increment = async (trx: StoreTransaction): Promise<void> => {
      const row = await lockedForUpdate(
        trx,
        trx.selectFrom('organization').selectAll().where('id', '=', 'counter'),
      ).executeTakeFirstOrThrow();
      await trx
        .updateTable('organization')
        .set({ created_at: row.created_at + 1 })
        .where('id', '=', 'counter')
        .execute();
    };
    await Promise.all(Array.from({ length: 50 }, () => store.transaction(increment)));
    assert.equal((await counter().executeTakeFirstOrThrow()).created_at, 51);
  });

  it('undoes a transaction that continued after a statement of it had failed, and nobody else’s', async () => {
    const careless = store.transaction(async (trx) => {
      await insert(trx, 'careless');
      await insert(trx, 'counter').catch(() => {});
    });
    const careful = Array.from({ length: 5 }, (_, n) =>
      store.transaction((trx) => insert(trx, `careful-${n}`)),
    );
    await assert.rejects(careless);
    await Promise.all(careful);
    const rows = await store.db
      .selectFrom('organization')
      .select('id')
      .where('id', 'like', 'care%')
      .execute();
    assert.deepEqual(
      rows.map(({ id }) => id).sort(),
      [0, 1, 2, 3, 4].map((n) => `careful-${n}`),
    );
  });

  it('takes statements that are sent without waiting for those before them', async () => {
    const ids = Array.from({ length: 20 }, (_, n) => `sent-${n}`);
    await store.transaction((trx) => Promise.all(ids.map((id) => insert(trx, id))));
    const sent = () =>
      store.db.selectFrom('organization').select('id').where('id', 'like', 'sent-%').execute();
    assert.equal((await sent()).length, ids.length);
    await assert.rejects(
      store.transaction((trx) => Promise.all(['sent-20', 'sent-0', 'sent-21'].map((id) => insert(trx, id)))),
      { code: 'unique-violation' },
    );
    assert.equal((await sent()).length, ids.length);
  });

  it('runs one transaction at a time under a name', async () => {
    let inside = 0;
    let most = 0;
    const enter = async (trx: StoreTransaction): Promise<void> => {
      await lockedByName(trx, 'door');
      inside += 1;
      most = Math.max(most, inside);
      await trx.selectFrom('organization').select('id').limit(1).execute();
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 20 }, () => store.transaction(enter)));
    assert.equal(most, 1);
  });

  it('runs transactions again that locked each other out', async () => {
    await store.transaction(async (trx) => {
      await insert(trx, 'left');
      await insert(trx, 'right');
    });
    const bump = async (trx: StoreTransaction, id: string): Promise<void> => {
      await trx
        .updateTable('organization')
        .set((eb) => ({ created_at: eb('created_at', '+', 1) }))
        .where('id', '=', id)
        .execute();
    };
    const crossing = ['left', 'right', 'left', 'right'].map((first) =>
      store.transaction(async (trx) => {
        await bump(trx, first);
        await bump(trx, first === 'left' ? 'right' : 'left');
      }),
    );
    await Promise.all(crossing);
    const rows = await store.db
      .selectFrom('organization')
      .select('created_at')
      .where('id', 'in', ['left', 'right'])
      .execute();
    assert.deepEqual(rows, [{ created_at: 5 }, { created_at: 5 }]);
  });

  it('lets one of two simultaneous creations succeed, and answers the other that it exists', async () => {
    for (let round = 0; round < 10; round += 1) {
      const makers = [1, 2].map(() => store.transaction((trx) => insert(trx, `race-${round}`)));
      const ends = await Promise.allSettled(makers);
      const lost = ends.filter((end) => end.status === 'rejected');
      assert.equal(lost.length, 1);
      assert.equal((lost[0]!.reason as { code: string }).code, 'unique-violation');
    }
  });

  it('undoes a transaction that fails', async () => {
    const failing = store.transaction(async (trx) => {
      await insert(trx, 'half');
      throw new Error('no');
    });
    await assert.rejects(failing, /no/);
    const rows = await store.db.selectFrom('organization').selectAll().where('id', '=', 'half').execute();
    assert.deepEqual(rows, []);
  });

  it('notifies listeners of committed changes only, before the writer continues', async () => {
    const received: Change[] = [];
    store.onChange(async (changes) => {
      const ids = changes.map(({ id }) => id);
      const rows = await store.db.selectFrom('organization').select('id').where('id', 'in', ids).execute();
      assert.equal(rows.length, ids.length);
      received.push(...changes);
    });
    const after: Change[] = [];
    store.onChange((changes) => void after.push(...changes));
    const rolledBack = store.transaction(async (trx, touch) => {
      await insert(trx, 'undone');
      touch('organization', 'undone');
      throw new Error('no');
    });
    await assert.rejects(rolledBack);
    const ids = Array.from({ length: 10 }, (_, i) => `change-${i}`);
    await Promise.all(
      ids.map(async (id) => {
        await store.transaction(async (trx, touch) => {
          await insert(trx, id);
          touch('organization', id);
          touch('organization', id);
        });
        assert.ok(received.some((change) => change.id === id));
        assert.ok(after.some((change) => change.id === id));
      }),
    );
    assert.deepEqual(received.map(({ id }) => id).toSorted(), ids);
    assert.deepEqual(after, received);
  });

  it('reports the kind of a failure', async () => {
    await assert.rejects(
      store.transaction((trx) => insert(trx, 'counter')),
      { kind: 'conflict', code: 'unique-violation' },
    );
    const orphan = store.db
      .insertInto('frontdoor')
      .values({ id: 'f', organization_id: 'nobody', name: 'x', created_at: 1 })
      .execute();
    await assert.rejects(orphan, { kind: 'conflict', code: 'foreign-key-violation' });
    await assert.rejects(sql`select nonsense`.execute(store.db), { kind: 'internal' });
    const closed = await open();
    await closed.close();
    await assert.rejects(closed.db.selectFrom('share').selectAll().execute(), { kind: 'unavailable' });
  });

  it('keeps numbers and text as they are, and orders text by its bytes', async () => {
    const names = ['', 'Z', 'a', 'z', 'é', 'ﬀ', '😀', "'; --", '\\', '%'];
    const rows = names.map((name, i) => ({ id: `t${i}`, name, created_at: Number.MAX_SAFE_INTEGER - i }));
    await store.db.insertInto('organization').values(rows).execute();
    const read = await store.db
      .selectFrom('organization')
      .select(['id', 'name', 'created_at'])
      .where('id', 'like', 't_')
      .orderBy('name')
      .execute();
    const byBytes = rows.toSorted((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
    assert.deepEqual(read, byBytes);
    const { sum, count } = await store.db
      .selectFrom('organization')
      .select((eb) => [eb.fn.sum<number>('token_exchange').as('sum'), eb.fn.countAll<number>().as('count')])
      .where('id', 'like', 't_')
      .executeTakeFirstOrThrow();
    assert.deepEqual([sum, count], [0, names.length]);
    const unmatched = await store.db.selectFrom('organization').select('id').where('id', '=', '\0').execute();
    assert.deepEqual(unmatched, []);
  });

  it('removes with a frontdoor all its resources, and reports each', async () => {
    const frontdoorId = randomUUID();
    const environmentId = randomUUID();
    await store.transaction(async (trx) => {
      await insert(trx, 'owner');
      await trx
        .insertInto('frontdoor')
        .values({ id: frontdoorId, organization_id: 'owner', name: 'x', created_at: 1 })
        .execute();
      await trx
        .insertInto('frontend')
        .values({ id: 'web', public_name: 'public', zone: 'z', is_default: 1, created_at: 1 })
        .execute();
      const identity = { id: environmentId, kind: 'environment' as const, frontdoor_id: frontdoorId };
      await trx
        .insertInto('identity')
        .values({ ...identity, name: 'e', agent_version: null, created_at: 1 })
        .execute();
    });
    const wanted = {
      frontdoorId,
      environmentId,
      shareMode: 'public',
      backendMode: 'proxy',
      targetByAgent: true,
      nowMs: 1,
    } as const;
    const share = await store.transaction((trx, touch) =>
      createShare(trx, touch, { ...wanted, name: 'app', target: 'http://h:1' }),
    );
    const counts = () =>
      store.db
        .selectFrom('collection')
        .select(['kind', 'total'])
        .where('frontdoor_id', '=', frontdoorId)
        .orderBy('kind')
        .execute();
    assert.deepEqual(await counts(), [
      { kind: 'environment', total: 1 },
      { kind: 'share', total: 1 },
    ]);
    const notified: Change[] = [];
    store.onChange((changes) => void notified.push(...changes));
    const granted = (await grantFrontdoor(store.db, 'owner', frontdoorId))!;
    assert.ok(await store.transaction((trx, touch) => deleteFrontdoor(trx, touch, granted, 0)));
    assert.deepEqual(
      notified.map(({ id }) => id).toSorted(),
      [share.id, environmentId, frontdoorId].toSorted(),
    );
    assert.deepEqual(await counts(), []);
    for (const table of ['share', 'share_frontend', 'identity'] as const) {
      assert.deepEqual(await store.db.selectFrom(table).selectAll().execute(), [], table);
    }
  });

  it('loses no acknowledged write when its process is killed', async () => {
    const place = await newPlace();
    const script = `
      import { openStore } from ${JSON.stringify(new URL('./engine/open-store.ts', import.meta.url).href)};
      const store = await openStore(${JSON.stringify(place)});
      await Promise.all([0, 1, 2, 3].map(async (lane) => {
        for (let i = 0; ; i += 1) {
          const id = process.pid + '-' + lane + '-' + i;
          await store.transaction(async (trx) => {
            await trx.insertInto('organization').values({ id, name: 'x', created_at: 1 }).execute();
            await trx.insertInto('frontdoor').values({ id, organization_id: id, name: 'x', created_at: 1 }).execute();
          });
          process.stdout.write(id + '\\n');
        }
      }));`;
    const acknowledged: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let lines = 0;
      const reader = createInterface({ input: child.stdout });
      reader.on('line', (line) => {
        acknowledged.push(line);
        lines += 1;
        if (lines === 100 + round * 37) child.kill('SIGKILL');
      });
      await once(reader, 'close', { signal: AbortSignal.timeout(30_000) });
    }
    assert.ok(acknowledged.length >= 411, `${acknowledged.length} acknowledged`);
    const reopened = await openStore(place);
    // One snapshot reads both: the server may still commit what the killed process had sent.
    const { organizations, frontdoors } = await reopened.snapshot(async (db) => ({
      organizations: await db.selectFrom('organization').select('id').execute(),
      frontdoors: await db.selectFrom('frontdoor').select('id').execute(),
    }));
    const present = new Set(organizations.map(({ id }) => id));
    assert.deepEqual(
      acknowledged.filter((id) => !present.has(id)),
      [],
    );
    assert.deepEqual(new Set(frontdoors.map(({ id }) => id)), present);
    if (!isPostgres(reopened.db)) {
      const integrity = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(reopened.db);
      assert.equal(integrity.rows[0]?.integrity_check, 'ok');
    }
    await reopened.close();
  });
});
