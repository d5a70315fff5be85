import { isIP } from 'node:net';

/** The name that a client of TLS asks a host for. It is empty for an address, which clients do not name (RFC 6066 §3). */
export function serverNameOf(host: string): string {
  return isIP(host) === 0 ? host : '';
}
