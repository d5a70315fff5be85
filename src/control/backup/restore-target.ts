/**
 * `frontdoor restore`: restores a file into a database without a control plane. A backup does not contain the key
 * file. If there is one in the data directory, it must decrypt the backup's secrets.
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
  /** Contains the key file, and the embedded database. */
  readonly dataDir: string;
  /** A `postgres:` URL instead of the embedded database. */
  readonly database?: string | undefined;
  /** Only reads and checks the backup; nothing is opened or written. */
  readonly checkOnly: boolean;
  readonly log: Log;
}

export interface Restored extends BackupSummary {
  /** Path at which the key file must be. */
  readonly keyFile: string;
  /** False if it does not exist yet, so that nothing could be checked against it. */
  readonly hasKeyFile: boolean;
}

/** Errors: `invalid`, `conflict`, those of the store. After any error, nothing has changed. */
export async function restoreDatabase(options: RestoreOptions): Promise<Restored> {
  const { file, database, log } = options;
  const dataDir = resolve(options.dataDir);
  if (!existsSync(file)) throw new FrontdoorError('invalid', 'backup-file', `there is no file ${file}`);
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
