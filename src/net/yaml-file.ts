/**
 * YAML files that an operator writes for a program of Frontdoor: read by one schema and by rules across fields, with all
 * problems at once, each with its place. The router's file follows OpenZiti's dialect and has a reader of its own.
 */
import type { TSchema } from 'typebox';
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, stringify, type Document } from 'yaml';
import { messageOf } from '#base';
import {
  compileReader,
  FILE_START,
  inFileOrder,
  type FilePosition,
  type FileProblem,
  type ShapeOf,
  schemaProblems,
  type PlacedProblem,
  type ValuePath,
} from '#base/shapes';
import { resolveNamedTexts, type NamedTextSource } from './named-texts.ts';

export type { NamedTextSource };

export interface YamlFileKind<S extends TSchema> {
  readonly maxLength: number;
  readonly schema: S;
  /** What fields say together, of a value that the schema accepts. */
  readonly rules: (value: ShapeOf<S>) => readonly PlacedProblem[];
  /** Where texts come from that the file names by reference; undefined: it names none. */
  readonly texts?: NamedTextSource | undefined;
  /** What an empty file lacks. */
  readonly whenEmpty: string;
}

export type ParsedYamlFile<T> = { readonly value: T } | { readonly problems: readonly FileProblem[] };

const MAX_PROBLEMS = 100;
const MAX_ALIASES = 100;

export function parseYamlFile<S extends TSchema>(
  text: string,
  kind: YamlFileKind<S>,
): ParsedYamlFile<ShapeOf<S>> {
  const located = readYaml(text, kind.maxLength);
  if ('problems' in located) return located;
  const { value } = located;
  if (value === null) return whole(kind.whenEmpty);
  const named = kind.texts === undefined ? { value, problems: [] } : resolveNamedTexts(value, kind.texts);
  const read = compileReader(kind.schema)(named.value);
  const others =
    'value' in read ? kind.rules(read.value) : schemaProblems(kind.schema, named.value, MAX_PROBLEMS);
  const found = named.problems.length > 0 ? named.problems : others;
  if ('value' in read && found.length === 0) return { value: read.value };
  const problems = found.slice(0, MAX_PROBLEMS).map(([path, message]) => fileProblem(located, path, message));
  return { problems: inFileOrder(problems) };
}

/** A problem with its place, and with the value that is there. */
export function fileProblem(
  { value, positionOf: placeOf }: LocatedValues,
  path: ValuePath,
  message: string,
): FileProblem {
  return {
    ...problemAt(placeOf(path), message),
    path: pathText(value, path),
    value: scalarAt(value, path),
  };
}

/** The values of a file, with their places. */
export interface LocatedValues {
  readonly value: unknown;
  readonly positionOf: (path: ValuePath) => FilePosition;
}

/** Reads YAML, and JSON as well, without a schema: for files of other programs. */
export function readYaml(
  text: string,
  maxLength: number,
): LocatedValues | { readonly problems: readonly FileProblem[] } {
  if (text.length > maxLength) return whole(`must be smaller than ${maxLength} bytes`);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true });
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    const problems = faults
      .slice(0, MAX_PROBLEMS)
      .map(({ message, code, pos }) =>
        problemAt(
          positionOf(lines, pos[0]),
          message.split('\n', 1)[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? code,
        ),
      );
    return { problems };
  }
  try {
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    return { value, positionOf: (path) => positionOf(lines, offsetOf(document, path)) };
  } catch (error) {
    return whole(messageOf(error));
  }
}

/** Writes a value as YAML in block style. Lines of a text stay as they are. */
export function yamlText(value: unknown): string {
  return stringify(value, { lineWidth: 0, blockQuote: 'literal', aliasDuplicateObjects: false });
}

/** Returns the file with other values at some paths of maps, and with its comments. Throws for a text that is no YAML map. */
export function changedYaml(
  text: string,
  changes: readonly (readonly [path: ValuePath, value: unknown])[],
): string {
  const document = parseDocument(text);
  for (const [path, value] of changes) {
    const [section] = path;
    // A section whose lines are all comments has no value.
    if (section !== undefined && document.has(section) && document.get(section) === null)
      document.set(section, document.createNode({}));
    document.setIn(path, value);
  }
  return document.toString({ lineWidth: 0 });
}

function whole(message: string): { readonly problems: readonly FileProblem[] } {
  return { problems: [problemAt(FILE_START, message)] };
}

function problemAt(at: FilePosition, message: string): FileProblem {
  return { severity: 'error', path: '', ...at, message };
}

/** `shares[2].target`. */
function pathText(value: unknown, path: ValuePath): string {
  let at = value;
  let text = '';
  for (const part of path) {
    if (Array.isArray(at)) text += `[${part}]`;
    else text += text === '' ? part : `.${part}`;
    at = childOf(at, part);
  }
  return text;
}

/** Undefined for what is missing or holds more than one value. */
function scalarAt(value: unknown, path: ValuePath): unknown {
  const found = path.reduce(childOf, value);
  return typeof found === 'object' ? undefined : found;
}

function childOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[key];
}

/** Where the key stands, or the nearest node above it. */
function offsetOf(document: Document, path: ValuePath): number {
  let node: unknown = document.contents;
  let offset = isNode(node) ? (node.range?.[0] ?? 0) : 0;
  for (const part of path) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === part);
      if (pair === undefined) break;
      if (isScalar(pair.key)) offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(part)];
      if (isNode(node)) offset = node.range?.[0] ?? offset;
    } else break;
  }
  return offset;
}

function positionOf(lines: LineCounter, offset: number): FilePosition {
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
}
