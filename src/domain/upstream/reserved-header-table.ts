/**
 * Names of headers that only gateways set, in canonical form: lower case, with `_` as `-`. Gateways remove them from
 * requests of clients, and nobody can set them for a share.
 */

/** Only proxies set them, each product its own. Gateways set `X-Forwarded-For`. */
export const CLIENT_ADDRESS_HEADERS = [
  'x-real-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'cf-connecting-ipv6',
  'cf-pseudo-ipv4',
  'client-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-originating-ip',
  'x-remote-ip',
  'x-remote-addr',
  'fastly-client-ip',
  'fly-client-ip',
  'do-connecting-ip',
  'x-azure-clientip',
  'x-azure-socketip',
  'x-appengine-user-ip',
  'x-envoy-external-address',
  'x-original-forwarded-for',
] as const;

/** Servers take them for the address of a proxy for their own requests (httpoxy), or for another path than the gateway judged. */
export const MISLEADING_HEADERS = ['proxy', 'x-original-url', 'x-rewrite-url', 'x-original-host'] as const;

export const RESERVED_HEADER_PREFIXES = ['x-forwarded-', 'zrok-auth-', 'frontdoor-'] as const;

const HOP_BY_HOP = [
  ...['connection', 'keep-alive', 'te', 'trailer', 'upgrade', 'http2-settings', 'expect'],
  ...['proxy-connection', 'proxy-authenticate', 'proxy-authorization'],
];
const FRAMING = ['content-length', 'transfer-encoding', 'content-encoding'];
/** Settings are shown to everyone who may read the share. */
const CREDENTIALS = ['authorization', 'cookie', 'set-cookie'];

const REASONS: ReadonlyMap<string, string> = new Map([
  ...[...CLIENT_ADDRESS_HEADERS, ...MISLEADING_HEADERS, 'forwarded'].map(
    (name) => [name, 'only gateways set it'] as const,
  ),
  ...HOP_BY_HOP.map((name) => [name, 'it concerns one connection'] as const),
  ...FRAMING.map((name) => [name, 'it says where a body ends and how it is encoded'] as const),
  ...CREDENTIALS.map((name) => [name, 'it has credentials, and settings are shown'] as const),
  ['host', 'hostHeader sets it'] as const,
  ['clear-site-data', 'it would reach other shares'] as const,
]);

/** Returns why nobody can set the header for a share, or undefined. */
export function reservedHeaderReason(name: string): string | undefined {
  const folded = name.toLowerCase().replaceAll('_', '-');
  if (RESERVED_HEADER_PREFIXES.some((prefix) => folded.startsWith(prefix))) return 'only gateways set it';
  return REASONS.get(folded);
}
