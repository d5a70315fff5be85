/** Finds header lines by a name that has no code in `field-name-table.ts`. */
import type { FieldLines } from './head-decoder.ts';

export const OTHER_NAME = 0;
export const SAME_NAME = 1;
/** The name, with `_` for `-` or the reverse. */
export const DISGUISED_NAME = 2;

/** Compares the characters of `text` from `start` with a name in lower case of the same length. */
export function compareName(text: string, start: number, name: string): number {
  let result = SAME_NAME;
  for (let i = 0; i < name.length; i += 1) {
    const wanted = name.charCodeAt(i);
    const code = text.charCodeAt(start + i);
    if (code === wanted || (code >= 65 && code <= 90 && code + 32 === wanted)) continue;
    if ((code === 95 && wanted === 45) || (code === 45 && wanted === 95)) result = DISGUISED_NAME;
    else return OTHER_NAME;
  }
  return result;
}

/** Returns the first value, or ''. For headers that only browsers themselves set. */
export function headerValue(fields: FieldLines, name: string): string {
  const at = firstOf(fields, name);
  return at < 0 ? '' : fields.value(at);
}

export function hasHeader(fields: FieldLines, name: string): boolean {
  return firstOf(fields, name) >= 0;
}

function firstOf(fields: FieldLines, name: string): number {
  for (let i = 0; i < fields.count; i += 1) {
    const start = fields.lineStart[i]!;
    if (fields.nameEnd[i]! - start !== name.length) continue;
    if (compareName(fields.text, start, name) === SAME_NAME) return i;
  }
  return -1;
}
