/**
 * `frontdoor restore`: restores a file into a database without a control plane. A backup does not contain the key
 * file. If there is one in the data directory, it must decrypt the backup's secrets.
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { FrontdoorError, type Log } from '#base';
import { EMBEDDED_DATABASE, type BackupSummary } from '#domain/backup';
import { findSecrets, KEY_FILE_NAME } from '../secrets/mod.ts';
import { openStore, type Migrations, type Store } from '../store/mod.ts';
import { backupSchema, checkBackup, checkEmpty, restoreBackup } from './restore.ts';

export interface RestoreOptions {
  readonly file: string;
  /** Contains the key file, and the embedded database. */
  readonly dataDir: string;
  /** A `postgres:` URL instead of the embedded database. */
  readonly database?: string | undefined;
  /** Only reads and checks the backup; nothing is opened or written. */
  readonly checkOnly: boolean;
  readonly log: Log;
  /** Default: those of this version. */
  readonly migrations?: Migrations | undefined;
}

export interface Restored extends BackupSummary {
  /** Path at which the key file must be. */
  readonly keyFile: string;
  /** False if it does not exist yet, so that nothing could be checked against it. */
  readonly hasKeyFile: boolean;
}

/**
 * A backup of an older version is restored with its own schema, and the migrations of this version run afterwards. Errors:
 * `invalid`, `conflict`, those of the store. After any error nothing has changed, except that a migration that fails on
 * PostgreSQL (`migration-failed`) leaves the backup restored as its version had it.
 */
export async function restoreDatabase(options: RestoreOptions): Promise<Restored> {
  const { file, database, log, migrations } = options;
  const dataDir = resolve(options.dataDir);
  if (!existsSync(file)) throw new FrontdoorError('invalid', 'backup-file', `there is no file ${file}`);
  const secrets = await findSecrets(dataDir);
  const key = { keyFile: join(dataDir, KEY_FILE_NAME), hasKeyFile: secrets !== undefined };
  if (options.checkOnly) return { ...(await checkBackup(file, secrets, migrations)), ...key };
  const schema = await backupSchema(file, migrations);
  if (database === undefined) mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, EMBEDDED_DATABASE);
  const isNew = database === undefined && !existsSync(path);
  try {
    const store = await openEmpty({ path, database, log, migrations: schema });
    let summary: BackupSummary;
    try {
      summary = await restoreBackup(store, file, secrets);
    } finally {
      await store.close();
    }
    // The file itself is what the database was before.
    await (await openStore({ path, database, log, migrations, copies: { keep: 0 } })).close();
    return { ...summary, ...key };
  } catch (error) {
    if (isNew) for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
    throw error;
  }
}

/**
 * Opens the database with the schema of the backup. One that has rows is refused before its schema is changed. A database with
 * a newer schema is in use, or was.
 */
async function openEmpty(options: {
  readonly path: string;
  readonly database: string | undefined;
  readonly log: Log;
  readonly migrations: Migrations;
}): Promise<Store> {
  try {
    return await openStore({ ...options, copies: { keep: 0 }, beforeMigration: ({ db }) => checkEmpty(db) });
  } catch (error) {
    if (!(error instanceof FrontdoorError) || error.code !== 'schema-newer') throw error;
    const message =
      'the database has a newer schema than the backup, so a control plane or another restore has used it: ' +
      'a backup goes into a new database only';
    throw new FrontdoorError('conflict', 'database-not-empty', message, { cause: error });
  }
}
