/**
 * The configs of private shares in OpenZiti's form: `host.v1`, where the service is, and `intercept.v1`, the address at which
 * tunnelers and tunnel routers capture connections to the share.
 */
import { BACKEND_MODE_TABLE, type ShareTarget } from '#domain';

/** Undefined for a target that only our agents serve. */
export function hostConfig(target: ShareTarget): Record<string, unknown> | undefined {
  if (!('host' in target)) return undefined;
  return { protocol: protocolOf(target), address: target.host, port: target.port };
}

/**
 * `domain` is that of the addresses of shares, such as `ziti`. The port is the one that clients expect, because dialers do not
 * learn that of the private service.
 */
export function interceptConfig(
  shareName: string,
  target: ShareTarget,
  domain: string,
): Record<string, unknown> {
  const { clientPort: port } = target;
  return {
    protocols: [protocolOf(target)],
    addresses: [`${shareName}.${domain}`],
    portRanges: [{ low: port, high: port }],
  };
}

function protocolOf({ mode }: ShareTarget): 'tcp' | 'udp' {
  return BACKEND_MODE_TABLE[mode].speaks === 'datagrams' ? 'udp' : 'tcp';
}
