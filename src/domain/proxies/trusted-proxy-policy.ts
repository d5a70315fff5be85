/** Proxies in front of a server, whose `X-Forwarded-For` names the client. */
import {
  canonicalAddress,
  isInNetwork,
  parseAddress,
  parseIpNetwork,
  type IpNetwork,
} from '../ip-network.ts';

/** Parses addresses and networks that are separated by commas. Returns undefined if one of them is neither. */
export function parseTrustedProxies(text: string): readonly IpNetwork[] | undefined {
  const networks = text.split(',').map((each) => parseIpNetwork(each.trim()));
  return networks.every((each) => each !== undefined) ? networks : undefined;
}

/** `address` is a literal; any other text is not trusted. */
export function isTrustedProxy(proxies: readonly IpNetwork[], address: string): boolean {
  const bytes = parseAddress(address);
  return bytes !== undefined && proxies.some((network) => isInNetwork(network, bytes));
}

const WITH_PORT = /^(?:\[([^\]]+)\]|(\d+\.\d+\.\d+\.\d+)):?\d{0,5}$/;

/** Returns an address in canonical form, without the port that some proxies append; undefined if the text is none. */
export function forwardedAddress(text: string): string | undefined {
  const [, ipv6, ipv4] = WITH_PORT.exec(text) ?? [];
  return canonicalAddress(ipv6 ?? ipv4 ?? text);
}

/**
 * Returns the addresses of `X-Forwarded-For` without the ports that some proxies append. It ends, read from the right, at the
 * first text that is no address: nobody knows who has sent what stands before that.
 */
export function forwardedAddresses(text: string): readonly string[] {
  const found: string[] = [];
  for (const each of text.split(',').toReversed()) {
    const address = forwardedAddress(each.trim());
    if (address === undefined) break;
    found.unshift(address);
  }
  return found;
}
