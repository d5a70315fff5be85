/** Options of the control plane that select a PostgreSQL database instead of the embedded one. */
import { Option, type Command } from 'commander';
import type { Secret } from '#base';
import { secretText, wholeNumber } from './value-parser.ts';

export interface DatabaseOptions {
  /** A `postgres:` URL, which may contain a password. */
  readonly database?: Secret;
  /** A file with the URL. */
  readonly databaseFile?: string;
}

export interface MigrationCopiesOptions {
  /** 0: none. */
  readonly migrationBackups: number;
  /** Default: the data directory. */
  readonly migrationBackupDir?: string;
}

const DEFAULT_COPIES = 3;
const MAX_COPIES = 1_000;

/** For programs that upgrade the database at their start. */
export function addMigrationOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--migration-backups <number>',
        'copies of the database that are kept from before upgrades of its schema: files of the embedded database, backups of PostgreSQL. 0 upgrades without a copy',
      )
        .default(DEFAULT_COPIES)
        .argParser(wholeNumber(0, MAX_COPIES)),
    )
    .option(
      '--migration-backup-dir <dir>',
      'directory of these copies; default: the data directory; for example /var/backups/frontdoor',
    );
}

/** The environment variable for the URL, since every user of the machine can see arguments. */
export const DATABASE_VARIABLE = 'FRONTDOOR_DATABASE';

export function addDatabaseOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--database <url>',
        'PostgreSQL (15 or newer) database to use instead of the embedded one, ' +
          'for example postgres://USER:PASSWORD@HOST:PORT/DATABASE. Other users can see arguments: ' +
          `if it has a password, use ${DATABASE_VARIABLE} or --database-file`,
      )
        .env(DATABASE_VARIABLE)
        .argParser(secretText),
    )
    .addOption(
      new Option(
        '--database-file <file>',
        'file with the URL of --database; for example database.url',
      ).conflicts('database'),
    );
}
