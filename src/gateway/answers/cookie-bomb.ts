/**
 * Recovers browsers whose cookies for a share no longer fit into a head, which any page of a share in the same
 * zone can cause. Such a head is not parsed, only scanned as far as it arrived: if cookies are what makes it too
 * large, the response clears them, those that did not arrive by a script of its page, and the next request succeeds.
 */
import { createHash } from 'node:crypto';
import type { MessageRefusal } from '#domain';
import { COOKIE } from '../http/field-name-table.ts';
import { grpcKind } from '../http/grpc-policy.ts';
import { canonicalHost } from '../http/host-policy.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import { askedUnread, type ErrorAnswer } from './asked-answer.ts';
import { failureOfRequest, type Failure } from './failure-table.ts';

/** A service that refuses the headers as too large may be refusing this size of cookies. */
const MANY_COOKIE_BYTES = 2_048;
/** Above this size cookies are the likely cause of a 400, too, which nginx, Apache and Tomcat send instead of 431. */
const LARGE_COOKIE_BYTES = 16_384;

/** How many names a response clears. Browsers keep fewer cookies for a site. */
const MAX_NAMES = 200;
/** The names of the gateway's own cookies: sessions and pending log-ins. */
const OWN_COOKIE = /^__host-frontdoor-/i;
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
  return { host, names: namesIn(cookies) };
}

/** The gateway's own cookies are of a fixed size: the person stays signed in. */
function namesIn(cookies: string): readonly string[] {
  const names = cookies.split(';').map((pair) => pair.slice(0, Math.max(0, pair.indexOf('='))).trim());
  const others = [...new Set(names)].filter((name) => NAME.test(name) && !OWN_COOKIE.test(name));
  return others.slice(0, MAX_NAMES);
}

/** A copy of a request's cookies if a service may find them too large. They are parsed if it does. */
export function manyCookies({ cookieBytes, fields }: RequestHead): Uint8Array | undefined {
  if (cookieBytes <= MANY_COOKIE_BYTES) return undefined;
  const lines: string[] = [];
  for (let i = 0; i < fields.count; i += 1) if (fields.code[i] === COOKIE) lines.push(fields.value(i));
  return Buffer.from(lines.join(';'), 'latin1');
}

/**
 * Returns header lines without line ends. They also clear cookies of the zone, but of no name above it, which
 * belongs to others. `Clear-Site-Data` would clear the cookies of all shares of the zone, sessions among them.
 */
function clearingLines({ host, names }: CookieBomb, isSecure: boolean): readonly string[] {
  const zone = host.slice(host.indexOf('.') + 1);
  const secure = isSecure ? '; Secure' : '';
  return names.flatMap((name) => {
    const line = `Set-Cookie: ${name}=; Path=/; Max-Age=0${secure}`;
    return zone.includes('.') && !name.startsWith('__Host-') ? [line, `${line}; Domain=${zone}`] : [line];
  });
}

/**
 * Runs in the page of the refusal: clears all cookies that scripts can see here, of the share and of its zone. Only scripts
 * plant cookies for a zone, because services' cookies are held to their share.
 */
const CLEARING_CODE =
  "const host=location.hostname,zone=host.slice(host.indexOf('.')+1),parts=location.pathname.split('/');" +
  "for(const pair of document.cookie.split(';')){const name=pair.split('=')[0].trim();" +
  "for(let i=1;i<=parts.length;i++)for(const domain of['',';domain='+host,';domain='+zone])" +
  "for(const end of['','/'])document.cookie=name+'=;max-age=0;path='+(parts.slice(0,i).join('/')+end||'/')+domain+" +
  "(location.protocol==='https:'?';secure':'')}";
const CODE_HASH = createHash('sha256').update(CLEARING_CODE).digest('base64');

/** What the page of a failure runs, with the source that its policy of content permits. */
export function pageScriptOf({ code }: Failure): { readonly html: string; readonly source: string } {
  return code === COOKIES_TOO_LARGE.code
    ? { html: `<script>${CLEARING_CODE}</script>`, source: `; script-src 'sha256-${CODE_HASH}'` }
    : { html: '', source: '' };
}

const COOKIES_TOO_LARGE: Failure = {
  status: 431,
  code: 'cookies-too-large',
  hop: 'client',
  message: 'Your browser sent too many cookies. They have been cleared; please try again.',
  cause: 'the cookies are too large; the response clears them',
};

export interface RefusedHead {
  readonly failure: Failure;
  /** Lines of the answer's head, without line ends. */
  readonly lines: readonly string[];
  readonly asked: ErrorAnswer;
}

/** Answers a refused head, of which `text` arrived; `isServed`: a share has that host. */
export function refusedHead(
  refusal: MessageRefusal,
  text: string,
  isServed: (host: string) => boolean,
  isSecure: boolean,
): RefusedHead {
  const bomb = refusal === 'head-too-large' ? findCookieBomb(text) : undefined;
  // The script of the page clears what the lines cannot.
  if (bomb !== undefined && isServed(bomb.host))
    return { failure: COOKIES_TOO_LARGE, lines: clearingLines(bomb, isSecure), asked: askedUnread() };
  const grpc = grpcKind(lineOf(text, 'content-type').trim());
  const asked = askedUnread(lineOf(text, 'accept').trim(), text.startsWith('HEAD '), grpc);
  return { failure: failureOfRequest(refusal), lines: [], asked };
}

export interface ClearedRequest {
  readonly host: string;
  /** See `manyCookies`. Forgotten with the head of the response. */
  cookies: Uint8Array | undefined;
  readonly client: { readonly isSecure: boolean };
}

/**
 * Returns lines with their line ends for a service's response of 431, or 400, that clear the cookies of its request, or '' if cookies
 * are not the cause.
 */
export function clearedCookies(status: number, request: ClearedRequest): string {
  const { host, cookies, client } = request;
  request.cookies = undefined;
  if (cookies === undefined) return '';
  if (status !== 431 && (status !== 400 || cookies.length <= LARGE_COOKIE_BYTES)) return '';
  const names = namesIn(Buffer.from(cookies).toString('latin1'));
  return clearingLines({ host, names }, client.isSecure)
    .map((line) => `${line}\r\n`)
    .join('');
}

/** Returns the first line with that name, as far as it arrived. */
function lineOf(text: string, name: string): string {
  const start = text.toLowerCase().indexOf(`\r\n${name}:`);
  if (start === -1) return '';
  const from = start + name.length + 3;
  const end = text.indexOf('\r\n', from);
  return text.slice(from, end === -1 ? text.length : end);
}
