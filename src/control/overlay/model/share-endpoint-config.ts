/**
 * The configs of private shares in OpenZiti's form: `host.v1`, where the service is, and `intercept.v1`, the address at which
 * tunnelers and tunnel routers capture connections to the share.
 */
import type { ShareTarget } from '#domain';

const INTERCEPT_PORT = { http: 80, https: 443 } as const;

export function hostConfig(target: ShareTarget): Record<string, unknown> {
  return { protocol: protocolOf(target), address: target.host, port: target.port };
}

/**
 * `domain` is that of the addresses of shares, such as `ziti`. For HTTP the port follows from the scheme, because dialers do
 * not learn that of the private service. Other protocols have no port by which a client knows them, so that it is the service's.
 */
export function interceptConfig(
  shareName: string,
  target: ShareTarget,
  domain: string,
): Record<string, unknown> {
  const { scheme } = target;
  const port = scheme === 'tcp' || scheme === 'udp' ? target.port : INTERCEPT_PORT[scheme];
  return {
    protocols: [protocolOf(target)],
    addresses: [`${shareName}.${domain}`],
    portRanges: [{ low: port, high: port }],
  };
}

function protocolOf({ scheme }: ShareTarget): 'tcp' | 'udp' {
  return scheme === 'udp' ? 'udp' : 'tcp';
}
