/**
 * The configs of a hosted service in OpenZiti's form: `host.v1`, where its server is, and `intercept.v1`, the address at which
 * tunnelers and tunnel routers capture connections to it.
 */
import type { ServiceEndpoint } from './service.ts';

/** Undefined without a server that others can host. */
export function hostConfig({ protocol, server }: ServiceEndpoint): Record<string, unknown> | undefined {
  return server && { protocol, ...server };
}

/** `domain` is that of the addresses of hosted services, such as `ziti`. */
export function interceptConfig(
  serviceName: string,
  { protocol, clientPort: port }: ServiceEndpoint,
  domain: string,
): Record<string, unknown> {
  return {
    protocols: [protocol],
    addresses: [`${serviceName}.${domain}`],
    portRanges: [{ low: port, high: port }],
  };
}
