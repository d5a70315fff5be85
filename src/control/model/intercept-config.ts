/** The config `intercept.v1` of private shares: the address at which tunnelers and tunnel routers capture connections to one. */

const DEFAULT_PORT = { http: 80, https: 443 } as const;

/**
 * `domain` is that of the addresses of shares, such as `ziti`. The port follows from the scheme, because dialers do not learn
 * that of the private service.
 */
export function interceptConfig(
  shareName: string,
  scheme: 'http' | 'https',
  domain: string,
): Record<string, unknown> {
  const port = DEFAULT_PORT[scheme];
  return {
    protocols: ['tcp'],
    addresses: [`${shareName}.${domain}`],
    portRanges: [{ low: port, high: port }],
  };
}
