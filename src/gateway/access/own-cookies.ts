/**
 * Reads the gateway's own cookies from a request and removes them from what is forwarded. Memory use does not
 * depend on the request: more own cookies than a browser holds, or a repeated one, count as none. All other
 * cookies keep their bytes.
 */
import { COOKIE } from '../http/field-name-table.ts';
import type { RequestHead } from '../http/request-head-policy.ts';

export const OWN_COOKIE_PREFIX = '__Host-frontdoor-';
export const SESSION_COOKIE = '__Host-frontdoor-session';
export const LOGIN_COOKIE = '__Host-frontdoor-login';

const MAX_OWN = 10;
const SEMICOLON = 59;
/** 256 bits, base64url. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

export interface OwnCookies {
  /** The session token, if it is well-formed and occurs once. A copy that does not retain the head. */
  readonly session: string | undefined;
  /** The cookie that binds pending log-ins to this browser. */
  readonly login: string | undefined;
  /** Whether an own cookie was repeated, or there were too many. */
  readonly isDoubled: boolean;
  /** Indices of the header lines that contain own cookies. */
  readonly omitted: readonly number[];
  /** The other cookies of those lines, as new header lines. */
  readonly lines: string;
}

export const NO_COOKIES: OwnCookies = {
  session: undefined,
  login: undefined,
  isDoubled: false,
  omitted: [],
  lines: '',
};

const SESSION_ONLY = SESSION_COOKIE.length + 1 + 43;
const OMITTED_LINES: readonly (readonly number[])[] = Array.from({ length: 128 }, (_, i) => [i]);

/** The list of one header line, which is not allocated for each request. */
export function omittedLine(line: number): readonly number[] {
  return OMITTED_LINES[line] ?? [line];
}

export function readOwnCookies(head: RequestHead): OwnCookies {
  const { fields } = head;
  let first = -1;
  let lines = 0;
  for (let i = 0; i < fields.count; i += 1) {
    if (fields.code[i] !== COOKIE) continue;
    const at = fields.text.indexOf(OWN_COOKIE_PREFIX, fields.valueStart[i]);
    if (at === -1) break;
    if (at >= fields.valueEnd[i]!) continue;
    if (first === -1) first = i;
    lines += 1;
  }
  if (first === -1) return NO_COOKIES;
  return (lines === 1 ? onlySession(head, first) : undefined) ?? readAll(head);
}

/** The common case: one line that contains only a session. */
function onlySession({ fields }: RequestHead, index: number): OwnCookies | undefined {
  const start = fields.valueStart[index]!;
  if (fields.valueEnd[index]! - start !== SESSION_ONLY) return undefined;
  if (!fields.text.startsWith(SESSION_COOKIE, start)) return undefined;
  const token = fields.text.slice(start + SESSION_COOKIE.length + 1, start + SESSION_ONLY);
  if (fields.text.charCodeAt(start + SESSION_COOKIE.length) !== 61 || !TOKEN.test(token)) return undefined;
  return {
    session: token,
    login: undefined,
    isDoubled: false,
    omitted: omittedLine(index),
    lines: '',
  };
}

function readAll(head: RequestHead): OwnCookies {
  const { fields } = head;
  const omitted: number[] = [];
  const found = new Map<string, string>();
  let lines = '';
  let own = 0;
  let isDoubled = false;
  // A header that `Connection` lists is not forwarded.
  const passes = !head.connectionNames.includes('cookie');
  for (let i = 0; i < fields.count; i += 1) {
    if (fields.code[i] !== COOKIE) continue;
    const value = fields.value(i);
    if (!value.includes(OWN_COOKIE_PREFIX)) continue;
    let rest = '';
    let hasOwn = false;
    for (let start = 0; start <= value.length;) {
      let end = start;
      while (end < value.length && value.charCodeAt(end) !== SEMICOLON) end += 1;
      const pair = value.slice(start, end);
      start = end + 1;
      const equals = pair.indexOf('=');
      const name = (equals === -1 ? pair : pair.slice(0, equals)).trim();
      if (!name.startsWith(OWN_COOKIE_PREFIX)) {
        rest += rest === '' ? pair.trimStart() : `;${pair}`;
        continue;
      }
      hasOwn = true;
      own += 1;
      if (own > MAX_OWN) continue;
      if (found.has(name)) isDoubled = true;
      else found.set(name, equals === -1 ? '' : pair.slice(equals + 1).trim());
    }
    if (!hasOwn) continue;
    omitted.push(i);
    if (rest.trim() !== '' && passes) lines += `${fields.name(i)}: ${rest}\r\n`;
  }
  isDoubled ||= own > MAX_OWN;
  return {
    session: isDoubled ? undefined : wellFormed(found.get(SESSION_COOKIE)),
    login: isDoubled ? undefined : wellFormed(found.get(LOGIN_COOKIE)),
    isDoubled,
    omitted,
    lines,
  };
}

function wellFormed(value: string | undefined): string | undefined {
  return value !== undefined && TOKEN.test(value) ? value : undefined;
}

const FLAGS = 'Path=/; Secure; HttpOnly; SameSite=Lax';

/**
 * `Set-Cookie` lines without line ends. They have no `Domain`, so that browsers return them only to the host that
 * set them.
 */
export function sessionCookieLine(token: string, maxAgeS: number): string {
  return `Set-Cookie: ${SESSION_COOKIE}=${token}; ${FLAGS}; Max-Age=${maxAgeS}`;
}

export function loginCookieLine(value: string, maxAgeS: number): string {
  return `Set-Cookie: ${LOGIN_COOKIE}=${value}; ${FLAGS}; Max-Age=${maxAgeS}`;
}

export const CLEAR_SESSION_LINE = `Set-Cookie: ${SESSION_COOKIE}=; ${FLAGS}; Max-Age=0`;
