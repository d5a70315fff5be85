/** Options of the control plane that select a PostgreSQL database instead of the embedded one. */
import { Option, type Command } from 'commander';
import { secretOf, type Secret } from '#base';

export interface DatabaseOptions {
  /** A `postgres:` URL, which may contain a password. */
  readonly database?: Secret;
  /** A file with the URL. */
  readonly databaseFile?: string;
}

/** The environment variable for the URL, since every user of the machine can see arguments. */
export const DATABASE_VARIABLE = 'FRONTDOOR_DATABASE';

export function addDatabaseOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--database <url>',
        'PostgreSQL (15 or newer) database to use instead of the embedded one,' +
          'for example postgres://USER:PASSWORD@HOST:PORT/DATABASE. Other users can see arguments: ' +
          `if it has a password, use ${DATABASE_VARIABLE} or --database-file`,
      )
        .env(DATABASE_VARIABLE)
        .argParser(secretOf),
    )
    .addOption(
      new Option(
        '--database-file <file>',
        'file with the URL of --database; for example database.url',
      ).conflicts('database'),
    );
}
