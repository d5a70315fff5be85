/**
 * Recovers browsers whose cookies for a share no longer fit into a head, which any page of a share in the same
 * zone can cause. Such a head is not parsed, only scanned as far as it arrived: if cookies are what makes it too
 * large, the response clears them, and the next request succeeds.
 */
import type { MessageRefusal } from '#domain';
import { canonicalHost } from '../http/host-policy.ts';
import { failureOfRequest, type Failure } from './failure-table.ts';

/** A service that refuses the headers as too large may be refusing this size of cookies. */
const MANY_COOKIE_BYTES = 2_048;

/** Browsers obey it only on TLS, for all names of the registrable domain of the share's name. */
const CLEAR_COOKIES_LINE = 'Clear-Site-Data: "cookies"';

/** For browsers without `Clear-Site-Data`, and without TLS: how many names each response clears. */
const MAX_NAMES = 32;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;

interface CookieBomb {
  /** In canonical form. */
  readonly host: string;
  /** Distinct cookie names in the order of the request, as far as the head was read. */
  readonly names: readonly string[];
}

/** `text` is the beginning of a head that is too large. Returns undefined if cookies are not the cause. */
function findCookieBomb(text: string): CookieBomb | undefined {
  const host = canonicalHost(lineOf(text, 'host').trim());
  const cookies = lineOf(text, 'cookie');
  if (host === undefined || cookies.length < text.length / 2) return undefined;
  const names = cookies.split(';').map((pair) => pair.slice(0, Math.max(0, pair.indexOf('='))).trim());
  return { host, names: [...new Set(names)].filter((name) => NAME.test(name)).slice(0, MAX_NAMES) };
}

/**
 * Returns header lines without line ends. They also clear cookies of the zone, but of no name above it, which
 * belongs to others.
 */
function clearingLines({ host, names }: CookieBomb, isSecure: boolean): readonly string[] {
  const zone = host.slice(host.indexOf('.') + 1);
  const secure = isSecure ? '; Secure' : '';
  const lines = names.flatMap((name) => {
    const line = `Set-Cookie: ${name}=; Path=/; Max-Age=0${secure}`;
    return zone.includes('.') && !name.startsWith('__Host-') ? [line, `${line}; Domain=${zone}`] : [line];
  });
  return isSecure ? [CLEAR_COOKIES_LINE, ...lines] : lines;
}

const COOKIES_TOO_LARGE: Failure = {
  status: 431,
  code: 'cookies-too-large',
  hop: 'client',
  message:
    'Your browser sent more cookies than fit into a request. They have been cleared; please try again.',
  cause: 'the cookies are too large; the response clears them',
};

/** Answers a refused head, of which `text` arrived; `isServed`: a share has that host. */
export function refusedHead(
  refusal: MessageRefusal,
  text: string,
  isServed: (host: string) => boolean,
  isSecure: boolean,
): { readonly failure: Failure; readonly lines: readonly string[] } {
  const bomb = refusal === 'head-too-large' ? findCookieBomb(text) : undefined;
  if (bomb === undefined || !isServed(bomb.host)) return { failure: failureOfRequest(refusal), lines: [] };
  return { failure: COOKIES_TOO_LARGE, lines: clearingLines(bomb, isSecure) };
}

/**
 * Returns a line with its line end for a service's 431 response that clears cookies, or '' if cookies are not the
 * cause.
 */
export function clearedCookies(status: number, cookieBytes: number, isSecure: boolean): string {
  return status === 431 && isSecure && cookieBytes > MANY_COOKIE_BYTES ? `${CLEAR_COOKIES_LINE}\r\n` : '';
}

/** Returns the first line with that name, as far as it arrived. */
function lineOf(text: string, name: string): string {
  const start = text.toLowerCase().indexOf(`\r\n${name}:`);
  if (start === -1) return '';
  const from = start + name.length + 3;
  const end = text.indexOf('\r\n', from);
  return text.slice(from, end === -1 ? text.length : end);
}
