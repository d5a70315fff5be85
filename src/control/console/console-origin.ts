/**
 * Which requests the console accepts by where they come from. It answers under its own names only, so that no other name
 * of this address (DNS rebinding) becomes an origin of its own, and it accepts requests of its own pages alone.
 */
import type { IncomingMessage } from 'node:http';

const LOOPBACK_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

export interface OwnAddress {
  /** {base_url}. */
  readonly baseUrl: string;
  /** The port on which this process listens, and whether with TLS. */
  readonly port: number;
  readonly isTls: boolean;
}

/** Returns the origin under which the request reached the console, or undefined if its `Host` is not one of the console's. */
export function ownOriginOf(request: IncomingMessage, own: OwnAddress): string | undefined {
  const { host } = request.headers;
  return originsOf(own).find((origin) => URL.parse(origin)?.host === host?.toLowerCase());
}

/**
 * Whether a page of the console sent the request: browsers set one of the two headers, which no page can forge. The origin
 * of a form is `null` on pages that send no referrer, as ours do.
 */
export function isFromOwnPage({ headers }: IncomingMessage, ownOrigin: string): boolean {
  const { origin, 'sec-fetch-site': site } = headers;
  if (site !== undefined) {
    return site === 'same-origin' && (origin === undefined || origin === 'null' || origin === ownOrigin);
  }
  return origin === ownOrigin;
}

/** Whether browsers keep a `Secure` cookie of the origin: over TLS, and from this machine itself. */
export function keepsCookies(origin: string): boolean {
  const { protocol, hostname } = new URL(origin);
  return protocol === 'https:' || LOOPBACK_HOSTS.includes(hostname);
}

function originsOf({ baseUrl, port, isTls }: OwnAddress): string[] {
  const scheme = isTls ? 'https' : 'http';
  const onThisMachine = LOOPBACK_HOSTS.map((host) => new URL(`${scheme}://${host}:${port}`).origin);
  return [new URL(baseUrl).origin, ...onThisMachine];
}
