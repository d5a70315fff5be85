/** `frontdoor control reset-admin`. */
import { Command } from 'commander';
import { runCommand, type CliIo } from './cli-io.ts';
import { addServerConfigOption, takeServerValues } from './config-file/server-config.ts';
import { addDatabaseOptions, type DatabaseOptions } from './database-option.ts';

export interface ResetAdminCommandOptions extends DatabaseOptions {
  readonly dataDir: string;
  readonly organizationId?: string;
  readonly out?: string;
}

interface ResetAdminRun {
  readonly io: CliIo;
  readonly resetAdmin: (options: ResetAdminCommandOptions) => Promise<void>;
}

export function resetAdminCommand(run: ResetAdminRun): Command {
  const command = addServerConfigOption(addDatabaseOptions(new Command('reset-admin')));
  return command
    .description('create a new API account with every scope, if all credentials have been lost')
    .option('--data-dir <dir>', 'directory of secrets.key and of the embedded database', 'frontdoor-data')
    .option('--organization-id <id>', 'organization of the administrator; default: the oldest organization')
    .option(
      '--out <file>',
      'file for the credentials (mode 0600); default: admin-secrets.json in the data directory',
    )
    .addHelpText(
      'after',
      '\nThe command changes the database directly. The control plane locks an embedded database: stop it first. On PostgreSQL,\n' +
        'control planes can keep running. Other accounts are not changed; the audit trail records the new account.\n\n' +
        'Example:\n  frontdoor control reset-admin --data-dir /var/lib/frontdoor\n',
    )
    .action(() =>
      runCommand(run.io, false, async () => {
        await takeServerValues(run.io, command);
        await run.resetAdmin(command.opts<ResetAdminCommandOptions>());
      }),
    );
}
