/** `frontdoor console link`: a link with which a person becomes an operator at the console. */
import { resolve } from 'node:path';
import { Command } from 'commander';
import { FrontdoorError } from '#base';
import { addApiOptions, type ApiFlags } from './access/api-options.ts';
import { runCommand, writeJson, type CliIo } from './cli-io.ts';
import type { ConfigValues } from './config-file/config-file.ts';
import { addServerConfigOption, takeServerValues } from './config-file/server-config.ts';
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
  readonly config?: string;
  readonly consoleUrl: string;
}

const LIFETIME_SECONDS = 3_600;
/** Ports of a file that has none. */
const HTTPS_PORT = 8_443;
const API_PORT = 8_081;
const DEFAULT_DATA_DIR = 'frontdoor-data';
const DEFAULT_CONSOLE_URL = 'http://localhost:8081/console';

export function consoleCommand(io: CliIo, runner: ConsoleRunner): Command {
  const link = addServerConfigOption(
    addDatabaseOptions(addApiOptions(new Command('link'))),
    'data directory, database and name, as with --data-dir',
  )
    .description(
      'create a link with which a person becomes a console operator; it works once and expires after one hour',
    )
    .option(
      '--data-dir <dir>',
      'change the database directly instead of using the API: directory of secrets.key and of the embedded database, for example frontdoor-data',
    )
    .option(
      '--console-url <url>',
      'address of the console in the link, with --data-dir; default: that of the program which runs there, or as the file of --config has it',
      DEFAULT_CONSOLE_URL,
    )
    .addHelpText(
      'after',
      '\nPOST {base_url}/invitations, requires the scope frontdoor.admin. With --data-dir or --config, the command changes the database directly;\n' +
        'the control plane locks an embedded database: stop it first. On PostgreSQL, control planes can keep running.\n\n' +
        'Examples:\n  frontdoor console link\n  frontdoor console link --data-dir /var/lib/frontdoor --console-url https://frontdoor.example/console\n' +
        '  frontdoor console link --config /etc/frontdoor/frontdoor.yaml\n',
    )
    .action(async ({ json }: LinkFlags) => {
      await runCommand(io, json === true, async () => {
        const values = await takeServerValues(io, link);
        const flags = link.opts<LinkFlags>();
        const isOffline = flags.dataDir !== undefined || flags.config !== undefined;
        const made = isOffline ? await linkOffline(flags, values) : await linkThroughApi(io, flags);
        if (json === true) writeJson(io, { link: made });
        else io.out(`${made}\n`);
      });
    });
  const linkOffline = async (flags: LinkFlags, values: ConfigValues): Promise<string> => {
    const { dataDir = DEFAULT_DATA_DIR } = flags;
    const isGiven = link.getOptionValueSource('consoleUrl') !== 'default';
    const found = isGiven ? undefined : await foundConsoleUrl(resolve(dataDir), values);
    return runner.consoleLink({ ...flags, dataDir, consoleUrl: found ?? flags.consoleUrl });
  };
  return new Command('console').description('access to the console').addCommand(link);
}

/** Where people open the console, as far as this machine has it. */
async function foundConsoleUrl(dataDir: string, values: ConfigValues): Promise<string | undefined> {
  const { findRunningProgram } = await import('#net/files');
  const running = findRunningProgram(dataDir)?.consoleUrl;
  if (typeof running === 'string') return running;
  const [publicUrl, name] = [values.get('publicApiUrl'), values.get('apiName')];
  if (typeof publicUrl === 'string') return `${publicUrl.replace(/\/$/, '')}/console`;
  if (typeof name !== 'string') return undefined;
  const isOnePort = values.get('onePort') === true;
  const port = isOnePort ? (values.get('httpsPort') ?? HTTPS_PORT) : (values.get('apiPort') ?? API_PORT);
  // A URL leaves out the usual port of HTTPS.
  return new URL(`https://${name}:${Number(port)}/console`).href;
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
