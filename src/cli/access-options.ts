/** Options of the control plane about access: its public address, other token issuers, rate limits. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { addMailOptions, type MailOptions } from './mail-options.ts';
import { trustedProxiesOption } from './proxy-options.ts';
import { emailAddress, repeatedText, wholeNumber } from './value-parser.ts';

/** Requests per second on average, and the burst that is allowed at once. */
export interface RateOption {
  readonly perSecond: number;
  readonly burst: number;
}

export interface AccessOptions extends MailOptions {
  readonly publicApiUrl?: string;
  /** Addresses and networks, separated by commas. */
  readonly trustedProxies?: string;
  readonly trustedIssuers?: string;
  readonly allowEgress?: readonly string[];
  readonly dnsServer?: readonly string[];
  readonly limitCredentials?: RateOption;
  readonly limitWrites?: RateOption;
  readonly limitFailedLogins?: RateOption;
  readonly limitUnproven?: number;
  readonly limitUnprovenPerAddress?: number;
  readonly edgeManagement?: boolean;
  readonly console: 'on' | 'off';
  readonly adminEmail?: string;
}

const MAX_RATE = 1_000_000;
const MAX_CONNECTIONS = 999_999;

/** `proxied`: the servers that may be behind trusted proxies. */
export function addAccessOptions(command: Command, proxied: string): Command {
  return addMailOptions(command)
    .option(
      '--edge-management',
      'serve OpenZiti\'s edge management API at the edge API, for administrators of "frontdoor admins create"',
    )
    .addOption(
      new Option('--console <on|off>', 'whether the Management API serves the console, under /console')
        .choices(['on', 'off'])
        .default('on'),
    )
    .addOption(
      new Option(
        '--admin-email <address>',
        'email address of the first operator, for whom the first start creates the link of the console; for example ann@example.com',
      ).argParser(emailAddress),
    )
    .option(
      '--public-api-url <url>',
      'public URL of the Management API, if it is behind a proxy; default: the address it listens on; for example https://api.example.com',
    )
    .addOption(trustedProxiesOption(proxied))
    .option(
      '--trusted-issuers <file>',
      'file with further trusted token issuers, a list in YAML or JSON; for example issuers.yml',
    )
    .addOption(
      new Option(
        '--allow-egress <cidr:ports>',
        'private network that token issuers and identity providers may be in; may be repeated; for example 10.0.0.0/8:443',
      ).argParser(repeatedText),
    )
    .option(
      '--dns-server <address...>',
      'addresses of name servers for the ownership checks of custom frontends; default: the system resolvers; for example 192.0.2.53',
    )
    .addOption(
      rate(
        'credentials',
        'requests for tokens, enrollments and bootstrap tokens, each per address',
        '20/200',
      ),
    )
    .addOption(rate('writes', 'write requests, per caller', '1000/2000'))
    .addOption(rate('failed-logins', 'wrong secrets at the token endpoint, per client', '1/20'))
    .addOption(
      connections('--limit-unproven <count>', 'unauthenticated connections to each API (default: 256)'),
    )
    .addOption(
      connections(
        '--limit-unproven-per-address <count>',
        'unauthenticated connections from one address; those of --trusted-proxies do not count (default: 192)',
      ),
    );
}

function connections(flags: string, description: string): Option {
  return new Option(flags, description).argParser(wholeNumber(1, MAX_CONNECTIONS));
}

function rate(name: string, what: string, usual: string): Option {
  return new Option(
    `--limit-${name} <rate/burst>`,
    `${what}: requests per second and burst (default: ${usual})`,
  ).argParser(parseRate);
}

function parseRate(text: string): RateOption {
  const match = /^(\d{1,7}(?:\.\d{1,3})?)\/(\d{1,7})$/.exec(text);
  const perSecond = Number(match?.[1] ?? 0);
  const burst = Number(match?.[2] ?? 0);
  if (perSecond > 0 && perSecond <= MAX_RATE && burst >= 1 && burst <= MAX_RATE) return { perSecond, burst };
  throw new InvalidArgumentError('must be RATE/BURST, for example 20/200: 20 a second, up to 200 at once.');
}
