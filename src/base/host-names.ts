/** Hosts as they stand in URLs and addresses. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/;

/** This machine alone: traffic to it needs no TLS. IPv6 with or without brackets. */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK.test(host);
}

/** `host:port`; an IPv6 literal gets its brackets. */
export function formatHostPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
