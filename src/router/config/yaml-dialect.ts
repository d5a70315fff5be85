/**
 * Parses YAML like OpenZiti's routers: scalars of YAML 1.1 without base 60 and dates, `0o` octals, the last of equal keys,
 * and merge keys. Reports one problem for a file that cannot be parsed, or that has a second document, which OpenZiti's
 * routers ignore. Size, depth and the number of values from aliases are bounded.
 */
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  Scalar,
  type Pair,
  type Node,
  type ScalarTag,
  type Tags,
  type YAMLMap,
} from 'yaml';
import { FILE_START, type FilePosition } from '#base/shapes';
import type { FileEntry, FileMap, FileNode, FileScalar } from './file-tree.ts';

/** Bytes of the file, including comments. */
export const MAX_FILE_BYTES = 16 * 1024 * 1024;
/** Characters without empty lines and comment lines. */
const MAX_CONTENT_LENGTH = 512 * 1024;
const MAX_DEPTH = 64;
/** Nesting depth of brackets. The parser recurses into each. */
const MAX_BRACKETS = 1_000;
/** Values that all aliases of a file can insert together. */
const MAX_ALIASED_VALUES = 100_000;
const MAX_DUPLICATES = 1_000;

/** Characters that YAML forbids: control characters other than tab and line ends, byte order marks, lone surrogates. */
const FORBIDDEN = /(?![\t\n\r\u0085])\p{Cc}|[\uFEFF\uFFFE\uFFFF]|\p{Cs}/u;

const INT_TAG = 'tag:yaml.org,2002:int';
/** OpenZiti reads a number beyond 64 bits as a float. */
const MAX_INTEGER = 2 ** 63;

export interface YamlFault extends FilePosition {
  readonly message: string;
}

/** A key that occurred before in its map, at the position of its second occurrence. */
export interface DuplicateKey extends FilePosition {
  readonly path: string;
}

export type ParsedYaml =
  | { readonly fault: YamlFault }
  | { readonly root: FileNode; readonly duplicates: readonly DuplicateKey[] };

/** Decodes UTF-8, or UTF-16 with a byte order mark. */
export function decodeText(bytes: Uint8Array): string | YamlFault {
  const [first, second] = bytes;
  const isWide = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  const encoding = !isWide ? 'utf-8' : first === 0xff ? 'utf-16le' : 'utf-16be';
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return { ...FILE_START, message: 'is not text in UTF-8' };
  }
}

/** Parses the only document of `text`. Applies `substitute` to every text value, but not to keys. */
export function parseYaml(text: string, substitute: (text: string) => string = (same) => same): ParsedYaml {
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const odd = FORBIDDEN.exec(source);
  if (odd !== null)
    return { fault: { ...positionAt(source, odd.index), message: 'holds control characters' } };
  if (contentLength(source) > MAX_CONTENT_LENGTH)
    return { fault: { ...FILE_START, message: `is longer than ${MAX_CONTENT_LENGTH} characters` } };
  const deepAt = deepBracket(source);
  if (deepAt !== undefined)
    return { fault: { ...positionAt(source, deepAt), message: 'is nested too deeply' } };
  try {
    return parseSource(source, substitute);
  } catch (error) {
    if (error instanceof YamlError) return { fault: { ...error.at, message: error.message } };
    throw error;
  }
}

function parseSource(source: string, substitute: (text: string) => string): ParsedYaml {
  const lines = new LineCounter();
  const document = parseDocument(source, {
    lineCounter: lines,
    uniqueKeys: false,
    version: '1.1',
    schema: 'yaml-1.1',
    resolveKnownTags: false,
    customTags: dialectTags,
    // With `silent`, further documents would be ignored.
    logLevel: 'error',
  });
  const [error] = document.errors;
  if (error !== undefined) {
    const message = error.message.split('\n')[0]!.replace(/ at line \d+, column \d+:?$/, '');
    const isSecond = error.code === 'MULTIPLE_DOCS';
    return {
      fault: {
        ...positionOf(lines, error.pos[0]),
        message: isSecond ? 'has a second document, which would have no effect' : `is no YAML: ${message}`,
      },
    };
  }
  const reader = new TreeReader(lines, substitute);
  const root = document.contents === null ? nothing(FILE_START) : reader.read(document.contents, '', 0).node;
  return { root, duplicates: reader.duplicates };
}

