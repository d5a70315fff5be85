/** `frontdoor setup`: its options. What it does is loaded when it runs. */
import { Command, Option } from 'commander';
import { addAcmeEmailOption } from '../acme-options.ts';
import { runCommand, type CliIo } from '../cli-io.ts';
import { emailAddress, wholeNumber } from '../value-parser.ts';
import type { SetupFlags } from './setup-answers.ts';

const CONFIG_FILE = '/etc/frontdoor/frontdoor.yaml';
const MAX_PORT = 65_535;

export function setupCommand(io: CliIo, version: string): Command {
  const command = new Command('setup')
    .description(
      'set up "frontdoor up" on this machine: check it, write the configuration file, start the service',
    )
    .option('--config <file>', 'configuration file to write; keys that it has besides stay', CONFIG_FILE)
    .option(
      '--domain <name>',
      'domain of the installation: shares are served as <share>.<domain>; for example share.example.com',
    );
  return addAcmeEmailOption(command)
    .option(
      '--tls-cert <file>',
      'certificate (PEM) for the domain and *.domain instead of automatic ones; for example fullchain.pem',
    )
    .option('--tls-key <file>', 'private key of that certificate (PEM); for example privkey.pem')
    .option('--api-name <name>', 'DNS name of the console and the Management API, default: api.<domain>')
    .addOption(
      new Option(
        '--admin <address>',
        'email address of the first operator, for whom the link of the console is created; for example ann@example.com',
      ).argParser(emailAddress),
    )
    .option('--listen <host>', 'address to listen on, default: 0.0.0.0, every interface')
    .addOption(port('--http-port <port>', 'public HTTP, default: 80'))
    .addOption(port('--https-port <port>', 'public HTTPS, and all connections of agents, default: 443'))
    .option(
      '--data-dir <dir>',
      'directory for the database, keys and identities, default: /var/lib/frontdoor',
    )
    .option(
      '--database-file <file>',
      'file with the URL of a PostgreSQL database, default: the embedded database; for example /etc/frontdoor/database.url',
    )
    .option('--yes', 'ask nothing, and continue although a check failed', false)
    .option('--no-start', 'write the file only, and start nothing')
    .addHelpText(
      'after',
      '\nWithout a terminal, --domain is needed, with --acme-email or --tls-cert and --tls-key. A file that exists is changed only with --yes\n' +
        'or after a confirmation, and all its other keys and comments stay.\n\n' +
        'Examples:\n  frontdoor setup\n  frontdoor setup --domain share.example.com --acme-email ops@example.com --admin ann@example.com --yes\n',
    )
    .action((flags: SetupFlags) =>
      runCommand(io, false, async () => {
        const [{ runSetup }, { openTerminalQuestions }, { systemService }, { configKeysOf }] =
          await Promise.all([
            import('./setup.ts'),
            import('../access/login-questions.ts'),
            import('./setup-service.ts'),
            import('../config-file/config-key.ts'),
          ]);
        const up = command.parent!.commands.find((each) => each.name() === 'up')!;
        const questions = io.isInteractive === true && !flags.yes ? await openTerminalQuestions() : undefined;
        await runSetup({ io, flags, version, questions, service: systemService, keys: configKeysOf(up) });
      }),
    );
}

function port(flags: string, description: string): Option {
  return new Option(flags, description).argParser(wholeNumber(1, MAX_PORT));
}
