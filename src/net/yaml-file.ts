/**
 * YAML files that an operator writes for a program of Frontdoor: read by one schema and by rules across fields, with all
 * problems at once, each with its place. The router's file follows OpenZiti's dialect and has a reader of its own.
 */
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, type Document } from 'yaml';
import { FILE_START, inFileOrder, messageOf, type FilePosition, type FileProblem } from '#base';

/** Keys and indexes from the root, as JSON pointers have them. */
export type YamlPath = readonly string[];
export type YamlRule = readonly [path: YamlPath, message: string];

/** What a compiled schema of TypeBox offers. */
interface CompiledShape<T> {
  Check(value: unknown): value is T;
  Errors(value: unknown): Iterable<ShapeError>;
}

interface ShapeError {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: object;
  readonly message: string;
}

export interface YamlFileKind<T> {
  readonly maxLength: number;
  readonly schema: CompiledShape<T>;
  /** Undefined: the schema's own words. `boolean` is the keyword of a key that the schema does not have. */
  readonly messageFor: (keyword: string, path: YamlPath) => string | undefined;
  /** What fields say together, of a value that the schema accepts. */
  readonly rules: (value: T) => readonly YamlRule[];
  /** What an empty file lacks. */
  readonly whenEmpty: string;
}

export type ParsedYamlFile<T> = { readonly value: T } | { readonly problems: readonly FileProblem[] };

const MAX_PROBLEMS = 100;
const MAX_ALIASES = 100;

export function parseYamlFile<T>(text: string, kind: YamlFileKind<T>): ParsedYamlFile<T> {
  if (text.length > kind.maxLength) return whole(`must be smaller than ${kind.maxLength} bytes`);
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
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    return whole(messageOf(error));
  }
  if (value === null) return whole(kind.whenEmpty);
  let found: readonly YamlRule[];
  if (kind.schema.Check(value)) {
    found = kind.rules(value);
    if (found.length === 0) return { value };
  } else found = schemaRules(value, kind);
  const problems = found.slice(0, MAX_PROBLEMS).map(([path, message]) => ({
    ...problemAt(positionOf(lines, offsetOf(document, path)), message),
    path: pathText(value, path),
    value: scalarAt(value, path),
  }));
  return { problems: inFileOrder(problems) };
}

/** One rule for each place: the first that it breaks. */
function schemaRules<T>(value: unknown, { schema, messageFor }: YamlFileKind<T>): readonly YamlRule[] {
  const found = new Map<string, YamlRule>();
  for (const { instancePath, keyword, params, message } of schema.Errors(value)) {
    // A stray key has a problem of its own; its object needs none.
    if (keyword === 'additionalProperties') continue;
    const path = instancePath.split('/').slice(1).map(unescapePointer);
    const missing =
      keyword === 'required' ? (params as { requiredProperties: string[] }).requiredProperties : [];
    for (const name of missing) found.set(JSON.stringify([...path, name]), [path, `must have ${name}`]);
    const key = JSON.stringify(path);
    if (missing.length === 0 && !found.has(key)) found.set(key, [path, messageFor(keyword, path) ?? message]);
  }
  return [...found.values()];
}

function whole(message: string): { readonly problems: readonly FileProblem[] } {
  return { problems: [problemAt(FILE_START, message)] };
}

function problemAt(at: FilePosition, message: string): FileProblem {
  return { severity: 'error', path: '', ...at, message };
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** `shares[2].target`. */
function pathText(value: unknown, path: YamlPath): string {
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
function scalarAt(value: unknown, path: YamlPath): unknown {
  const found = path.reduce(childOf, value);
  return typeof found === 'object' ? undefined : found;
}

function childOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[key];
}

/** Where the key stands, or the nearest node above it. */
function offsetOf(document: Document, path: YamlPath): number {
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
