/** One object as lines of names and values. Each entry of a list has a line; nested fields have dotted names. */
import { isJsonObject } from '#base';
import { cellText } from './cell-text.ts';

/** Deeper objects are printed as JSON. */
const MAX_DEPTH = 3;

export function recordText(record: object): string {
  const lines = linesOf(record, '', 1);
  const width = Math.max(0, ...lines.map(([name]) => name.length));
  return lines.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join('');
}

function linesOf(record: object, prefix: string, depth: number): (readonly [name: string, value: string])[] {
  return Object.entries(record).flatMap(([key, value]: [string, unknown]) => {
    const name = `${prefix}${key}`;
    if (Array.isArray(value) && value.length > 0)
      return value.map((each, index) => [index === 0 ? name : '', cellText(each)] as const);
    if (isJsonObject(value) && depth < MAX_DEPTH) return linesOf(value, `${name}.`, depth + 1);
    return [[name, cellText(value)] as const];
  });
}
