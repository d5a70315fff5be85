/** Opens the database of an installation with its key file, for commands that work without a control plane. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { FrontdoorError, systemClock, type Clock, type Log } from '#base';
import { EMBEDDED_DATABASE } from '#domain/backup';
import { checkFirstClock } from './first-clock.ts';
import { findSecrets, KEY_FILE_NAME, loadSecrets, type Secrets, useSealingKey } from '../secrets/mod.ts';
import { openCopiedStore } from '../backup/mod.ts';
import { checkKeyFile } from '../credentials/oauth/mod.ts';
import { firstOrganization } from '../credentials/people/mod.ts';
import { databaseFileBytes, type MigrationCopies, type Store } from '../store/mod.ts';

export interface InstallationOptions {
  readonly dataDir: string;
  /** A `postgres:` URL instead of the embedded database. */
  readonly database?: string | undefined;
  /** Copies of the database from before migrations; by default three, in the data directory. */
  readonly copies?: MigrationCopies | undefined;
  readonly clock?: Clock;
  readonly log: Log;
}

/** Throws `invalid` if there is no installation, or if the key file is not its own. The caller closes the store. */
export async function openInstallation(
  options: InstallationOptions,
): Promise<{ readonly store: Store; readonly secrets: Secrets }> {
  const { database, clock = systemClock } = options;
  const dataDir = resolve(options.dataDir);
  const secrets = await findSecrets(dataDir);
  if (secrets === undefined) {
    const message = `there is no ${join(dataDir, KEY_FILE_NAME)}: name the control plane's data directory with --data-dir`;
    throw new FrontdoorError('invalid', 'key-file', message);
  }
  const path = databasePath(dataDir);
  if (database === undefined && !existsSync(path)) {
    const message = `there is no database ${path}: one on PostgreSQL is named with --database or --database-file`;
    throw new FrontdoorError('invalid', 'no-database', message);
  }
  const store = await openCopiedStore({ ...options, dataDir });
  try {
    await useSealingKey(store.db, secrets);
    await checkKeyFile(store, secrets, clock.nowMs());
  } catch (error) {
    await store.close();
    throw error;
  }
  return { store, secrets };
}

/** The embedded database of a data directory. */
function databasePath(dataDir: string): string {
  return join(dataDir, EMBEDDED_DATABASE);
}

/**
 * Throws `invalid` if the data directory has the key file of an installation, but not its embedded database. A new
 * database would be a new installation, whose agents, routers and shares are gone.
 */
async function refuseLostDatabase(dataDir: string): Promise<void> {
  const path = databasePath(dataDir);
  const bytes = databaseFileBytes(path);
  if (bytes > 0 || (await findSecrets(dataDir)) === undefined) return;
  const what = existsSync(path) ? `the database ${path} is empty` : `there is no database ${path}`;
  const message =
    `${what} beside ${KEY_FILE_NAME}: restore it from a backup; one on PostgreSQL is named with ` +
    `--database or --database-file; to start a new installation, move ${KEY_FILE_NAME} away`;
  throw new FrontdoorError('invalid', 'no-database', message);
}

/**
 * Opens the database and the key file for a control plane, and makes them for a new installation. A file that is lost, damaged
 * or of another installation is refused before anything is made. The caller closes the store.
 */
export async function beginInstallation(
  options: InstallationOptions,
): Promise<{ readonly store: Store; readonly secrets: Secrets }> {
  const { dataDir, database, clock = systemClock } = options;
  if (database === undefined) await refuseLostDatabase(dataDir);
  const found = await findSecrets(dataDir);
  const store = await openCopiedStore({ ...options, dataDir });
  try {
    await checkFirstClock(store, clock);
    const secrets = found ?? (await makeSecrets(store, dataDir));
    await useSealingKey(store.db, secrets);
    return { store, secrets };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Makes the key file of a new installation. Throws `invalid` for a database that another key file belongs to. */
async function makeSecrets(store: Store, dataDir: string): Promise<Secrets> {
  if ((await firstOrganization(store.db)) === undefined) return loadSecrets(dataDir);
  const message =
    `there is no ${join(dataDir, KEY_FILE_NAME)}, and the secrets of the database can be read with it alone: restore the ` +
    'file from where you keep it, or copy it from another control plane over this database';
  throw new FrontdoorError('invalid', 'key-file', message);
}
