/** Proxies in front of a server, whose `X-Forwarded-For` names the client. */
import { isInNetwork, parseAddress, parseIpNetwork, type IpNetwork } from './ip-network.ts';

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
