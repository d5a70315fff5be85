/**
 * Copies the embedded database to `control.db.before-<migration>`, by default beside it, so that an operator can return to it
 * with the previous program. The copy gets its name once it is complete and on disk. The newest few are kept.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { FrontdoorError, messageOf, type Log } from '#base';
import { migrationCopy } from '#domain/backup';
import type { SqliteClient } from './sqlite-client.ts';

export interface MigrationCopies {
  /** Default 3. 0: none are made. */
  readonly keep?: number;
  /** Made if it does not exist; its parent must exist. Default: that of the database. */
  readonly directory?: string | undefined;
}

const KEPT_COPIES = 3;
const MIGRATION = /^\d{4}-[a-z0-9-]+$/;

/** The copies of one database, `<name>.before-<migration>` in one directory. */
export class MigrationCopyFolder {
  readonly keep: number;
  readonly #folder: string;
  readonly #prefix: string;

  constructor(path: string, { keep = KEPT_COPIES, directory = dirname(path) }: MigrationCopies) {
    this.keep = keep;
    this.#folder = directory;
    this.#prefix = migrationCopy(basename(path), '');
  }

  /** Where the copy from before a migration is, or would be. */
  pathOf(migration: string): string {
    return join(this.#folder, `${this.#prefix}${migration}`);
  }

  /** `write` writes the file with the given path. Errors: `unavailable` with the remedy, which stops the start. */
  async write(migration: string, write: (copy: string) => Promise<void>): Promise<void> {
    const copy = this.pathOf(migration);
    try {
      mkdirSync(this.#folder, { recursive: existsSync(this.#folder), mode: 0o700 });
      await write(copy);
    } catch (cause) {
      const message =
        `the database was not upgraded, because it could not be copied to ${copy}: ${messageOf(cause)}; ` +
        'make room there, name another directory with --migration-backup-dir, or start with --migration-backups 0 after a backup of yours';
      throw new FrontdoorError('unavailable', 'migration-backup', message, { cause });
    }
  }

  /** Removes the older copies beyond the number. Called after a migration that succeeded. */
  removeOld(log: Log): void {
    const copies = readdirSync(this.#folder)
      .filter((name) => name.startsWith(this.#prefix) && MIGRATION.test(name.slice(this.#prefix.length)))
      .map((name) => ({ name, writtenMs: statSync(join(this.#folder, name)).mtimeMs }))
      .toSorted((one, other) => other.writtenMs - one.writtenMs);
    for (const { name } of copies.slice(this.keep)) {
      try {
        rmSync(join(this.#folder, name), { force: true });
        log.info({ name }, 'removed an old copy of the database');
      } catch (error) {
        log.warn({ name, err: messageOf(error) }, 'cannot remove an old copy of the database');
      }
    }
  }
}

/** Nothing is left behind after an error. */
export async function copyBeforeMigration(client: SqliteClient, copy: string, log: Log): Promise<void> {
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
  log.info({ copy }, 'copied the database before its migration');
}

function synced(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
