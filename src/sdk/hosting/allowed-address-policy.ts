/**
 * The addresses to which a host may forward circuits: IP addresses, CIDRs, host names, `*.domain`, and `*` for any name.
 * A name that only a wildcard allows must not resolve to an address of the hosting machine itself, such as loopback or
 * link-local, because the operator did not name it and its DNS records belong to someone else.
 */
import { isInNetwork, parseAddress, parseIpNetwork, type IpNetwork } from '#domain';

/** Lower-case names, suffixes with their leading dot, and networks. */
export interface AllowedAddresses {
  readonly networks: readonly IpNetwork[];
  readonly names: ReadonlySet<string>;
  readonly domains: readonly string[];
  readonly anyName: boolean;
}

/** How a name is allowed: by itself, or by a wildcard. */
export type NameGrant = 'named' | 'wildcard';

export const NO_ADDRESSES: AllowedAddresses = {
  networks: [],
  names: new Set(),
  domains: [],
  anyName: false,
};

const MAX_NAME_CHARS = 253;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** Addresses that mean the machine itself, its neighbours on the wire, or no single machine. */
const OWN_NETWORKS = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '255.255.255.255/32',
  '::/128',
  '::1/128',
  'fe80::/10',
  'ff00::/8',
].map((text) => parseIpNetwork(text)!);

/** Returns undefined if a text is neither an address nor a CIDR, a name or a wildcard. */
export function parseAllowedAddresses(
  texts: readonly string[],
): AllowedAddresses | { readonly wrong: string } {
  const networks: IpNetwork[] = [];
  const names = new Set<string>();
  const domains: string[] = [];
  let anyName = false;
  for (const text of texts) {
    const network = parseIpNetwork(text);
    const name = hostNameOf(text.startsWith('*.') ? text.slice(2) : text);
    if (network !== undefined) networks.push(network);
    else if (text === '*') anyName = true;
    else if (name === undefined) return { wrong: text };
    else if (text.startsWith('*.')) domains.push(`.${name}`);
    else names.add(name);
  }
  return { networks, names, domains, anyName };
}

/** Returns the name in lower case without a final dot; undefined if it is no name of a host. */
export function hostNameOf(text: string): string | undefined {
  const name = (text.endsWith('.') ? text.slice(0, -1) : text).toLowerCase();
  if (name.length === 0 || name.length > MAX_NAME_CHARS) return undefined;
  return name.split('.').every((label) => LABEL.test(label)) ? name : undefined;
}

export function isAllowedIp(allowed: AllowedAddresses, address: Uint8Array): boolean {
  return allowed.networks.some((network) => isInNetwork(network, address));
}

/** `name` is a result of `hostNameOf`. */
export function grantOfName(allowed: AllowedAddresses, name: string): NameGrant | undefined {
  if (allowed.names.has(name)) return 'named';
  if (allowed.anyName) return 'wildcard';
  const dotted = `.${name}`;
  return allowed.domains.some((domain) => dotted.endsWith(domain)) ? 'wildcard' : undefined;
}

/** Decides about one address to which an allowed name was resolved. */
export function mayReach(allowed: AllowedAddresses, grant: NameGrant, address: string): boolean {
  if (grant === 'named') return true;
  const bytes = parseAddress(address);
  if (bytes === undefined) return false;
  return isAllowedIp(allowed, bytes) || !OWN_NETWORKS.some((network) => isInNetwork(network, bytes));
}
