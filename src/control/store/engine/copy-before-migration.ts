/**
 * Copies the embedded database to `control.db.before-<migration>` beside it, so that an operator can return to it
 * with the previous program. The copy gets its name once it is complete and on disk.
 */
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Log } from '#base';
import type { SqliteClient } from './sqlite-client.ts';

/** Errors: `unavailable` if there is no room; nothing is left behind then. */
export async function copyBeforeMigration(
  client: SqliteClient,
  path: string,
  migration: string,
  log: Log,
): Promise<void> {
  const copy = `${path}.before-${migration}`;
  const unfinished = `${copy}.unfinished`;
  try {
    closeSync(openSync(unfinished, 'w', 0o600));
    await (await client.thread()).copyTo(unfinished, () => {});
    synced(unfinished);
    renameSync(unfinished, copy);
    synced(dirname(copy));
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
  log.info({ copy, migration }, 'copied the database before its migration');
}

function synced(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
