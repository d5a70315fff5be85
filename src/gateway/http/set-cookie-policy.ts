/**
 * What an origin may set as cookies: never the gateway's own, and none for a name beyond its share. A cookie for the zone
 * would reach every other share below it. Browsers read `Domain` leniently (a leading dot, escapes, other scripts), so
 * that only the share's own name, byte for byte, is let through; any other attribute is cut off, and the cookie is the
 * host's alone.
 */
import { OTHER } from './field-name-table.ts';
import type { FieldLines } from './head-decoder.ts';

const SET_COOKIE = 'set-cookie';
/** Also as the value of a cookie without a name, which some browsers send as if it were one. */
const OWN_COOKIE = /^[\s=]*__host-frontdoor-/i;
const DOMAIN = /domain/i;

export interface CookieChanges {
  /** Indices of lines that end here. */
  readonly omitted: readonly number[];
  /** Lines in place of them, each with its line end. */
  readonly lines: string;
}

export const NO_COOKIE_CHANGES: CookieChanges = { omitted: [], lines: '' };

/** `host`: canonical, of the share as it was asked for. */
export function cookieChanges(fields: FieldLines, host: string): CookieChanges {
  let hasChanges = false;
  for (let i = 0; i < fields.count && !hasChanges; i += 1)
    hasChanges = isSetCookie(fields, i) && (isOwn(fields, i) || DOMAIN.test(fields.value(i)));
  if (!hasChanges) return NO_COOKIE_CHANGES;
  const omitted: number[] = [];
  let lines = '';
  // All of them are written anew: of two cookies with one name, the later line counts.
  for (let i = 0; i < fields.count; i += 1) {
    if (!isSetCookie(fields, i)) continue;
    omitted.push(i);
    if (!isOwn(fields, i)) lines += `${fields.name(i)}: ${withoutForeignDomain(fields.value(i), host)}\r\n`;
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
function withoutForeignDomain(value: string, host: string): string {
  return value
    .split(';')
    .filter((piece, at) => at === 0 || !isForeignDomain(piece, host))
    .join(';');
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
