import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { ManualClock } from '#base';
import { ephemeralSecrets } from '../secrets/key-file.ts';
import { seedFirstStart } from './first-start.ts';
import { openStore } from './open-store.ts';
import type { Change, Store, StoreTransaction } from './store.ts';

const organization = (id: string) => ({ id, name: 'x', created_at: 1 });
const insert = (trx: StoreTransaction, id: string) =>
  trx.insertInto('organization').values(organization(id)).execute();

describe('the store', () => {
  let store: Store;
  let directory: string;
  before(async () => {
    store = await openStore({ path: 'memory' });
    directory = await mkdtemp(join(tmpdir(), 'frontdoor-store-'));
  });
  after(async () => {
    await store.close();
    await rm(directory, { recursive: true });
  });

  it('runs transactions one after another, so that none sees half of another', async () => {
    await store.transaction((trx) => insert(trx, 'counter'));
    const increments = Array.from({ length: 20 }, () =>
      store.transaction(async (trx) => {
        const row = await trx
          .selectFrom('organization')
          .selectAll()
          .where('id', '=', 'counter')
          .executeTakeFirstOrThrow();
        await trx
          .updateTable('organization')
          .set({ created_at: row.created_at + 1 })
          .where('id', '=', 'counter')
          .execute();
      }),
    );
    await Promise.all(increments);
    const row = await store.db
      .selectFrom('organization')
      .selectAll()
      .where('id', '=', 'counter')
      .executeTakeFirstOrThrow();
    assert.equal(row.created_at, 21);
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

  it('tells listeners of committed changes alone, before the writer goes on', async () => {
    const heard: Change[] = [];
    store.onChange(async (changes) => {
      const ids = changes.map(({ id }) => id);
      const rows = await store.db.selectFrom('organization').select('id').where('id', 'in', ids).execute();
      assert.equal(rows.length, ids.length);
      heard.push(...changes);
    });
    store.onChange(() => {
      throw new Error('one listener fails');
    });
    const after: Change[] = [];
    store.onChange((changes) => void after.push(...changes));
    const rolledBack = store.transaction(async (trx, touch) => {
      await insert(trx, 'undone');
      touch('organization', 'undone');
      throw new Error('no');
    });
    await assert.rejects(rolledBack);
    const ids = Array.from({ length: 10 }, (_, i) => `told-${i}`);
    await Promise.all(
      ids.map(async (id) => {
        await store.transaction(async (trx, touch) => {
          await insert(trx, id);
          touch('organization', id);
          touch('organization', id);
        });
        assert.ok(heard.some((change) => change.id === id));
        assert.ok(after.some((change) => change.id === id));
      }),
    );
    assert.deepEqual(
      heard.map(({ id }) => id),
      ids,
    );
  });

  it('says what kind of failure it was', async () => {
    await assert.rejects(
      store.transaction((trx) => insert(trx, 'counter')),
      { kind: 'conflict', code: 'unique_violation' },
    );
    const orphan = store.db
      .insertInto('frontdoor')
      .values({ id: 'f', organization_id: 'nobody', name: 'x', created_at: 1 })
      .execute();
    await assert.rejects(orphan, { kind: 'conflict', code: 'foreign_key_violation' });
    await assert.rejects(sql`select nonsense`.execute(store.db), { kind: 'internal' });
    await assert.rejects(openStore({ path: join(directory, 'none', 'x.db') }), { kind: 'unavailable' });
    const closed = await openStore({ path: 'memory' });
    await closed.close();
    await assert.rejects(closed.db.selectFrom('share').selectAll().execute(), { kind: 'unavailable' });
  });

  it('reports a full disk as unavailable, keeps what it had, and goes on when there is room', async () => {
    const full = await openStore({ path: join(directory, 'full.db') });
    const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(full.db);
    await sql`pragma max_page_count = ${sql.raw(String(rows[0]!.page_count + 1))}`.execute(full.db);
    let stored = 0;
    const filling = (async () => {
      for (;;) {
        await full.transaction((trx) =>
          trx
            .insertInto('organization')
            .values({ ...organization(`row-${stored}`), name: 'x'.repeat(2_000) })
            .execute(),
        );
        stored += 1;
      }
    })();
    await assert.rejects(filling, { kind: 'unavailable' });
    const kept = await full.db.selectFrom('organization').select('id').execute();
    assert.equal(kept.length, stored);
    await sql`pragma max_page_count = 1000000`.execute(full.db);
    await full.transaction((trx) => insert(trx, 'after'));
    await full.close();
  });

  it('keeps its file to itself and to its owner', async () => {
    const path = join(directory, 'own.db');
    const own = await openStore({ path });
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    const mode = await sql<{ journal_mode: string }>`pragma journal_mode`.execute(own.db);
    const synchronous = await sql<{ synchronous: number }>`pragma synchronous`.execute(own.db);
    assert.equal(mode.rows[0]?.journal_mode, 'wal');
    assert.equal(synchronous.rows[0]?.synchronous, 2);
    await assert.rejects(openStore({ path, busyTimeoutMs: 50 }), {
      kind: 'unavailable',
      message: /another process/,
    });
    await own.close();
    const again = await openStore({ path });
    assert.deepEqual(await again.db.selectFrom('organization').selectAll().execute(), []);
    await again.close();
  });

  it('loses no acknowledged write when its process is killed', async () => {
    const path = join(directory, 'killed.db');
    const script = `
      import { openStore } from ${JSON.stringify(new URL('./open-store.ts', import.meta.url).href)};
      const store = await openStore({ path: ${JSON.stringify(path)} });
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
      await once(reader, 'close', { signal: AbortSignal.timeout(20_000) });
    }
    assert.ok(acknowledged.length >= 411, `${acknowledged.length} acknowledged`);
    const reopened = await openStore({ path });
    const organizations = await reopened.db.selectFrom('organization').select('id').execute();
    const frontdoors = await reopened.db.selectFrom('frontdoor').select('id').execute();
    const present = new Set(organizations.map(({ id }) => id));
    assert.deepEqual(
      acknowledged.filter((id) => !present.has(id)),
      [],
    );
    assert.deepEqual(new Set(frontdoors.map(({ id }) => id)), present);
    const integrity = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(reopened.db);
    assert.equal(integrity.rows[0]?.integrity_check, 'ok');
    await reopened.close();
  });
});

describe('the first start', () => {
  it('fills an empty database once, and keeps no secret in clear', async () => {
    const store = await openStore({ path: 'memory' });
    const secrets = ephemeralSecrets();
    const options = { zone: 'share.localhost', clock: new ManualClock() };
    const first = (await seedFirstStart(store, secrets, options))!;
    assert.equal(await seedFirstStart(store, secrets, options), undefined);
    for (const [table, count] of [
      ['organization', 1],
      ['frontdoor', 1],
      ['api_account', 1],
      ['oauth_client', 1],
      ['frontend', 1],
      ['signing_key', 1],
    ] as const) {
      const rows = await store.db.selectFrom(table).selectAll().execute();
      assert.equal(rows.length, count, table);
      const text = JSON.stringify(rows);
      assert.ok(!text.includes(first.apiToken) && !text.includes(first.clientSecret));
      assert.ok(!text.includes('PRIVATE KEY'));
    }
    await store.close();
  });

  it('is refused with another key file', async () => {
    const store = await openStore({ path: 'memory' });
    const options = { zone: 'share.localhost', clock: new ManualClock() };
    await seedFirstStart(store, ephemeralSecrets(), options);
    await assert.rejects(seedFirstStart(store, ephemeralSecrets(), options), {
      kind: 'invalid',
      code: 'key_file',
    });
    await store.close();
  });
});
