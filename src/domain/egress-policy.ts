/**
 * The addresses that the control plane may fetch from if another party named the host: the public internet over
 * HTTPS, and networks that the operator allowed with `--allow-egress CIDR:PORTS`, these also over plain HTTP.
 * Pure: every address of a name is checked here after it was resolved. A text that cannot be read as an address
 * is refused.
 */
import { isAllowedAddress, type AllowedNetwork } from './allowed-network-policy.ts';
import { parseAddress } from './ip-network.ts';

export type EgressDecision = { readonly ok: true } | { readonly ok: false; readonly why: string };

/**
 * IPv4 networks that are not the public internet (IANA's special-purpose registry), and metadata services of
 * clouds.
 */
const BLOCKED_IPV4 = networks(
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
);
/** Only this part of IPv6 is the internet. Loopback, link-local, unique local, multicast and the rest are outside. */
const GLOBAL_IPV6 = networks('2000::/3');
/** Blocked networks inside it: protocol assignments with Teredo, documentation, 6to4. */
const BLOCKED_IPV6 = networks('2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20');
/** NAT64 (RFC 6052): an IPv4 address in the last 32 bits, which is checked as IPv4. */
const NAT64 = networks('64:ff9b::/96');

/** `address` is a literal; `isPlain` means without TLS. */
export function checkEgress(
  address: string,
  port: number,
  isPlain: boolean,
  allowed: readonly AllowedNetwork[],
): EgressDecision {
  if (isAllowedAddress(allowed, address, port)) return { ok: true };
  if (isPlain) return refused(`plain HTTP to ${address} port ${port} is not allowed`);
  return isPublicAddress(address) ? { ok: true } : refused(`${address} port ${port} is not allowed`);
}

function isPublicAddress(address: string): boolean {
  const bytes = parseAddress(address);
  if (bytes === undefined) return false;
  if (bytes.length === 4) return !isIn(BLOCKED_IPV4, address);
  if (isIn(NAT64, address)) return !isIn(BLOCKED_IPV4, bytes.slice(12).join('.'));
  return isIn(GLOBAL_IPV6, address) && !isIn(BLOCKED_IPV6, address);
}

function isIn(list: readonly AllowedNetwork[], address: string): boolean {
  return isAllowedAddress(list, address, 1);
}

function networks(...texts: readonly string[]): readonly AllowedNetwork[] {
  return texts.map((text) => {
    const [address = '', bits] = text.split('/');
    const network = parseAddress(address);
    if (network === undefined) throw new RangeError(`${text} is not a network`);
    return { network, prefixBits: Number(bits), ports: [{ from: 1, to: 1 }] };
  });
}

function refused(why: string): EgressDecision {
  return { ok: false, why };
}
