/** The options of every command that calls the Management API. Every help text loads this module, so it stays small. */
import { Option, type Command } from 'commander';
import { secretOf, type Secret } from '#base';
import { proxyOption, type ProxyFlags } from '../proxy-option.ts';

export const DEFAULT_API_URL = 'http://127.0.0.1:8081';
const EXAMPLE_ID = '0d8a64f8-6a52-4f0e-9d5e-4b8c0d1c7a22';

export interface ApiFlags extends ProxyFlags {
  readonly api?: string;
  readonly account?: string;
  readonly token?: Secret;
  readonly client?: string;
  readonly clientSecret?: Secret;
  readonly ca?: string;
  readonly credentialsFile?: string;
  readonly profile?: string;
  readonly frontdoor?: string;
  readonly json?: boolean;
}

/** Adds the options of commands that call the Management API. */
export function addApiOptions(command: Command): Command {
  const options = [
    new Option(
      '--api <url>',
      `address of the Management API (or FRONTDOOR_API_URL); default: ${DEFAULT_API_URL}`,
    ),
    new Option(
      '--profile <name>',
      'profile that "frontdoor login" saved (or FRONTDOOR_PROFILE); for example production',
    ),
    new Option('--account <id>', `ID of an API account (or FRONTDOOR_ACCOUNT_ID); for example ${EXAMPLE_ID}`),
    new Option('--token <token>', secretHelp('token of that account', 'FRONTDOOR_API_TOKEN')).argParser(
      secretOf,
    ),
    new Option(
      '--client <id>',
      `ID of an OAuth client, instead of an account (or FRONTDOOR_CLIENT_ID); for example ${EXAMPLE_ID}`,
    ),
    new Option(
      '--client-secret <secret>',
      secretHelp('secret of that client', 'FRONTDOOR_CLIENT_SECRET'),
    ).argParser(secretOf),
    new Option(
      '--credentials-file <file>',
      'file with an API account and its token, as "frontdoor control" writes it at its first start (or FRONTDOOR_CREDENTIALS_FILE); for example first-secrets.json',
    ),
    new Option(
      '--ca <file>',
      "CA certificates (PEM) to verify the Management API with, instead of the system's (or FRONTDOOR_CA_FILE); for example ca.pem",
    ),
    proxyOption(),
  ];
  for (const option of options) command.addOption(option.helpGroup('Management API:'));
  return command.addOption(new Option('--json', 'print JSON, for scripts'));
}

/** The option for commands that work on one frontdoor. */
export function frontdoorOption(): Option {
  return new Option(
    '--frontdoor <id|name>',
    'frontdoor to use (or FRONTDOOR_ID); default: the frontdoor of the profile; for example production',
  );
}

/** The option for commands that work on an organization. */
export function organizationOption(): Option {
  return new Option(
    '--organization <id|name>',
    "organization to use; default: the caller's own; for example partners",
  );
}

function secretHelp(what: string, variable: string): string {
  return `${what}; prefer ${variable}, or - to read it from standard input, because other users can see arguments; for example -`;
}
