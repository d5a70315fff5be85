/** `frontdoor console link`: a link with which a person becomes an operator at the console. */
import { Command } from 'commander';
import { FrontdoorError } from '#base';
import { addApiOptions, type ApiFlags } from './access/api-options.ts';
import { runCommand, writeJson, type CliIo } from './cli-io.ts';
import { addDatabaseOptions, type DatabaseOptions } from './database-option.ts';

export interface ConsoleLinkOptions extends DatabaseOptions {
  readonly dataDir: string;
  readonly consoleUrl: string;
}

export interface ConsoleRunner {
  /** Returns the link, made on the database itself. */
  consoleLink(options: ConsoleLinkOptions): Promise<string>;
}

interface LinkFlags extends ApiFlags, DatabaseOptions {
  readonly dataDir?: string;
  readonly consoleUrl: string;
}

const LIFETIME_SECONDS = 3_600;
const DEFAULT_CONSOLE_URL = 'http://localhost:8081/console';

export function consoleCommand(io: CliIo, runner: ConsoleRunner): Command {
  const link = addDatabaseOptions(addApiOptions(new Command('link')))
    .description(
      'create a link with which a person becomes a console operator; it works once and expires after one hour',
    )
    .option(
      '--data-dir <dir>',
      'change the database directly instead of using the API: directory of secrets.key and of the embedded database, for example frontdoor-data',
    )
    .option('--console-url <url>', 'address of the console in the link, with --data-dir', DEFAULT_CONSOLE_URL)
    .addHelpText(
      'after',
      '\nPOST {base_url}/invitations, requires the scope frontdoor.admin. With --data-dir, the command changes the database directly;\n' +
        'the control plane locks an embedded database: stop it first. On PostgreSQL, control planes can keep running.\n\n' +
        'Examples:\n  frontdoor console link\n  frontdoor console link --data-dir /var/lib/frontdoor --console-url https://frontdoor.example/console\n',
    )
    .action(async (flags: LinkFlags) => {
      await runCommand(io, flags.json === true, async () => {
        const { dataDir } = flags;
        const made =
          dataDir === undefined
            ? await linkThroughApi(io, flags)
            : await runner.consoleLink({ ...flags, dataDir });
        if (flags.json === true) writeJson(io, { link: made });
        else io.out(`${made}\n`);
      });
    });
  return new Command('console').description('access to the console').addCommand(link);
}

async function linkThroughApi(io: CliIo, flags: LinkFlags): Promise<string> {
  const { withManagement } = await import('./access/access.ts');
  const body = { name: 'Operator', role: 'operator', lifetimeSeconds: LIFETIME_SECONDS };
  let link: unknown;
  await withManagement(flags, io, async (client) => {
    const made = await client.call({ method: 'POST', path: '/invitations', body });
    ({ link } = made as { link?: unknown });
  });
  if (typeof link !== 'string')
    throw new FrontdoorError('badGateway', 'answer', 'the Management API sent no link');
  return link;
}
