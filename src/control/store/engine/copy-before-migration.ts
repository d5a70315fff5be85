/**
 * A copy of the embedded database beside its file, `control.db.before-<migration>`: to go back to, with the program that
 * wrote it, should the upgrade disappoint. It has its name once it is whole and on disk.
 */
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Log } from '#base';
import type { SqliteClient } from './sqlite-client.ts';

/** Errors: `unavailable` when there is no room; then nothing is left behind. */
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
