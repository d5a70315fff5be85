import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { it } from 'node:test';
import { sql } from 'kysely';
import { silentLog } from '#base';
import { describeEachStore } from './each-store-suite.ts';
import { newer, older } from '../migrations/later-schema-fixture.ts';
import { migrations } from '../migrations/migration-table.ts';
import { openStore } from './open-store.ts';
import { migrateSchema } from './schema-migration.ts';
import { isPostgres } from '../schema/database-kind.ts';
import type { Store } from './store.ts';

const later = {
  ...migrations,
  '9999-later': { up: async (): Promise<void> => {} },
};

const hrefOf = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href);

/** Opens a store in a process that is killed before its migrations' statement of this number. */
function openAndDie(place: object, beforeStatement: number): NodeJS.Signals | null {
  const script = `
    import { newer } from ${hrefOf('../migrations/later-schema-fixture.ts')};
    import { openStore } from ${hrefOf('./open-store.ts')};
    let left = ${beforeStatement};
    const deadly = {
      transformQuery({ node }) {
        if (left-- === 0) process.kill(process.pid, 'SIGKILL');
        return node;
      },
      transformResult: async ({ result }) => result,
    };
    const dying = Object.entries(newer).map(([name, { up }]) => [name, { up: (db) => up(db.withPlugin(deadly)) }]);
    const store = await openStore({ ...${JSON.stringify(place)}, migrations: Object.fromEntries(dying) });
    await store.close();`;
  const { signal, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  assert.equal(stderr, '');
  return signal;
}

async function tablesOf(store: Pick<Store, 'db'>): Promise<string[]> {
  const tables = await store.db.introspection.getTables();
  return tables.map(({ name }) => name).toSorted();
}

describeEachStore('migrations', (_open, newPlace) => {
  it('that are cut short anywhere leave the database as it was, and the next start does them', async () => {
    const place = await newPlace();
    const old = await openStore({ ...place, migrations: older });
    await old.db.insertInto('organization').values({ id: 'kept', name: 'x', created_at: 1 }).execute();
    const before = await tablesOf(old);
    await old.close();
    for (const statement of [0, 1]) {
      assert.equal(openAndDie(place, statement), 'SIGKILL', `before statement ${statement}`);
      const untouched = await openStore({ ...place, migrations: older });
      assert.deepEqual(await tablesOf(untouched), before);
      await untouched.close();
    }
    assert.equal(openAndDie(place, 10_000), null);
    const migrated = await openStore({ ...place, migrations: newer });
    const rows = await migrated.db.selectFrom('organization').select(['id', 'second_factor']).execute();
    assert.deepEqual(rows, [{ id: 'kept', second_factor: 1 }]);
    assert.deepEqual(await tablesOf(migrated), [...before, 'resting_name'].toSorted());
    await migrated.close();
  });

  it('of a new database that are cut short anywhere leave it empty', async () => {
    const place = await newPlace();
    for (const statement of [0, 1, 40]) {
      assert.equal(openAndDie(place, statement), 'SIGKILL', `before statement ${statement}`);
      const empty = await openStore({ ...place, migrations: {} });
      assert.deepEqual(await tablesOf(empty), []);
      await empty.close();
    }
    await (await openStore(place)).close();
  });

  it('on a database of a development version are refused with the remedy, and nothing is changed', async () => {
    const place = await newPlace();
    const { db, close } = await openStore({ ...place, migrations: older });
    await sql`update kysely_migration set name = '0001-first-tables'`.execute(db);
    const before = await tablesOf({ db });
    await assert.rejects(migrateSchema(db, migrations, silentLog), { code: 'schema-unreleased' });
    assert.deepEqual(await tablesOf({ db }), before);
    await close();
    await assert.rejects(openStore(place), (error: Error & { kind?: string; code?: string }) => {
      assert.deepEqual([error.kind, error.code], ['invalid', 'schema-unreleased']);
      assert.match(error.message, /0001-first-tables.*empty database or another --data-dir/);
      return true;
    });
  });

  it('of a development version that have the name of the first one show by the first statement that they differ', async () => {
    const store = await openStore(await newPlace());
    await sql`alter table organization drop column second_factor`.execute(store.db);
    await sql`drop table last_backup`.execute(store.db);
    const row = { id: 'x', name: 'x', created_at: 1, second_factor: 1 };
    for (const [statement, absent] of [
      [() => store.db.selectFrom('organization').select('second_factor').execute(), 'second_factor'],
      [() => store.db.insertInto('organization').values(row).execute(), 'second_factor'],
      [() => store.db.selectFrom('last_backup').selectAll().execute(), 'last_backup'],
    ] as const)
      await assert.rejects(statement, (error: Error & { kind?: string; code?: string }) => {
        assert.deepEqual([error.kind, error.code], ['internal', 'schema-differs']);
        assert.match(error.message, new RegExp(`${absent}.*empty database or another --data-dir`));
        return true;
      });
    await store.close();
  });

  it('on a database that a newer program has changed are refused, with both schemas named', async () => {
    const place = await newPlace();
    await (await openStore({ ...place, migrations: later })).close();
    await assert.rejects(openStore(place), (error: Error & { kind?: string; code?: string }) => {
      assert.deepEqual([error.kind, error.code], ['invalid', 'schema-newer']);
      assert.match(error.message, /9999-later/);
      assert.ok(error.message.includes(Object.keys(migrations).at(-1)!));
      return true;
    });
    await (await openStore({ ...place, migrations: later })).close();
  });

  it('on the database of another program are refused, and nothing is made there', async () => {
    const place = await newPlace();
    const migrator = { '2024-users': { up: async (): Promise<void> => {} } };
    for (const owned of ['create table notes (text text)', 'drop table kysely_migration_lock']) {
      const foreign = await openStore({ ...place, migrations: migrator });
      await sql.raw(owned).execute(foreign.db);
      const before = await tablesOf(foreign);
      await foreign.close();
      await assert.rejects(openStore(place), (error: Error & { code?: string }) => {
        assert.equal(error.code, place.database === undefined ? 'database-damaged' : 'database-foreign');
        assert.match(error.message, /another program/);
        return true;
      });
      const same = await openStore({ ...place, migrations: migrator });
      assert.deepEqual(await tablesOf(same), before);
      await same.close();
    }
  });

  it('that fail leave nothing, and report the error', async () => {
    const place = await newPlace();
    const failing = {
      ...migrations,
      '9999-later': {
        up: async (db: Store['db']): Promise<void> => {
          await db.schema.createTable('half').addColumn('id', 'text').execute();
          await sql`select nonsense`.execute(db);
        },
      },
    };
    await assert.rejects(openStore({ ...place, migrations: failing }), { code: 'migration-failed' });
    const store = await openStore(place);
    assert.ok(!(await tablesOf(store)).includes('half'));
    await store.close();
  });

  it('run once when several processes start at the same time', async () => {
    const place = await newPlace();
    const starts = Array.from({ length: 4 }, () => openStore({ ...place, busyTimeoutMs: 100 }));
    const ends = await Promise.allSettled(starts);
    const stores = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
    // The embedded database belongs to one process; PostgreSQL to all.
    assert.equal(stores.length, isPostgres(stores[0]!.db) ? 4 : 1);
    const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(stores[0]!.db);
    assert.deepEqual(rows.map(({ name }) => name).toSorted(), Object.keys(migrations));
    for (const store of stores) await store.close();
  });
});
