/**
 * The header names with a meaning to the gateway, and the character classes of heads. Names are compared in
 * canonical form: lower case, with `_` read as `-`, because origins (CGI, WSGI) fold them so. Plain tables and
 * number codes, without allocation per look-up, because this runs for every line of every head.
 */

import { CLIENT_ADDRESS_HEADERS, MISLEADING_HEADERS, RESERVED_HEADER_PREFIXES } from '#domain/upstream';

/** The meaning of a header to the gateway. `OTHER` headers are forwarded unchanged. */
export const OTHER = 0;
export const HOST = 1;
export const CONTENT_LENGTH = 2;
export const TRANSFER_ENCODING = 3;
export const CONNECTION = 4;
export const UPGRADE = 5;
export const EXPECT = 6;
/** Hop-by-hop: not forwarded. */
export const HOP = 7;
export const KEEP_ALIVE = 8;
/** Only a proxy may set it. A client's value is never forwarded to an origin. */
export const RESERVED = 9;
export const ACCEPT = 10;
/** A framing or hop-by-hop name written with `_`: refused. */
export const DISGUISED = 11;
/** May contain a credential; otherwise forwarded unchanged. */
export const COOKIE = 12;
export const AUTHORIZATION = 13;
export const TRACE_PARENT = 14;
/** The gateway writes them again, for what it passes on. */
export const TE = 15;
export const TRAILER = 16;

const NAMES: readonly (readonly [string, number])[] = [
  ['host', HOST],
  ['content-length', CONTENT_LENGTH],
  ['transfer-encoding', TRANSFER_ENCODING],
  ['connection', CONNECTION],
  ['upgrade', UPGRADE],
  ['expect', EXPECT],
  ['accept', ACCEPT],
  ['keep-alive', KEEP_ALIVE],
  ['proxy-connection', HOP],
  ['proxy-authenticate', HOP],
  ['proxy-authorization', HOP],
  ['te', TE],
  ['trailer', TRAILER],
  ['http2-settings', HOP],
  ['forwarded', RESERVED],
  // Services take them for the address of the client.
  ...CLIENT_ADDRESS_HEADERS.map((name) => [name, RESERVED] as const),
  // Servers take it for the address of a proxy for their own requests (httpoxy), or for another path than the gateway judged.
  ...MISLEADING_HEADERS.map((name) => [name, RESERVED] as const),
  ['cookie', COOKIE],
  ['authorization', AUTHORIZATION],
  ['traceparent', TRACE_PARENT],
];

const BY_LENGTH: readonly (readonly (readonly [string, number])[])[] = Array.from(
  { length: Math.max(...NAMES.map(([name]) => name.length)) + 1 },
  (_, length) => NAMES.filter(([name]) => name.length === length),
);

function flags(allowed: (code: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => (allowed(code) ? 1 : 0));
}

function isAlphanumeric(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}

const TOKEN_MARKS = "!#$%&'*+-.^_`|~";

/** RFC 9110 §5.6.2 token characters. */
export const IS_TOKEN = flags(
  (code) => isAlphanumeric(code) || TOKEN_MARKS.includes(String.fromCharCode(code)),
);

/** RFC 9110 §5.5: visible characters, space, tab and obs-text. */
export const IS_VALUE = flags((code) => code === 9 || (code >= 32 && code !== 127));

/** Characters of a request target: visible ASCII without `#`. */
export const IS_TARGET = flags((code) => code > 32 && code < 127 && code !== 35);

/** Lower case, with `_` as `-`. */
const FOLD = Uint8Array.from({ length: 256 }, (_, code) => {
  if (code >= 65 && code <= 90) return code + 32;
  return code === 95 ? 45 : code;
});

function matches(text: string, start: number, name: string): boolean {
  for (let i = 0; i < name.length; i += 1) {
    if (FOLD[text.charCodeAt(start + i) & 0xff] !== name.charCodeAt(i)) return false;
  }
  return true;
}

/** Returns the code of the name in `text` from `start` to `end`. */
export function fieldCode(text: string, start: number, end: number): number {
  const length = end - start;
  if (length < BY_LENGTH.length) {
    const candidates = BY_LENGTH[length]!;
    for (let i = 0; i < candidates.length; i += 1) {
      const [name, code] = candidates[i]!;
      if (!matches(text, start, name)) continue;
      const disguised = code !== RESERVED && name.includes('-') && text.slice(start, end).includes('_');
      return disguised ? DISGUISED : code;
    }
  }
  const first = FOLD[text.charCodeAt(start) & 0xff];
  if (first === 120 || first === 122 || first === 102) {
    for (let i = 0; i < RESERVED_HEADER_PREFIXES.length; i += 1) {
      const prefix = RESERVED_HEADER_PREFIXES[i]!;
      if (length > prefix.length && matches(text, start, prefix)) return RESERVED;
    }
  }
  return OTHER;
}
