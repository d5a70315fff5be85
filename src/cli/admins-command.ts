/** `frontdoor admins`: administrators of the edge management API. */
import { Command } from 'commander';
import { runCommand, type CliIo } from './cli-io.ts';
import { addServerConfigOption, takeServerValues } from './config-file/server-config.ts';
import { addDatabaseOptions, type DatabaseOptions } from './database-option.ts';

export interface AdminsCreateOptions extends DatabaseOptions {
  readonly dataDir: string;
  readonly username: string;
  readonly passwordFile?: string;
  readonly out?: string;
}

export interface AdminsRunner {
  adminsCreate(options: AdminsCreateOptions): Promise<void>;
}

export function adminsCommand(io: CliIo, runner: AdminsRunner): Command {
  const create = addServerConfigOption(addDatabaseOptions(new Command('create')))
    .description('create an administrator who signs in to the edge management API with a password')
    .option('--data-dir <dir>', 'directory of secrets.key and of the embedded database', 'frontdoor-data')
    .option('--username <name>', 'user name, also the name of the identity', 'admin')
    .option('--password-file <file>', 'file with the password; default: a random password')
    .option(
      '--out <file>',
      'file for the credentials (mode 0600); default: edge-admin-secrets.json in the data directory',
    )
    .addHelpText(
      'after',
      '\nThe command changes the database directly. The control plane locks an embedded database: stop it first. On PostgreSQL,\n' +
        'control planes can keep running. The control plane serves the API with --edge-management.\n\n' +
        'Example:\n  frontdoor admins create --data-dir /var/lib/frontdoor --username admin\n',
    )
    .action(() =>
      runCommand(io, false, async () => {
        await takeServerValues(io, create);
        await runner.adminsCreate(create.opts<AdminsCreateOptions>());
      }),
    );
  return new Command('admins')
    .description('administrators of the edge management API (zrok, ziti edge)')
    .addCommand(create);
}
