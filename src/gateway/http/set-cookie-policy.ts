/**
 * The cookies that an origin may set: never the gateway's own, and none for a name beyond its share, because a
 * cookie for the zone would reach every other share. Browsers parse `Domain` leniently (a leading dot, escapes,
 * other scripts), so only the share's exact name passes; any other attribute is removed, which restricts the
 * cookie to the host.
 */
import { OTHER } from './field-name-table.ts';
import type { FieldLines } from './head-decoder.ts';

const SET_COOKIE = 'set-cookie';
/** Also matches the value of a cookie without a name, which some browsers send as if it were a name. */
const OWN_COOKIE = /^[\s=]*__host-frontdoor-/i;
const DOMAIN = /domain/i;
const OF_HOST = /^\s*__host-/i;
const PATH = /^(\s*path\s*=\s*)(\/.*?)\s*$/is;

export interface LineChanges {
  /** Indices of lines that are removed. */
  readonly omitted: readonly number[];
  /** Lines that replace them, each with its line end. */
  readonly lines: string;
}

export const NO_COOKIE_CHANGES: LineChanges = { omitted: [], lines: '' };

/** Rewrites the value of a cookie's `Path`. */
export type CookiePath = (path: string) => string;

/** `host` is the share's requested host in canonical form. */
export function cookieChanges(fields: FieldLines, host: string, pathOf?: CookiePath): LineChanges {
  let hasChanges = false;
  for (let i = 0; i < fields.count && !hasChanges; i += 1)
    hasChanges =
      isSetCookie(fields, i) && (pathOf !== undefined || isOwn(fields, i) || DOMAIN.test(fields.value(i)));
  if (!hasChanges) return NO_COOKIE_CHANGES;
  const omitted: number[] = [];
  let lines = '';
  // All lines are written again, because of two cookies with one name the later line counts.
  for (let i = 0; i < fields.count; i += 1) {
    if (!isSetCookie(fields, i)) continue;
    omitted.push(i);
    if (!isOwn(fields, i)) lines += `${fields.name(i)}: ${cookieOf(fields.value(i), host, pathOf)}\r\n`;
  }
  return { omitted, lines };
}

function isSetCookie(fields: FieldLines, index: number): boolean {
  if (fields.code[index] !== OTHER) return false;
  if (fields.nameEnd[index]! - fields.lineStart[index]! !== SET_COOKIE.length) return false;
  return fields.name(index).toLowerCase() === SET_COOKIE;
}

function isOwn(fields: FieldLines, index: number): boolean {
  return OWN_COOKIE.test(fields.value(index));
}

/** The first piece is the cookie itself. */
function cookieOf(value: string, host: string, pathOf: CookiePath | undefined): string {
  const [cookie = '', ...attributes] = value.split(';');
  const kept = attributes.filter((piece) => !isForeignDomain(piece, host));
  // Browsers accept such a cookie for the path `/` alone.
  const isOfHost = OF_HOST.test(cookie);
  const written = pathOf === undefined || isOfHost ? kept : kept.map((piece) => withPath(piece, pathOf));
  return [cookie, ...written].join(';');
}

/** A path that does not begin with a slash counts as absent (RFC 6265 §5.2.4). */
function withPath(piece: string, pathOf: CookiePath): string {
  const [, begin, path] = PATH.exec(piece) ?? [];
  return begin === undefined ? piece : begin + pathOf(path!);
}

function isForeignDomain(piece: string, host: string): boolean {
  const equals = piece.indexOf('=');
  const name = equals === -1 ? piece : piece.slice(0, equals);
  if (name.trim().toLowerCase() !== 'domain') return false;
  return (
    equals === -1 ||
    piece
      .slice(equals + 1)
      .trim()
      .replace(/^\./, '')
      .toLowerCase() !== host
  );
}
