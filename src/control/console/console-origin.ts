/**
 * Which requests the console accepts by where they come from. It answers under its own names only, so that no other name
 * of this address (DNS rebinding) becomes an origin of its own, and it accepts requests of its own pages alone.
 */
import type { IncomingMessage } from 'node:http';
import { FrontdoorError } from '#base';

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

/**
 * Whether the browser saw the page under another address than this server: a proxy in front replaces the `Host`, or
 * {base_url} has another scheme than the proxy.
 */
function isUnderOtherAddress({ headers }: IncomingMessage, ownOrigin: string): boolean {
  const { origin, 'sec-fetch-site': site } = headers;
  return site === 'same-origin' && origin !== undefined && origin !== 'null' && origin !== ownOrigin;
}

/** Why a request is refused that no page of the console sent, as far as this server knows them. */
export function foreignOrigin(request: IncomingMessage, ownOrigin: string | undefined): FrontdoorError {
  const message =
    ownOrigin !== undefined && isUnderOtherAddress(request, ownOrigin)
      ? 'A proxy changes the address of the console: --public-api-url has to be the address in the browser, and the proxy has to pass on the header Host'
      : 'The request was not sent by a page of the console';
  return new FrontdoorError('forbidden', 'foreign-origin', message);
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
