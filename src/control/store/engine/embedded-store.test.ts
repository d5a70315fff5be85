import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { within } from '../../../../test/support/deadline.ts';
import { lineOf, recordingLog } from '../../../../test/support/recording-log.ts';
import { openEmbeddedStore } from './embedded-store.ts';
import { LATER, newer, older } from '../migrations/later-schema-fixture.ts';
import { EVERYTHING, type StoreTransaction } from './store.ts';

const organization = (id: string) => ({ id, name: 'x', created_at: 1 });
const insert = (trx: StoreTransaction, id: string) =>
  trx.insertInto('organization').values(organization(id)).execute();

describe('the embedded store', () => {
  let directory: string;
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'frontdoor-store-'));
  });
  after(() => rmSync(directory, { recursive: true }));

  it('reports a full disk as unavailable, keeps what it had, reads on, and continues when there is room', async () => {
    const full = await openEmbeddedStore({ path: join(directory, 'full.db') });
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
    await assert.rejects(filling, { kind: 'unavailable', message: /no room left on its disk/ });
    const kept = await full.db.selectFrom('organization').select('id').execute();
    assert.equal(kept.length, stored);
    await sql`pragma max_page_count = 1000000`.execute(full.db);
    await full.transaction((trx) => insert(trx, 'after'));
    await full.close();
  });

  it('refuses within the deadline while its disk does not answer, and notifies listeners when it does again', async () => {
    const other = join(directory, 'held.db');
    const holder = new DatabaseSync(other);
    holder.exec('create table held (id text)');
    const lines: string[] = [];
    const log = recordingLog((record) => void lines.push(lineOf(record)));
    const store = await openEmbeddedStore({
      path: join(directory, 'frozen.db'),
      log,
      busyTimeoutMs: 60_000,
      pulse: { silenceMs: 50, probeMs: 100 },
    });
    const changed = Promise.withResolvers<void>();
    store.onChange((changes) => {
      if (changes.includes(EVERYTHING)) changed.resolve();
    });
    await sql`attach ${other} as other`.execute(store.db);
    // The thread waits in SQLite for this lock, as it waits in the kernel for a disk.
    holder.exec('begin immediate');
    const insertHeld = (trx: StoreTransaction): Promise<unknown> =>
      sql`insert into other.held values ('given up')`.execute(trx);
    const waiting = [
      store.transaction(insertHeld),
      store.transaction((trx) => insertHeld(trx).catch(() => {})),
      store.db.selectFrom('organization').selectAll().execute(),
    ];
    const refused = { kind: 'unavailable', message: /does not answer/ };
    for (const each of waiting) await within('a refusal', assert.rejects(each, refused));
    await assert.rejects(store.db.selectFrom('organization').selectAll().execute(), refused);
    holder.exec('rollback');
    await within('the notice of listeners', changed.promise);
    const { rows } = await sql`select * from other.held`.execute(store.db);
    assert.deepEqual(rows, []);
    await store.transaction((trx) => insert(trx, 'after'));
    assert.ok(lines.some((line) => line.includes('does not answer')));
    assert.ok(lines.some((line) => line.includes('answers again')));
    await store.close();
    holder.close();
  });

  it('keeps its file to itself and to its owner', async () => {
    const path = join(directory, 'own.db');
    const own = await openEmbeddedStore({ path });
    assert.equal(statSync(path).mode & 0o777, 0o600);
    const mode = await sql<{ journal_mode: string }>`pragma journal_mode`.execute(own.db);
    const synchronous = await sql<{ synchronous: number }>`pragma synchronous`.execute(own.db);
    assert.equal(mode.rows[0]?.journal_mode, 'wal');
    assert.equal(synchronous.rows[0]?.synchronous, 2);
    await assert.rejects(openEmbeddedStore({ path, busyTimeoutMs: 50 }), {
      kind: 'unavailable',
      message: /another process/,
    });
    await own.close();
    const again = await openEmbeddedStore({ path });
    assert.deepEqual(await again.db.selectFrom('organization').selectAll().execute(), []);
    await again.close();
    await assert.rejects(openEmbeddedStore({ path: join(directory, 'none', 'x.db') }), {
      kind: 'unavailable',
    });
  });

  it('keeps a copy from before a migration, which the older program opens', async () => {
    const path = join(directory, 'grown.db');
    const old = await openEmbeddedStore({ path, migrations: older });
    await old.transaction((trx) => insert(trx, 'kept'));
    await old.close();
    const lines: string[] = [];
    const grown = await openEmbeddedStore({
      path,
      migrations: newer,
      log: recordingLog((record) => void lines.push(lineOf(record))),
    });
    await grown.transaction((trx) => insert(trx, 'later'));
    await grown.close();
    const copy = `${path}.before-${LATER}`;
    assert.equal(statSync(copy).mode & 0o777, 0o600);
    assert.ok(lines.some((line) => line.includes('copied') && line.includes(copy)));
    assert.deepEqual(
      readdirSync(directory).filter((name) => name.startsWith('grown.db.')),
      [`grown.db.before-${LATER}`],
    );
    const back = await openEmbeddedStore({ path: copy, migrations: older });
    const rows = await back.db.selectFrom('organization').select('id').execute();
    assert.deepEqual(rows, [{ id: 'kept' }]);
    await back.close();
  });

  it('keeps the three newest copies from before migrations, and no other file is removed', async () => {
    const path = join(directory, 'often.db');
    await (await openEmbeddedStore({ path, migrations: older })).close();
    const names = ['0001-a', '0002-b', '0003-c', '0004-d', 'holidays'];
    for (const [at, name] of names.entries()) {
      writeFileSync(`${path}.before-${name}`, 'x');
      utimesSync(`${path}.before-${name}`, at, at);
    }
    await (await openEmbeddedStore({ path, migrations: newer })).close();
    assert.deepEqual(
      readdirSync(directory).filter((name) => name.startsWith('often.db.')),
      ['0003-c', '0004-d', LATER, 'holidays'].map((name) => `often.db.before-${name}`).toSorted(),
    );
  });

  it('makes no copy of what is new or up to date', async () => {
    const path = join(directory, 'fresh.db');
    await (await openEmbeddedStore({ path })).close();
    await (await openEmbeddedStore({ path })).close();
    const files = readdirSync(directory).filter((name) => name.startsWith('fresh.db'));
    assert.deepEqual(files, ['fresh.db']);
  });
});