class YamlError extends Error {
  readonly at: FilePosition;

  constructor(at: FilePosition, message: string) {
    super(message);
    this.at = at;
  }
}

interface Sized {
  readonly node: FileNode;
  /** The number of values in it, including those of aliases. */
  readonly size: number;
}

class TreeReader {
  readonly duplicates: DuplicateKey[] = [];
  readonly #lines: LineCounter;
  readonly #substitute: (text: string) => string;
  /** `undefined` while the node is being read, because an alias to it would be endless. */
  readonly #anchors = new Map<string, Sized | undefined>();
  #aliased = 0;

  constructor(lines: LineCounter, substitute: (text: string) => string) {
    this.#lines = lines;
    this.#substitute = substitute;
  }

  read(node: Node | null | undefined, path: string, depth: number, above = FILE_START): Sized {
    if (node === null || node === undefined) return { node: nothing(above), size: 1 };
    const at = node.range ? positionOf(this.#lines, node.range[0]) : above;
    if (depth > MAX_DEPTH) throw new YamlError(at, 'is nested too deeply');
    if (isAlias(node)) return this.#follow(node.source, at);
    const anchor = isScalar(node) || isMap(node) || isSeq(node) ? node.anchor : undefined;
    if (anchor !== undefined) this.#anchors.set(anchor, undefined);
    const read = this.#readNode(node, path, depth, at);
    if (anchor !== undefined) this.#anchors.set(anchor, read);
    return read;
  }

  #readNode(node: Node, path: string, depth: number, at: FilePosition): Sized {
    if (isMap(node)) return this.#readMap(node, path, depth, at);
    if (isSeq(node)) {
      const items = node.items.map((item, i) => this.read(item as Node, `${path}[${i}]`, depth + 1, at));
      const size = items.reduce((sum, item) => sum + item.size, 1);
      return { node: { kind: 'list', items: items.map((item) => item.node), ...at }, size };
    }
    const scalar = scalarOf(node as Scalar, at);
    if (scalar.kind !== 'text') return { node: scalar, size: 1 };
    const written = scalar.value as string;
    const value = this.#substitute(written);
    return { node: value === written ? scalar : { ...scalar, value, written }, size: 1 };
  }

  #follow(name: string, at: FilePosition): Sized {
    if (!this.#anchors.has(name)) throw new YamlError(at, `the alias *${name} names no anchor above it`);
    const target = this.#anchors.get(name);
    if (target === undefined) throw new YamlError(at, `the anchor ${name} holds itself`);
    this.#aliased += target.size;
    if (this.#aliased > MAX_ALIASED_VALUES) throw new YamlError(at, 'aliases multiply it beyond measure');
    return target;
  }

  #readMap(map: YAMLMap, path: string, depth: number, at: FilePosition): Sized {
    const entries = new Map<string, FileEntry>();
    const merged: FileMap[] = [];
    let size = 1;
    for (const { key, value } of map.items as Pair<Node, Node | null>[]) {
      const keyAt = key?.range ? positionOf(this.#lines, key.range[0]) : at;
      if (isMergeKey(key)) {
        const read = this.read(value, path, depth + 1, keyAt);
        size += read.size;
        merged.push(...mergeSources(read.node, keyAt));
        continue;
      }
      const name = this.#nameOf(key, keyAt);
      const inner = path === '' ? name : `${path}.${name}`;
      if (entries.has(name) && this.duplicates.length < MAX_DUPLICATES)
        this.duplicates.push({ path: inner, ...keyAt });
      const read = this.read(value, inner, depth + 1, keyAt);
      size += read.size;
      entries.set(name, { ...keyAt, node: read.node });
    }
    for (const source of merged)
      for (const [name, entry] of source.entries) if (!entries.has(name)) entries.set(name, entry);
    return { node: { kind: 'map', entries, ...at }, size };
  }

  #nameOf(key: Node | null, at: FilePosition): string {
    const node = isAlias(key) ? this.#follow(key.source, at).node : undefined;
    if (node !== undefined && node.kind !== 'list' && node.kind !== 'map') return String(node.value);
    if (key === null) return 'null';
    if (!isScalar(key)) throw new YamlError(at, 'a key must be a plain name');
    return key.source ?? String(key.value);
  }
}

