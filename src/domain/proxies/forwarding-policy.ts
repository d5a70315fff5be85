/**
 * What trusted proxies report about the client of a request: `X-Forwarded-For`, `-Proto` and `-Host`, or `Forwarded`
 * (RFC 7239). Only what a trusted proxy wrote counts, which is the right end of each list: a client may have sent
 * the rest. A report that cannot be read refuses the request, because the proxy's own address would pass the
 * address rules of many shares. ADR 0088.
 */
import type { IpNetwork } from '../ip-network.ts';
import { forwardedAddress, isTrustedProxy } from './trusted-proxy-policy.ts';

/** The values of each header, joined by commas in the order of their lines; undefined: the header is absent. */
export interface ForwardingLines {
  readonly for: string | undefined;
  readonly proto: string | undefined;
  readonly host: string | undefined;
  readonly forwarded: string | undefined;
}

/** Undefined: no trusted proxy reports it. */
export interface ForwardedClient {
  /** In canonical form. */
  readonly address: string | undefined;
  readonly isSecure: boolean | undefined;
  /** As received. */
  readonly host: string | undefined;
}

export type ForwardingProblem = 'malformed-forwarding' | 'conflicting-forwarding';

/** One proxy's report. `address` is null if it names a client whose address cannot be read. */
interface Hop {
  readonly address: string | null | undefined;
  readonly proto: string | undefined;
  readonly host: string | undefined;
}

/** More proxies than any installation has in a row. */
const MAX_HOPS = 32;

/** The request came from a trusted proxy. */
export function readForwarding(
  lines: ForwardingLines,
  proxies: readonly IpNetwork[],
): ForwardedClient | ForwardingProblem {
  const named = lines.for === undefined ? undefined : clientOf(addressesOf(lines.for), proxies);
  if (named === 'malformed-forwarding') return named;
  const standardClient =
    lines.forwarded === undefined ? undefined : clientOf(hopsOf(lines.forwarded), proxies);
  if (standardClient === 'malformed-forwarding') return standardClient;
  // One of the two is not the proxy's but the client's own.
  if (named !== undefined && standardClient !== undefined && standardClient.address !== named.address)
    return 'conflicting-forwarding';
  if (named === undefined && standardClient !== undefined)
    return withScheme(standardClient, standardClient.proto);
  const hops = named?.hops ?? 0;
  const host = lines.host === undefined ? undefined : valueAt(lines.host, hops);
  const proto = lines.proto === undefined ? undefined : valueAt(lines.proto, hops);
  return withScheme({ address: named?.address, host }, proto);
}

interface Found extends Omit<Hop, 'address'> {
  readonly address: string | undefined;
  /** Index of the report about the client, counted from the right. */
  readonly hops: number;
}

/** The last address from the right that is not one of the proxies; the first one if all are. */
function clientOf(
  reports: readonly Hop[] | undefined,
  proxies: readonly IpNetwork[],
): Found | 'malformed-forwarding' {
  if (reports === undefined) return 'malformed-forwarding';
  const nearest = Math.max(0, reports.length - MAX_HOPS);
  for (let at = reports.length - 1; at >= nearest; at -= 1) {
    const { address, proto, host } = reports[at]!;
    if (address === null) return 'malformed-forwarding';
    const isLast = at === 0 || address === undefined;
    if (isLast || !isTrustedProxy(proxies, address))
      return { address, proto, host, hops: reports.length - 1 - at };
  }
  return 'malformed-forwarding';
}

function addressesOf(text: string): Hop[] {
  return text
    .split(',')
    .map((each) => ({ address: forwardedAddress(each.trim()) ?? null, proto: undefined, host: undefined }));
}

/** Proxies that replace a header send one value, and those that append send one for each of them. */
function valueAt(text: string, hops: number): string {
  const values = text.split(',');
  return values[Math.max(0, values.length - 1 - hops)]!.trim();
}

function withScheme(
  { address, host }: Omit<ForwardedClient, 'isSecure'>,
  proto: string | undefined,
): ForwardedClient | ForwardingProblem {
  switch (proto?.toLowerCase()) {
    case undefined:
      return { address, isSecure: undefined, host };
    // Some proxies send these for WebSockets.
    case 'wss':
    case 'https':
      return { address, isSecure: true, host };
    case 'ws':
    case 'http':
      return { address, isSecure: false, host };
    default:
      return 'malformed-forwarding';
  }
}

const PAIR =
  /[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)|"((?:[^"\\]|\\.)*)")[ \t]*([;,]|$)/y;

/** Returns undefined if the text is not of RFC 7239. */
function hopsOf(text: string): readonly Hop[] | undefined {
  const hops: Hop[] = [];
  let pairs = new Map<string, string>();
  PAIR.lastIndex = 0;
  for (;;) {
    const [, name, token, quoted, end] = PAIR.exec(text) ?? [];
    if (name === undefined || pairs.has(name.toLowerCase())) return undefined;
    pairs.set(name.toLowerCase(), token ?? quoted!.replaceAll(/\\(.)/g, '$1'));
    if (end === ';') continue;
    const address = pairs.get('for');
    hops.push({
      address: address === undefined ? undefined : (forwardedAddress(address) ?? null),
      proto: pairs.get('proto'),
      host: pairs.get('host'),
    });
    if (end === '') return hops;
    pairs = new Map();
  }
}
