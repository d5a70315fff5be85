/** Where the control plane stores: the options that name a PostgreSQL database in place of the embedded one. */
import { Option, type Command } from 'commander';

export interface DatabaseOptions {
  /** A `postgres:` URL, with its password. */
  readonly database?: string;
  /** A file that holds the URL. */
  readonly databaseFile?: string;
}

/** The environment variable that the URL may stand in: arguments can be seen by every user of the machine. */
export const DATABASE_VARIABLE = 'FRONTDOOR_DATABASE';

export function addDatabaseOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--database <url>',
        'PostgreSQL (15 or newer) in place of the embedded database, ' +
          'for example postgres://USER:PASSWORD@HOST:PORT/DATABASE. Other users can see arguments: ' +
          `where it has a password, give it in ${DATABASE_VARIABLE} or by --database-file`,
      ).env(DATABASE_VARIABLE),
    )
    .addOption(
      new Option(
        '--database-file <file>',
        'file that holds the URL of --database; for example database.url',
      ).conflicts('database'),
    );
}
