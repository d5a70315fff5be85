/** When a backup was last finished. It is stored, so that it holds after a restart and at every control plane. */
import { messageOf, type Clock, type Log } from '#base';
import type { Queries, Store } from '../store/mod.ts';

/** The one row of its table. */
const NAME = 'installation';

/** Stores that a backup is finished now. */
export function noteBackup(parts: {
  readonly store: Pick<Store, 'db'>;
  readonly clock: Clock;
  readonly log: Log;
}): void {
  const { store, clock, log } = parts;
  storeTime(store.db, clock.nowMs()).catch((error: unknown) => {
    log.warn({ err: messageOf(error) }, 'the time of the last backup was not stored');
  });
}

/** An earlier time than the stored one changes nothing. */
async function storeTime(db: Queries, finishedAtMs: number): Promise<void> {
  await db
    .insertInto('last_backup')
    .values({ name: NAME, finished_at: finishedAtMs })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ finished_at: finishedAtMs })
        .where('last_backup.finished_at', '<', finishedAtMs),
    )
    .execute();
}

/** In milliseconds; undefined before the first backup. */
export async function lastBackupMs(db: Queries): Promise<number | undefined> {
  const row = await db
    .selectFrom('last_backup')
    .select('finished_at')
    .where('name', '=', NAME)
    .executeTakeFirst();
  return row?.finished_at;
}
