/**
 * Opens a database of either kind, of which a copy is kept before its schema is changed. On PostgreSQL that is a backup,
 * `frontdoor.backup.before-<migration>`, which "frontdoor restore" restores. It is made under the lock of the migrations, so
 * control planes that start together make one.
 */
import { join } from 'node:path';
import { systemClock, type Log } from '#base';
import { replaceFileDurably, verifiedBackup } from '#net/files';
import {
  MigrationCopyFolder,
  openStore,
  type MigrationCopies,
  type Migrations,
  type Store,
} from '../store/mod.ts';
import { openBackup } from './backup-stream.ts';

const NAME = 'frontdoor.backup';

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
  const place = { path: join(dataDir, 'control.db'), database, copies, log, migrations };
  if (database === undefined) return openStore(place);
  const folder = new MigrationCopyFolder(join(dataDir, NAME), copies ?? {});
  if (folder.keep === 0) return openStore(place);
  let isMade = false;
  const store = await openStore({
    ...place,
    async beforeMigration(old, migration) {
      log.info({ migration }, 'backing up the database before its migration');
      await folder.write(migration, (file) => writeBackup(old, file, log));
      isMade = true;
    },
  });
  if (isMade) folder.removeOld(log);
  return store;
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
