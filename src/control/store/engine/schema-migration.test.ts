import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { it } from 'node:test';
import { sql } from 'kysely';
import { describeEachStore } from './each-store-suite.ts';
import { migrations } from '../migrations/migration-table.ts';
import { openStore } from './open-store.ts';
import { isPostgres } from '../schema/database-kind.ts';
import type { Store } from './store.ts';

const first = { '0001-first-tables': migrations['0001-first-tables']! };
const later = {
  ...migrations,
  '9999-later': { up: async (): Promise<void> => {} },
};

const hrefOf = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href);

/** Opens a store in a process that is killed before its migrations' statement of this number. */
function openAndDie(place: object, beforeStatement: number): NodeJS.Signals | null {
  const script = `
    import { migrations } from ${hrefOf('../migrations/migration-table.ts')};
    import { openStore } from ${hrefOf('./open-store.ts')};
    let left = ${beforeStatement};
    const deadly = {
      transformQuery({ node }) {
        if (left-- === 0) process.kill(process.pid, 'SIGKILL');
        return node;
      },
      transformResult: async ({ result }) => result,
    };
    const dying = Object.entries(migrations).map(([name, { up }]) => [name, { up: (db) => up(db.withPlugin(deadly)) }]);
    const store = await openStore({ ...${JSON.stringify(place)}, migrations: Object.fromEntries(dying) });
    await store.close();`;
  const { signal, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  assert.equal(stderr, '');
  return signal;
}

/** One as a version of before there were proofs has it. */
async function insertCustomFrontend(db: Store['db']): Promise<void> {
  for (const statement of [
    sql`insert into organization (id, name, created_at) values ('o', 'x', 1)`,
    sql`insert into frontdoor (id, organization_id, name, created_at) values ('f', 'o', 'x', 1)`,
    sql`insert into frontend (id, public_name, zone, is_default, created_at) values ('z', 'p', 'share.localhost', 1, 1)`,
    sql`insert into auth_provider (id, frontdoor_id, name, type, enabled, data, version, created_at, updated_at)
      values ('p', 'f', 'x', 'GITHUB', 1, '{}', 1, 1, 1)`,
    sql`insert into custom_frontend (id, frontdoor_id, hostname, frontend_id, status, certified_at, created_at)
      values ('c', 'f', 'apps.example.com', 'z', 'ACTIVE', 7, 1)`,
    sql`insert into custom_frontend_auth_provider (custom_frontend_id, auth_provider_id, position)
      values ('c', 'p', 0)`,
  ])
    await statement.execute(db);
}

async function tablesOf(store: Store): Promise<string[]> {
  const tables = await store.db.introspection.getTables();
  return tables.map(({ name }) => name).toSorted();
}

describeEachStore('migrations', (_open, newPlace) => {
  it('that are cut short anywhere leave the database as it was, and the next start does them', async () => {
    const place = await newPlace();
    const old = await openStore({ ...place, migrations: first });
    await old.db.insertInto('organization').values({ id: 'kept', name: 'x', created_at: 1 }).execute();
    const before = await tablesOf(old);
    await old.close();
    for (const statement of [0, 1, 12, 25]) {
      assert.equal(openAndDie(place, statement), 'SIGKILL', `before statement ${statement}`);
      const untouched = await openStore({ ...place, migrations: first });
      assert.deepEqual(await tablesOf(untouched), before);
      await untouched.close();
    }
    assert.equal(openAndDie(place, 10_000), null);
    const migrated = await openStore(place);
    const rows = await migrated.db.selectFrom('organization').select('id').execute();
    assert.deepEqual(rows, [{ id: 'kept' }]);
    assert.ok((await tablesOf(migrated)).length > before.length);
    await migrated.close();
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

  it('keep custom frontends of before there were proofs, which are served and asked for one', async () => {
    const place = await newPlace();
    const older = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < '0035'));
    const old = await openStore({ ...place, migrations: older });
    await insertCustomFrontend(old.db);
    await old.close();
    const migrated = await openStore(place);
    try {
      const { db } = migrated;
      const [row] = await db.selectFrom('custom_frontend').selectAll().execute();
      assert.deepEqual(
        [row!.id, row!.hostname, row!.status, row!.proof, row!.proof_ends_at, row!.certified_at],
        ['c', 'apps.example.com', 'ACTIVE', 'ASKED', null, 7],
      );
      const guards = await db.selectFrom('custom_frontend_auth_provider').selectAll().execute();
      assert.deepEqual(guards, [{ custom_frontend_id: 'c', auth_provider_id: 'p', position: 0 }]);
      // Others may claim the name, and it is served for one.
      const claim = { ...row!, id: 'd', proof: 'PENDING' as const };
      await db.insertInto('custom_frontend').values(claim).execute();
      const served = { ...row!, id: 'e', proof: 'PROVEN' as const };
      await assert.rejects(db.insertInto('custom_frontend').values(served).execute());
      await db.deleteFrom('custom_frontend').where('id', '=', 'c').execute();
      assert.deepEqual(await db.selectFrom('custom_frontend_auth_provider').selectAll().execute(), []);
    } finally {
      await migrated.close();
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
