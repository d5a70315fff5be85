/** The options about proxies in front of a gateway, as its settings. Their texts are checked by the command line. */
import type { GatewayProxyOptions } from '#cli';
import type { IpNetwork } from '#domain';
import { parseTrustedProxies } from '#domain/proxies';

export function proxiesOf({ trustedProxies }: GatewayProxyOptions): readonly IpNetwork[] | undefined {
  return trustedProxies === undefined ? undefined : parseTrustedProxies(trustedProxies);
}

/** Whether connections of trusted proxies to this port begin with a PROXY header. */
export function hasProxyHeaders(port: 'http' | 'https', { proxyProtocol }: GatewayProxyOptions): boolean {
  return proxyProtocol === port || proxyProtocol === 'both';
}
