import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { after, it } from 'node:test';
import { sql } from 'kysely';
import { silentLog } from '#base';
import type { BackupTrailer } from '#domain/backup';
import { describeEachStore } from '../store/engine/each-store-suite.ts';
import { newer, older } from '../store/migrations/later-schema-fixture.ts';
import { openStore, type Store } from '../store/mod.ts';
import { appliedMigrations, backupLines } from './backup-lines.ts';
import { BACKED_UP } from './backup-order-table.ts';
import { restoreDatabase } from './restore-target.ts';

const folder = mkdtempSync(join(tmpdir(), 'frontdoor-older-backup-'));
after(() => rmSync(folder, { recursive: true }));
let count = 0;
const place = (): string => join(folder, `${(count += 1)}`);

async function fill(db: Store['db']): Promise<void> {
  for (const statement of [
    sql`insert into organization (id, name, created_at) values ('o', 'x', 1)`,
    sql`insert into frontdoor (id, organization_id, name, created_at) values ('f', 'o', 'x', 1)`,
    sql`insert into frontend (id, public_name, zone, is_default, created_at) values ('z', 'p', 'share.localhost', 1, 1)`,
    sql`insert into auth_provider (id, frontdoor_id, name, type, enabled, data, version, created_at, updated_at)
      values ('p', 'f', 'x', 'GITHUB', 1, '{}', 1, 1, 1)`,
    sql`insert into hostname_claim (id, frontdoor_id, hostname, frontend_id, status, proof, certified_at, created_at)
      values ('c', 'f', 'apps.example.com', 'z', 'ACTIVE', 'PROVEN', 7, 1)`,
    sql`insert into custom_frontend_auth_provider (custom_frontend_id, auth_provider_id, position)
      values ('c', 'p', 0)`,
  ])
    await statement.execute(db);
}

/** What the program with that schema writes; `changed` is applied to the lines. */
async function olderBackup(changed: (text: string) => string = (text) => text): Promise<string> {
  const store = await openStore({ path: place(), migrations: older });
  await fill(store.db);
  const existing = new Set((await store.db.introspection.getTables()).map(({ name }) => name));
  let text = '';
  const tables = BACKED_UP.filter(({ table }) => existing.has(table));
  for await (const lines of backupLines(store.db, 0, tables)) text += lines;
  await store.close();
  const file = place();
  writeFileSync(file, gzipSync(changed(text)));
  return file;
}

function ofSchema(text: string, migration: string): string {
  const at = text.lastIndexOf('{"end":');
  const lines = text.slice(0, at).replace('0001-first-schema', migration);
  const { end } = JSON.parse(text.slice(at)) as BackupTrailer;
  const sha256 = createHash('sha256').update(lines).digest('hex');
  return `${lines}${JSON.stringify({ end: { ...end, sha256 } })}\n`;
}

const restoring = (file: string, dataDir: string, database?: string) =>
  restoreDatabase({ file, dataDir, database, checkOnly: false, log: silentLog, migrations: newer });

describeEachStore('a backup of an older version', (_open, newPlace) => {
  it('is restored, and the migrations of this version run on its rows', async () => {
    const { database } = await newPlace();
    const dataDir = place();
    const file = await olderBackup();
    const { rows } = await restoring(file, dataDir, database);
    assert.deepEqual([rows['hostname_claim'], rows['resting_name']], [1, undefined]);
    if (database === undefined) assert.deepEqual(readdirSync(dataDir), ['control.db']);
    const store = await openStore({ path: join(dataDir, 'control.db'), database, migrations: newer });
    try {
      const { db } = store;
      assert.deepEqual(await appliedMigrations(db), Object.keys(newer));
      const migrated = await db.selectFrom('organization').select(['id', 'second_factor']).execute();
      assert.deepEqual(migrated, [{ id: 'o', second_factor: 1 }]);
      assert.equal((await db.selectFrom('custom_frontend_auth_provider').selectAll().execute()).length, 1);
      const counted = db.selectFrom('collection').select('total').where('kind', '=', 'auth-provider');
      assert.deepEqual(await counted.execute(), [{ total: 1 }]);
      // The counts continue from there.
      await sql`insert into auth_provider (id, frontdoor_id, name, type, enabled, data, version, created_at, updated_at)
        values ('q', 'f', 'y', 'GITHUB', 1, '{}', 1, 1, 1)`.execute(db);
      assert.deepEqual(await counted.execute(), [{ total: 2 }]);
    } finally {
      await store.close();
    }
  });

  it('is restored after an attempt with a damaged one, and not into a database that has a newer schema', async () => {
    const { database } = await newPlace();
    const dataDir = place();
    const damaged = await olderBackup((text) => text.replace('apps.example', 'other.example'));
    await assert.rejects(restoring(damaged, dataDir, database), { code: 'backup-damaged' });
    const file = await olderBackup();
    await restoring(file, dataDir, database);
    await assert.rejects(restoring(file, dataDir, database), {
      kind: 'conflict',
      code: 'database-not-empty',
    });
  });

  it('is refused by a database of a former version that is in use, which is not changed', async () => {
    const { database } = await newPlace();
    const dataDir = place();
    mkdirSync(dataDir);
    const path = join(dataDir, 'control.db');
    const used = await openStore({ path, database, migrations: older });
    await sql`insert into organization (id, name, created_at) values ('o', 'x', 1)`.execute(used.db);
    await used.close();
    await assert.rejects(restoring(await olderBackup(), dataDir, database), {
      kind: 'conflict',
      code: 'database-not-empty',
    });
    const same = await openStore({ path, database, migrations: older });
    assert.deepEqual(await appliedMigrations(same.db), Object.keys(older));
    await same.close();
    assert.deepEqual(readdirSync(dataDir), database === undefined ? ['control.db'] : []);
  });

  it('of a schema that this version does not know is refused before the database is made', async () => {
    const { database } = await newPlace();
    const dataDir = place();
    const file = await olderBackup((text) => ofSchema(text, '0001-other'));
    await assert.rejects(restoring(file, dataDir, database), { code: 'backup-schema' });
    const check = { file, dataDir, database, checkOnly: true, log: silentLog, migrations: newer };
    await assert.rejects(restoreDatabase(check), { code: 'backup-schema' });
    assert.throws(() => readdirSync(dataDir), { code: 'ENOENT' });
  });

  it('of a development version is refused before the database is made', async () => {
    const { database } = await newPlace();
    const dataDir = place();
    const file = await olderBackup((text) => ofSchema(text, '0001-first-tables'));
    await assert.rejects(restoring(file, dataDir, database), { code: 'schema-unreleased' });
    assert.throws(() => readdirSync(dataDir), { code: 'ENOENT' });
  });
});