function mergeSources(node: FileNode, at: FilePosition): FileMap[] {
  const sources = node.kind === 'list' ? node.items : [node];
  return sources.map((source) => {
    if (source.kind !== 'map') throw new YamlError(at, 'what << takes in must be a map');
    return source;
  });
}

function isMergeKey(key: Node | null): boolean {
  return isScalar(key) && key.value === '<<' && key.type === Scalar.PLAIN;
}

function scalarOf(node: Scalar, at: FilePosition): FileScalar {
  const { value } = node;
  if (value === null) return nothing(at);
  if (typeof value === 'boolean') return { kind: 'flag', value, ...at };
  if (typeof value === 'number') {
    const isInteger = node.tag === INT_TAG || (node as { isInteger?: boolean }).isInteger === true;
    return { kind: isInteger && Math.abs(value) <= MAX_INTEGER ? 'integer' : 'float', value, ...at };
  }
  return { kind: 'text', value: typeof value === 'string' ? value : (node.source ?? ''), ...at };
}

function nothing(at: FilePosition): FileScalar {
  return { kind: 'null', value: null, ...at };
}

/** Converts scalars of the dialect. Dates, binary data and the like remain text. */
function dialectTags(tags: Tags): Tags {
  const kept = tags.filter(
    (tag) => typeof tag !== 'string' && /:(?:map|seq|str|null|bool|float)$/.test(tag.tag),
  );
  return [...kept.slice(0, 6), ...INTEGER_TAGS, NO_OCTAL, ...kept.slice(6)];
}

/**
 * Matches a leading 0 followed by digits of which one is 8 or 9. OpenZiti reads such a number as a float, not as octal.
 */
const NO_OCTAL: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  test: /^[-+]?0[0-9]*[89][0-9]*$/,
  resolve: Number,
};

const INTEGER_TAGS: readonly ScalarTag[] = (
  [
    [/^[-+]?0b[01_]+$/, 2, 2],
    [/^[-+]?0o[0-7_]+$/, 8, 2],
    [/^[-+]?0[0-7_]+$/, 8, 1],
    [/^[-+]?0x[0-9a-fA-F_]+$/, 16, 2],
    [/^[-+]?(?:0|[1-9][0-9_]*)$/, 10, 0],
  ] as const
).map(([test, radix, offset]) => ({
  tag: INT_TAG,
  default: true,
  test,
  resolve: (text) => {
    const sign = text.startsWith('-') ? -1 : 1;
    const digits = text.replace(/^[-+]/, '').slice(offset).replaceAll('_', '');
    const node = new Scalar(sign * Number.parseInt(digits, radix));
    return Object.assign(node, { isInteger: true });
  },
}));

function deepBracket(source: string): number | undefined {
  let depth = 0;
  for (const { 0: bracket, index } of source.matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1;
    if (depth > MAX_BRACKETS) return index;
  }
  return undefined;
}

function contentLength(source: string): number {
  let length = source.length;
  for (const [comment] of source.matchAll(/^[ \t]*(?:#.*)?\r?\n/gm)) length -= comment.length;
  return length;
}

function positionAt(text: string, index: number): FilePosition {
  const lines = text.slice(0, index).split('\n');
  return { line: lines.length, column: lines.at(-1)!.length + 1 };
}

function positionOf(lines: LineCounter, offset: number): FilePosition {
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
}
