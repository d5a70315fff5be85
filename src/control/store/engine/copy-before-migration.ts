/**
 * Copies the embedded database to `control.db.before-<migration>` beside it, so that an operator can return to it
 * with the previous program. The copy gets its name once it is complete and on disk. The newest few are kept.
 */
import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { messageOf, type Log } from '#base';
import type { SqliteClient } from './sqlite-client.ts';

const KEPT_COPIES = 3;
const MIGRATION = /^\d{4}-[a-z0-9-]+$/;

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

/** Removes the older copies beyond the number. Called after a migration that succeeded. */
export function removeOldCopies(path: string, log: Log): void {
  const folder = dirname(path);
  const prefix = `${basename(path)}.before-`;
  const copies = readdirSync(folder)
    .filter((name) => name.startsWith(prefix) && MIGRATION.test(name.slice(prefix.length)))
    .map((name) => ({ name, writtenMs: statSync(join(folder, name)).mtimeMs }))
    .toSorted((one, other) => other.writtenMs - one.writtenMs);
  for (const { name } of copies.slice(KEPT_COPIES)) {
    try {
      rmSync(join(folder, name), { force: true });
      log.info({ name }, 'removed an old copy of the database');
    } catch (error) {
      log.warn({ name, err: messageOf(error) }, 'cannot remove an old copy of the database');
    }
  }
}

function synced(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
