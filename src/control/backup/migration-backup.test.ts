import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import { silentLog } from '#base';
import { postgresSkip } from '../../../test/support/postgres.ts';
import { describeEachDatabase } from '../../../test/support/test-part.ts';
import { newPostgresPlace } from '../store/engine/each-store-suite.ts';
import { LATER, newer, older } from '../store/migrations/later-schema-fixture.ts';
import { migrations } from '../store/migrations/migration-table.ts';
import { openStore, type MigrationCopies, type Migrations } from '../store/mod.ts';
import { appliedMigrations, backedUpTables } from './backup-lines.ts';
import { openCopiedStore } from './migration-backup.ts';
import { restoreDatabase } from './restore-target.ts';

const folder = mkdtempSync(join(tmpdir(), 'frontdoor-migration-backup-'));
after(() => rmSync(folder, { recursive: true }));
const NAME = `frontdoor.backup.before-${LATER}`;

describeEachDatabase('a database that a newer version has changed', (kind) => {
  it('is refused with the copy from before and the commands that return to it, or without one', async () => {
    const dataDir = mkdtempSync(join(folder, 'returned-'));
    const database = kind === 'embedded' ? undefined : (await newPostgresPlace()).database;
    const open = async (known: Migrations, at = database): Promise<void> =>
      (await openCopiedStore({ dataDir, database: at, log: silentLog, migrations: known })).close();
    await open(older);
    await open(newer);
    const copy = join(dataDir, kind === 'embedded' ? `control.db.before-${LATER}` : NAME);
    const remedy = kind === 'embedded' ? 'run "cp -p ' : 'run "frontdoor restore ';
    await assert.rejects(open(older), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'schema-newer');
      assert.ok(error.message.includes(`${remedy}${copy} `), error.message);
      return true;
    });
    if (kind === 'embedded') {
      rmSync(join(dataDir, 'control.db'));
      copyFileSync(copy, join(dataDir, 'control.db'));
      await open(older);
    } else {
      const file = { file: copy, dataDir, database: (await newPostgresPlace()).database, checkOnly: false };
      await restoreDatabase({ ...file, log: silentLog, migrations: older });
      await open(older, file.database);
    }
    await open(newer);
    rmSync(copy);
    await assert.rejects(open(older), /restore FILE"\): there is no copy/);
  });
});

describe('an upgrade of a PostgreSQL database', { skip: postgresSkip }, () => {
  let database: string;
  let dataDir: string;
  beforeEach(async () => {
    dataDir = mkdtempSync(join(folder, 'data-'));
    database = (await newPostgresPlace()).database!;
    const old = await openStore({ path: 'unused', database, migrations: older });
    await old.db.insertInto('organization').values({ id: 'kept', name: 'x', created_at: 1 }).execute();
    await old.close();
  });
  const begin = async (copies?: MigrationCopies): Promise<void> => {
    const options = { dataDir, database, copies, log: silentLog, migrations: newer };
    await (await openCopiedStore(options)).close();
  };
  const schemaOf = async (): Promise<string[]> => {
    const store = await openStore({ path: 'unused', database, migrations: older });
    try {
      return await appliedMigrations(store.db);
    } finally {
      await store.close();
    }
  };

  it('comes after a backup, one for all control planes that start at once, which can be restored', async () => {
    await Promise.all([begin(), begin(), begin(), begin(), begin()]);
    const backups = readdirSync(dataDir).filter((name) => name.startsWith('frontdoor.backup'));
    assert.deepEqual(backups, [NAME]);
    const file = join(dataDir, NAME);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const { ino, mtimeMs } = statSync(file);
    await begin();
    assert.deepEqual([statSync(file).ino, statSync(file).mtimeMs], [ino, mtimeMs]);
    const target = mkdtempSync(join(folder, 'target-'));
    const options = { file, dataDir: target, checkOnly: false, log: silentLog, migrations: newer };
    const { rows } = await restoreDatabase(options);
    assert.equal(rows['organization'], 1);
  });

  it('keeps so many backups in the directory that is named, and makes none for 0', async () => {
    const directory = join(dataDir, 'upgrades');
    await begin({ keep: 0, directory });
    assert.throws(() => readdirSync(directory), { code: 'ENOENT' });
    database = (await newPostgresPlace()).database!;
    await (await openStore({ path: 'unused', database, migrations: older })).close();
    await begin({ keep: 2, directory });
    assert.deepEqual(readdirSync(directory), [NAME]);
    assert.equal(statSync(directory).mode & 0o777, 0o700);
    for (const [at, name] of ['0003-a', '0004-b'].entries()) {
      const path = join(directory, `frontdoor.backup.before-${name}`);
      writeFileSync(path, 'x');
      utimesSync(path, at, at);
    }
    database = (await newPostgresPlace()).database!;
    await (await openStore({ path: 'unused', database, migrations: older })).close();
    await begin({ keep: 2, directory });
    assert.deepEqual(readdirSync(directory).toSorted(), ['frontdoor.backup.before-0004-b', NAME].toSorted());
  });

  it('does not happen when the backup fails, which names the directory and the options', async () => {
    const directory = join(dataDir, 'file');
    writeFileSync(directory, '');
    await assert.rejects(begin({ directory }), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'migration-backup');
      assert.match(error.message, /file\/frontdoor\.backup.*--migration-backup-dir.*--migration-backups 0/);
      return true;
    });
    assert.deepEqual(await schemaOf(), Object.keys(older));
  });
});

it('every schema that a version had can be read page by page', async () => {
  let known: Record<string, (typeof migrations)[string]> = {};
  const path = join(folder, 'growing.db');
  for (const name of Object.keys(migrations).toSorted()) {
    known = { ...known, [name]: migrations[name]! };
    const store = await openStore({ path, migrations: known, copies: { keep: 0 } });
    const columns = new Map(
      (await store.db.introspection.getTables()).map((table) => [
        table.name,
        table.columns.map((column) => column.name),
      ]),
    );
    for (const { table, key } of await backedUpTables(store.db))
      for (const column of key)
        assert.ok(columns.get(table)!.includes(column), `${name}: ${table}.${column}`);
    await store.close();
  }
});
