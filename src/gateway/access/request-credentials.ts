/**
 * Finds and removes credentials in a request: a header by name, a query parameter, `Authorization`. Their
 * validity is checked elsewhere. A repeated credential is reported as such, and none of the values is chosen.
 */
import { AUTHORIZATION } from '../http/field-name-table.ts';
import type { FieldLines } from '../http/head-decoder.ts';
import { compareName, OTHER_NAME, SAME_NAME } from '../http/header-name.ts';

export const NOT_THERE = -1;
export const DOUBLED = -2;

/**
 * Returns the index of the only header line with this name (lower case). A spelling with `_` is another name to
 * the gateway, but the same to some origins: beside the right one it counts as a second value, alone as none.
 */
export function findField(fields: FieldLines, name: string): number {
  let found = NOT_THERE;
  let isDisguised = false;
  for (let i = 0; i < fields.count; i += 1) {
    const start = fields.lineStart[i]!;
    if (fields.nameEnd[i]! - start !== name.length) continue;
    const sameness = compareName(fields.text, start, name);
    if (sameness === OTHER_NAME) continue;
    if (found !== NOT_THERE || isDisguised) return DOUBLED;
    if (sameness === SAME_NAME) found = i;
    else isDisguised = true;
  }
  return found;
}

export function findAuthorization(fields: FieldLines): number {
  let found = NOT_THERE;
  for (let i = 0; i < fields.count; i += 1) {
    if (fields.code[i] !== AUTHORIZATION) continue;
    if (found !== NOT_THERE) return DOUBLED;
    found = i;
  }
  return found;
}

export interface ExtractedParameter {
  /** The decoded value. */
  readonly value: string;
  /** The target without the parameter; everything else is unchanged. */
  readonly rest: string;
}

/** Names are compared after decoding, as origins do. */
export function findParameter(target: string, name: string): ExtractedParameter | typeof DOUBLED | undefined {
  const question = target.indexOf('?');
  if (question === -1) return undefined;
  let value: string | undefined;
  let rest = '';
  let isFirst = true;
  for (let start = question + 1; start <= target.length;) {
    const ampersand = target.indexOf('&', start);
    const end = ampersand === -1 ? target.length : ampersand;
    const piece = target.slice(start, end);
    start = end + 1;
    const equals = piece.indexOf('=');
    if (decodeQueryText(equals === -1 ? piece : piece.slice(0, equals)) === name) {
      if (value !== undefined) return DOUBLED;
      value = equals === -1 ? '' : decodeQueryText(piece.slice(equals + 1));
      continue;
    }
    rest += isFirst ? piece : `&${piece}`;
    isFirst = false;
  }
  if (value === undefined) return undefined;
  return { value, rest: isFirst ? target.slice(0, question) : `${target.slice(0, question)}?${rest}` };
}

/** Decodes as forms are encoded. Invalid escapes stay unchanged. */
export function decodeQueryText(text: string): string {
  if (!/[%+]/.test(text)) return text;
  const spaced = text.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}

/** Returns a copy that does not retain the whole head in memory. */
export function ownCopy(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString('latin1');
}
