/** Values of a TOML file with their lines. Lines are found by a scan, since the parser has none: a key inside a value has that of the value. */
import { parse, TomlError } from 'smol-toml';
import { FILE_START, type FileProblem, type ValuePath } from '#base/shapes';
import type { LocatedValues } from '#net/yaml-file';

const HEADER = /^\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$/;
const KEY = /^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=/;
const KEY_PART = /[\w-]+|"[^"]*"|'[^']*'/g;

export function readToml(text: string): LocatedValues | { readonly problems: readonly FileProblem[] } {
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const { line, column } = error;
    // The message quotes lines of the file, which may have secrets.
    const message = 'is no TOML here: correct the line, or give --from';
    return { problems: [{ severity: 'error', path: '', line, column, message }] };
  }
  const lines = linesOf(text);
  const positionOf = (path: ValuePath): LocatedLine => {
    for (let length = path.length; length > 0; length -= 1) {
      const line = lines.get(path.slice(0, length).join('\0'));
      if (line !== undefined) return { line, column: 1 };
    }
    return FILE_START;
  };
  return { value, positionOf };
}

type LocatedLine = ReturnType<LocatedValues['positionOf']>;

function linesOf(text: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  const counts = new Map<string, number>();
  let table: readonly string[] = [];
  for (const [at, line] of text.split('\n').entries()) {
    const [, brackets, name = ''] = HEADER.exec(line) ?? [];
    if (brackets !== undefined) {
      table = placeOf(partsOf(name), counts, brackets === '[[');
      addPath(found, table, at + 1);
      continue;
    }
    const key = KEY.exec(line)?.[1];
    if (key !== undefined) addPath(found, [...table, ...partsOf(key)], at + 1);
  }
  return found;
}

/** The path of a header. A list that it goes through means its last entry. */
function placeOf(parts: readonly string[], counts: Map<string, number>, isEntry: boolean): readonly string[] {
  const path: string[] = [];
  for (const [at, part] of parts.entries()) {
    path.push(part);
    const list = path.join('\0');
    const isLast = at === parts.length - 1;
    if (isLast && isEntry) counts.set(list, (counts.get(list) ?? -1) + 1);
    const count = counts.get(list);
    if (count !== undefined) path.push(String(count));
  }
  return path;
}

/** The first line of a path counts, for each table that it begins as well. */
function addPath(found: Map<string, number>, path: readonly string[], line: number): void {
  for (let length = 1; length <= path.length; length += 1) {
    const key = path.slice(0, length).join('\0');
    if (!found.has(key)) found.set(key, line);
  }
}

function partsOf(name: string): readonly string[] {
  return [...name.matchAll(KEY_PART)].map(([part]) => part.replace(/^["']|["']$/g, ''));
}
