/** A value of a response as text for people, and nested fields by dotted name. */
import { printable } from '#base/terminal';

const NONE = '-';

/** Returns one line. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined || value === '') return NONE;
  if (typeof value === 'string') return printable(value);
  if (Array.isArray(value)) return value.length === 0 ? NONE : value.map(cellText).join(', ');
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'object') return NONE;
  const { kind, id } = value as { kind?: unknown; id?: unknown };
  // Actors and targets of audit events.
  if (typeof kind === 'string' && (typeof id === 'string' || id === null))
    return cellText(id === null ? kind : `${kind} ${id}`);
  return printable(JSON.stringify(value));
}

export function fieldOf(entry: unknown, path: string): unknown {
  let value = entry;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** Converts `createdAt` to `CREATED AT`. */
export function headingOf(path: string): string {
  return path.replaceAll('.', ' ').replaceAll(/[A-Z]/g, ' $&').toUpperCase();
}

/** Returns the number of terminal columns that a text takes. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += WIDE.test(character) ? 2 : ZERO.test(character) ? 0 : 1;
  return width;
}

const WIDE =
  /[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{1F300}-\u{1FAFF}\u{20000}-\u{3FFFD}]/u;
const ZERO = /\p{Mn}|\u200D|\uFE0F/u;
