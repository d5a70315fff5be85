/**
 * Opens a database of either kind, of which a copy is kept before its schema is changed. On PostgreSQL that is a backup,
 * `frontdoor.backup.before-<migration>`, which "frontdoor restore" restores. It is made under the lock of the migrations, so
 * control planes that start together make one.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock, type Log } from '#base';
import { copiedFile, EMBEDDED_DATABASE } from '#domain/backup';
import { replaceFileDurably, verifiedBackup } from '#net/files';
import {
  MigrationCopyFolder,
  NewerSchema,
  openStore,
  type MigrationCopies,
  type Migrations,
  type Store,
} from '../store/mod.ts';
import { openBackup } from './backup-stream.ts';

export interface CopiedStoreOptions {
  /** Contains the embedded database, and the copies unless another directory is named. */
  readonly dataDir: string;
  /** A `postgres:` URL instead of the embedded database. */
  readonly database?: string | undefined;
  readonly copies?: MigrationCopies | undefined;
  readonly log: Log;
  /** Default: those of this version. */
  readonly migrations?: Migrations | undefined;
}

/** Errors: those of `openStore`; `unavailable` with the remedy if there is to be a copy and it cannot be made. */
export async function openCopiedStore({
  dataDir,
  database,
  copies,
  log,
  migrations,
}: CopiedStoreOptions): Promise<Store> {
  const path = join(dataDir, copiedFile(database === undefined ? 'embedded' : 'postgres'));
  const folder = new MigrationCopyFolder(path, copies ?? {});
  const place = { path: join(dataDir, EMBEDDED_DATABASE), database, copies, log, migrations };
  let isMade = false;
  // The embedded store copies its own file.
  const isBackedUp = database !== undefined && folder.keep > 0;
  try {
    const store = await openStore({
      ...place,
      beforeMigration: isBackedUp
        ? async (old, migration) => {
            log.info({ migration }, 'backing up the database before its migration');
            await folder.write(migration, (file) => writeBackup(old, file, log));
            isMade = true;
          }
        : undefined,
    });
    if (isMade) folder.removeOld(log);
    return store;
  } catch (error) {
    if (!(error instanceof NewerSchema)) throw error;
    throw error.withRemedy(wayBack(dataDir, database, folder.pathOf(error.unknown)));
  }
}

/** What leads from a database of a newer version to this version, for the operator who starts it. */
function wayBack(dataDir: string, database: string | undefined, copy: string): string {
  const start = 'Start the newer version. To return to this one';
  if (!existsSync(copy))
    return `${start}, restore a backup into an empty database ("frontdoor restore FILE"): there is no copy ${copy} from before the upgrade`;
  const commands =
    database === undefined
      ? `move ${EMBEDDED_DATABASE}, ${EMBEDDED_DATABASE}-wal and ${EMBEDDED_DATABASE}-shm of ${dataDir} away, and run "cp -p ${copy} ${join(dataDir, EMBEDDED_DATABASE)}"`
      : `create a database ("createdb --encoding UTF8 NAME"), run "frontdoor restore ${copy} --data-dir ${dataDir}" on it, and start with it`;
  return `${start} without the changes since the upgrade, stop every control plane, ${commands}`;
}

async function writeBackup(store: Pick<Store, 'snapshot'>, file: string, log: Log): Promise<void> {
  await replaceFileDurably(file, async (handle) => {
    const { stream, closed } = await openBackup({ store, clock: systemClock, log });
    try {
      await verifiedBackup(handle, stream);
    } finally {
      stream.destroy();
      await closed;
    }
  });
}
