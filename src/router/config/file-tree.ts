/**
 * The content of a file before it is checked: values with their positions. Integers and floats are distinct, as in
 * OpenZiti, which treats `1.0` and `1` differently.
 */
import { FILE_START, type FilePosition } from '#base/shapes';

export interface FileScalar extends FilePosition {
  readonly kind: 'null' | 'text' | 'integer' | 'float' | 'flag';
  /** The text after substitution of variables. */
  readonly value: string | number | boolean | null;
  /** The text before substitution; absent when it has no variables. */
  readonly written?: string;
}

export interface FileList extends FilePosition {
  readonly kind: 'list';
  readonly items: readonly FileNode[];
}

/** An entry has the position of its key. Its value can begin on a later line. */
export interface FileEntry extends FilePosition {
  readonly node: FileNode;
}

export interface FileMap extends FilePosition {
  readonly kind: 'map';
  readonly entries: ReadonlyMap<string, FileEntry>;
}

export type FileNode = FileScalar | FileList | FileMap;

export function emptyMap({ line, column }: FilePosition = FILE_START): FileMap {
  return { kind: 'map', entries: new Map(), line, column };
}

/** Returns the value as written, with the names of its variables. */
export function plainValue(node: FileNode): unknown {
  if (node.kind === 'list') return node.items.map(plainValue);
  if (node.kind === 'map')
    return Object.fromEntries([...node.entries].map(([key, entry]) => [key, plainValue(entry.node)]));
  if (typeof node.value === 'number' && !Number.isFinite(node.value)) return String(node.value);
  return node.written ?? node.value;
}

export interface FilePlace extends FilePosition {
  readonly node: FileNode | undefined;
}

/**
 * Returns the node at a path such as `listeners[0].options`. If there is none, returns the position of the nearest
 * enclosing node. Keys are those of the schema, which contain no dots or brackets.
 */
export function placeAt(root: FileNode, path: string): FilePlace {
  let place: FilePlace = { ...FILE_START, node: root };
  for (const step of path.split(/[.[\]]+/)) {
    if (step === '') continue;
    const { node } = place;
    if (node?.kind === 'list') {
      const item = node.items[Number(step)];
      if (item === undefined) return { ...place, node: undefined };
      place = { line: item.line, column: item.column, node: item };
    } else {
      const entry = node?.kind === 'map' ? entryOf(node, step) : undefined;
      if (entry === undefined) return { ...place, node: undefined };
      place = entry;
    }
  }
  return place;
}

/** Keys of certificate subjects are case-insensitive, so the search falls back to that. */
function entryOf({ entries }: FileMap, name: string): FileEntry | undefined {
  const exact = entries.get(name);
  if (exact !== undefined) return exact;
  for (const [key, entry] of entries) if (key.toLowerCase() === name.toLowerCase()) return entry;
  return undefined;
}
