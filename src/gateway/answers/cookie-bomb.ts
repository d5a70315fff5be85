/**
 * A person whose browser holds more cookies for a share than fit into a head could never come again: any page of a share
 * in the same zone can plant them. Such a head is not read, but looked at as far as it came: where cookies are what is
 * too large, the answer clears them, and the person gets in with the next try.
 */
import { canonicalHost } from '../http/host-policy.ts';
import { failureOfRequest, type Failure } from './failure-table.ts';
import type { MessageRefusal } from '../http/refusal-table.ts';

/** A service that finds the headers too large finds so many cookies too large. */
const MANY_COOKIE_BYTES = 2_048;

/** Browsers obey it on TLS alone, for all names of the site that a share's name belongs to. */
const CLEAR_COOKIES_LINE = 'Clear-Site-Data: "cookies"';

/** For browsers that do not know `Clear-Site-Data`, and without TLS: so many names are cleared by each answer. */
const MAX_NAMES = 32;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;

interface CookieBomb {
  /** Canonical. */
  readonly host: string;
  /** Names of the cookies in the order of the request, each once, as far as the head was read. */
  readonly names: readonly string[];
}

/** `text` is the beginning of a head that is too large; undefined: cookies are not what makes it so. */
function findCookieBomb(text: string): CookieBomb | undefined {
  const host = canonicalHost(lineOf(text, 'host').trim());
  const cookies = lineOf(text, 'cookie');
  if (host === undefined || cookies.length < text.length / 2) return undefined;
  const names = cookies.split(';').map((pair) => pair.slice(0, Math.max(0, pair.indexOf('='))).trim());
  return { host, names: [...new Set(names)].filter((name) => NAME.test(name)).slice(0, MAX_NAMES) };
}

/** Header lines without line ends. The zone is cleared too, and no name above it, which is others'. */
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
  says: 'Your browser sent more cookies than fit into a request. They have been cleared now: please try again.',
  cause: 'the cookies are too large; the answer clears them',
};

/** For a head that is refused, of which `text` came; `isServed`: a share has that host. */
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

/** Line for a service's answer 431 that clears cookies, with its line end; '' where cookies are not the cause. */
export function clearedCookies(status: number, cookieBytes: number, isSecure: boolean): string {
  return status === 431 && isSecure && cookieBytes > MANY_COOKIE_BYTES ? `${CLEAR_COOKIES_LINE}\r\n` : '';
}

/** The first line of that name, as far as it came. */
function lineOf(text: string, name: string): string {
  const start = text.toLowerCase().indexOf(`\r\n${name}:`);
  if (start === -1) return '';
  const from = start + name.length + 3;
  const end = text.indexOf('\r\n', from);
  return text.slice(from, end === -1 ? text.length : end);
}
