/** Hosts in URLs and addresses. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/;

/** Whether the host is this machine, so that traffic to it needs no TLS. IPv6 with or without brackets. */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK.test(host);
}

/** Returns `host:port`, with brackets around an IPv6 literal. */
export function formatHostPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
