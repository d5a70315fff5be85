/** The options of every command that calls the Management API. Light: every help text loads it. */
import { Option, type Command } from 'commander';

export const DEFAULT_API_URL = 'http://127.0.0.1:8081';

export interface ApiFlags {
  readonly api?: string;
  readonly account?: string;
  readonly token?: string;
  readonly client?: string;
  readonly clientSecret?: string;
  readonly ca?: string;
  readonly profile?: string;
  readonly frontdoor?: string;
  readonly json?: boolean;
}

/** Adds what every command that calls the Management API takes. */
export function addApiOptions(command: Command): Command {
  const options = [
    new Option('--api <url>', `Management API (or FRONTDOOR_API_URL), default ${DEFAULT_API_URL}`),
    new Option('--profile <name>', 'what "frontdoor login" kept (or FRONTDOOR_PROFILE)'),
    new Option('--account <id>', 'API account (or FRONTDOOR_ACCOUNT_ID)'),
    new Option('--token <token>', secretHelp('its token', 'FRONTDOOR_API_TOKEN')),
    new Option('--client <id>', 'OAuth client in place of the account (or FRONTDOOR_CLIENT_ID)'),
    new Option('--client-secret <secret>', secretHelp('its secret', 'FRONTDOOR_CLIENT_SECRET')),
    new Option('--ca <file>', "CA certificates (PEM) for the Management API, default the system's"),
  ];
  for (const option of options) command.addOption(option.helpGroup('Management API:'));
  return command.addOption(new Option('--json', 'print JSON'));
}

function secretHelp(what: string, variable: string): string {
  return `${what} (better in ${variable}, or "-" to read it: arguments can be seen by other users)`;
}
