/** Options of the control plane about who gets in: its address, other token issuers, how often anybody may ask. */
import { type Command, InvalidArgumentError, Option } from 'commander';

/** So many a second on average, so many at once. */
export interface RateOption {
  readonly perSecond: number;
  readonly burst: number;
}

export interface AccessOptions {
  readonly publicApiUrl?: string;
  readonly trustedIssuers?: string;
  readonly allowEgress?: readonly string[];
  readonly limitCredentials?: RateOption;
  readonly limitWrites?: RateOption;
  readonly limitFailedLogins?: RateOption;
  readonly limitUnproven?: number;
  readonly limitUnprovenPerAddress?: number;
}

const MAX_RATE = 1_000_000;

export function addAccessOptions(command: Command): Command {
  return command
    .option(
      '--public-api-url <url>',
      'what clients call the Management API by, when a proxy stands before it (default: what it listens on)',
    )
    .option(
      '--trusted-issuers <file>',
      'token issuers to trust beside our own: a list in YAML or JSON; for example issuers.yml',
    )
    .addOption(
      new Option(
        '--allow-egress <cidr:ports>',
        'a private network where token issuers and identity providers may be; may be repeated; for example 10.0.0.0/8:443',
      ).argParser((text: string, earlier: readonly string[] | undefined) => [...(earlier ?? []), text]),
    )
    .addOption(rate('credentials', 'tokens, enrollments and bootstrap tokens, each per address', '20/200'))
    .addOption(rate('writes', 'writing calls, per caller', '1000/2000'))
    .addOption(rate('failed-logins', 'wrong secrets at the token endpoint, per client', '1/20'))
    .addOption(
      connections(
        '--limit-unproven <count>',
        'connections to each API whose caller has shown no credential (default: 256)',
      ),
    )
    .addOption(
      connections(
        '--limit-unproven-per-address <count>',
        'the same, of one address; behind a load balancer all callers may have one (default: 192)',
      ),
    );
}

function connections(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text) => {
    const count = /^\d{1,6}$/.test(text) ? Number(text) : 0;
    if (count > 0) return count;
    throw new InvalidArgumentError('must be a whole number from 1 to 999999.');
  });
}

function rate(name: string, what: string, usual: string): Option {
  return new Option(
    `--limit-${name} <rate/burst>`,
    `${what}: so many a second, so many at once (default: ${usual})`,
  ).argParser(parseRate);
}

function parseRate(text: string): RateOption {
  const match = /^(\d{1,7}(?:\.\d{1,3})?)\/(\d{1,7})$/.exec(text);
  const perSecond = Number(match?.[1] ?? 0);
  const burst = Number(match?.[2] ?? 0);
  if (perSecond > 0 && perSecond <= MAX_RATE && burst >= 1 && burst <= MAX_RATE) return { perSecond, burst };
  throw new InvalidArgumentError('must be RATE/BURST, for example 20/200: 20 a second, 200 at once.');
}
