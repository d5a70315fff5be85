/**
 * The addresses of a server that another party named: the name is resolved once, and every address of it must pass the egress
 * policy. Only these addresses may be connected to.
 */
import { lookup as systemLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { FrontdoorError, messageOf } from '#base';
import { checkEgress, type AllowedNetwork } from '#domain';

export interface EgressRules {
  /** Networks besides the public internet; connections without TLS are allowed there too. */
  readonly allowed: readonly AllowedNetwork[];
  readonly lookup?: EgressLookup | undefined;
}

/** Returns every address of a name. */
export type EgressLookup = (host: string) => Promise<readonly EgressAddress[]>;

export interface EgressAddress {
  readonly address: string;
  readonly family: number;
}

export interface EgressServer {
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
  /** Whether the connection has no TLS. */
  readonly isPlain: boolean;
  /** The server in messages. */
  readonly shown: string;
}

/** If a name has more addresses, only these are tried. */
const MAX_TRIED_ADDRESSES = 8;

/** Returns the addresses of the name if every one is allowed. Throws `forbidden` otherwise. */
export async function egressAddresses(
  { host, port, isPlain, shown }: EgressServer,
  { allowed, lookup = resolveAll }: EgressRules,
  signal: AbortSignal,
): Promise<readonly EgressAddress[]> {
  const family = isIP(host);
  const addresses =
    family === 0 ? await Promise.race([lookup(host), aborted(signal)]) : [{ address: host, family }];
  if (addresses.length === 0) throw new FrontdoorError('unavailable', 'no-address', `${host} has no address`);
  for (const { address } of addresses) {
    const decision = checkEgress(address, port, isPlain, allowed);
    if (!decision.ok) throw egressRefused(shown, decision.why);
  }
  return addresses.slice(0, MAX_TRIED_ADDRESSES);
}

export function egressRefused(shown: string, why: string): FrontdoorError {
  return new FrontdoorError('forbidden', 'egress-refused', `${shown} is not fetched: ${why}`);
}

export function egressFailure(shown: string, cause: unknown): FrontdoorError {
  if (cause instanceof FrontdoorError) return cause;
  if ((cause as { name?: string }).name === 'TimeoutError')
    return new FrontdoorError('timeout', 'server-silent', `${shown} did not respond in time`, { cause });
  const inner = cause instanceof AggregateError ? (cause.errors[0] as unknown) : cause;
  const message = `${shown} cannot be fetched: ${messageOf(inner)}`;
  return new FrontdoorError('unavailable', 'unreachable', message, { cause });
}

function resolveAll(host: string): Promise<readonly EgressAddress[]> {
  return systemLookup(host, { all: true });
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
