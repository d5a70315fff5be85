/**
 * `frontdoor upgrade --check`: its options. With an archive or a folder of another version, the check of that version runs, because
 * it knows its own steps.
 */
import { Command } from 'commander';
import { FrontdoorError } from '#base';
import { addApiOptions } from '../access/api-options.ts';
import { runCommand, type CliIo } from '../cli-io.ts';
import { takeServerValues } from '../config-file/server-config.ts';
import { addDatabaseOptions, addMigrationOptions } from '../database-option.ts';
import type { UpgradeFlags, UpgradeRunner } from './upgrade-runner.ts';

/** `build` builds the whole program with every command. */
export function upgradeCommand(
  io: CliIo,
  version: string,
  run: UpgradeRunner,
  build: () => Promise<Command>,
): Command {
  const command = addMigrationOptions(addDatabaseOptions(new Command('upgrade')))
    .description('check what another version would change at an installation; nothing is changed')
    .argument(
      '[version]',
      'archive or folder of the other version; default: this program is the other version',
    )
    .option(
      '--check',
      'check; this is the only form of the command, because a package or install.sh upgrades',
    )
    .option(
      '--data-dir <dir>',
      'data directory of the control plane, which is read if none runs',
      'frontdoor-data',
    )
    .option(
      '--config <file>',
      'configuration file of the programs, whose keys the other version has to know, and whose data directory and database are checked; for example /etc/frontdoor/frontdoor.yaml',
    );
  return addApiOptions(command)
    .addHelpText(
      'after',
      '\nWith an archive or a folder, the program in it runs, with your rights: take it from where you would install it from.\n' +
        'The exit status is 0 if nothing needs attention, 1 otherwise. The state of a running control plane is requested by its API, with\n' +
        'an account that has the scope frontdoor.admin; otherwise the database is read.\n\n' +
        'Examples:\n  frontdoor upgrade --check frontdoor-0.2.0-linux-x64.tar.gz\n' +
        '  frontdoor upgrade --check --data-dir /var/lib/frontdoor --config /etc/frontdoor/frontdoor.yaml\n',
    )
    .action(async (other: string | undefined, flags: UpgradeFlags) => {
      await runCommand(io, flags.json === true, async () => {
        if (flags.check !== true) {
          const message =
            'only "frontdoor upgrade --check" exists: upgrade by the package or install.sh that installed this version';
          throw new FrontdoorError('invalid', 'upgrade-form', message);
        }
        if (other !== undefined) {
          io.exitCode = await run.checkOf(other);
          return;
        }
        // Problems of the file are a finding.
        const isRead = await takeServerValues(io, command).then(
          () => true,
          () => false,
        );
        const { runUpgradeCheck } = await import('./upgrade-check.ts');
        await runUpgradeCheck(io, command.opts<UpgradeFlags>(), { version, run, build, isRead });
      });
    });
}
