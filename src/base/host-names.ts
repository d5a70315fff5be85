/** Hosts in URLs and addresses. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/;

/** Whether the host is this machine, so that traffic to it needs no TLS. IPv6 with or without brackets. */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK.test(host);
}

/** Removes the brackets of an IPv6 literal, which hosts of URLs have. */
export function bareHost(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}

/** Returns `host:port`, with brackets around an IPv6 literal. */
export function formatHostPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

export interface HostPort {
  /** An IPv6 address has no brackets here. */
  readonly host: string;
  /** 0 to 65535. */
  readonly port: number;
}

/** Reads `HOST:PORT`, with brackets around an IPv6 literal. Returns undefined for other texts. */
export function readHostPort(text: string): HostPort | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  return host === undefined || Number(digits) > 65_535 ? undefined : { host, port: Number(digits) };
}
