/**
 * `frontdoor restore`: from a file and a place to put it, without a control plane. The key file is not in a backup: it
 * is looked for in the data directory, and when it is there it has to open what the backup holds sealed.
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { FrontdoorError, type Log } from '#base';
import type { BackupSummary } from '#domain';
import { findSecrets, KEY_FILE_NAME } from '../secrets/mod.ts';
import { openStore } from '../store/mod.ts';
import { checkBackup, restoreBackup } from './restore.ts';

export interface RestoreOptions {
  readonly file: string;
  /** Holds the key file, and the embedded database. */
  readonly dataDir: string;
  /** A `postgres:` URL in place of the embedded database. */
  readonly database?: string | undefined;
  /** Reads and checks; nothing is opened, nothing written. */
  readonly checkOnly: boolean;
  readonly log: Log;
}

export interface Restored extends BackupSummary {
  /** Where the key file has to be. */
  readonly keyFile: string;
  /** False: it is not there yet, and nothing could be checked against it. */
  readonly hasKeyFile: boolean;
}

/** Errors: `invalid`, `conflict`, those of the store. Whatever it is, nothing has changed. */
export async function restoreDatabase(options: RestoreOptions): Promise<Restored> {
  const { file, database, log } = options;
  const dataDir = resolve(options.dataDir);
  if (!existsSync(file)) throw new FrontdoorError('invalid', 'backup_file', `there is no file ${file}`);
  const secrets = await findSecrets(dataDir);
  const key = { keyFile: join(dataDir, KEY_FILE_NAME), hasKeyFile: secrets !== undefined };
  if (options.checkOnly) return { ...(await checkBackup(file, secrets)), ...key };
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, 'control.db');
  const isNew = database === undefined && !existsSync(path);
  try {
    const store = await openStore({ path, database, log });
    try {
      return { ...(await restoreBackup(store, file, secrets)), ...key };
    } finally {
      await store.close();
    }
  } catch (error) {
    if (isNew) for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
    throw error;
  }
}
