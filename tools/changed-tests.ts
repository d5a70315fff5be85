/**
 * `npm test -- --changed`: the test files that reach what changed since the branch left `main`, by the graph of imports, the
 * nearest first. A door of a part leads each importer only to the files of the names that it takes from there. Types count,
 * because a change of a type may change what a test means.
 */
import { execFileSync } from 'node:child_process';
import { repositoryRoot } from './pinned-process.ts';
import { sourceFiles, targetOf, type SourceFile } from './source-tree.ts';

const FOLDERS = ['src', 'bin', 'test', 'tools', 'examples'];
const IS_TEST = /\.test\.ts$/;
const DOOR = /(?:^|\/)mod\.ts$/;
/** An import or export with names in braces, of which groups are the names and the specifier. */
const NAMED = /^(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s*from\s*'([^'\n]+)'/gm;

export interface ReachingTest {
  readonly file: string;
  /** The number of imports between it and what changed: 0 for a test file that changed itself. */
  readonly distance: number;
}

/** Paths that differ from the merge base with `main`, or with its upstream branch: committed, in the work tree, or new. */
export function changedFiles(): string[] {
  const base = mergeBase();
  const lines = [git('diff', '--name-only', base), git('ls-files', '--others', '--exclude-standard')];
  return [...new Set(lines.join('\n').split('\n').filter(Boolean))].sort();
}

/** On `main` itself this is where the upstream branch and it parted, elsewhere where the branch left `main`. */
function mergeBase(): string {
  const branch = git('rev-parse', '--abbrev-ref', 'HEAD');
  const candidates = branch === 'main' ? ['main@{upstream}'] : ['main', 'origin/main', 'HEAD@{upstream}'];
  for (const name of candidates) {
    try {
      return git('merge-base', 'HEAD', name);
    } catch {
      // There is no such branch.
    }
  }
  return 'HEAD';
}

function git(...args: readonly string[]): string {
  const stdio = ['ignore', 'pipe', 'ignore'] as const;
  return execFileSync('git', args, { cwd: repositoryRoot, encoding: 'utf8', stdio: [...stdio] }).trim();
}

/** The test files that reach one of `changed`, nearest first. Files without imports, such as documents, reach none. */
export function testsReaching(
  changed: readonly string[],
  files: readonly SourceFile[] = sourceFiles(...FOLDERS),
): ReachingTest[] {
  const { importers, importersOfDoors } = importersOf(files);
  const distances = new Map(changed.map((file) => [file, 0]));
  const queue = [...changed];
  for (const file of queue) {
    const ofDoor = distances.get(file) === 0 ? (importersOfDoors.get(file) ?? []) : [];
    for (const importer of [...(importers.get(file) ?? []), ...ofDoor]) {
      if (distances.has(importer)) continue;
      distances.set(importer, distances.get(file)! + 1);
      queue.push(importer);
    }
  }
  const there = new Set(files.map(({ path }) => path));
  return [...distances]
    .filter(([file]) => IS_TEST.test(file) && there.has(file))
    .map(([file, distance]) => ({ file, distance }))
    .toSorted((a, b) => a.distance - b.distance || (a.file < b.file ? -1 : 1));
}

type Importers = ReadonlyMap<string, ReadonlySet<string>>;

interface ImportGraph {
  /** Which files import each file. A door that a file takes names from is left out in favour of where they come from. */
  readonly importers: Importers;
  /** Which files take names from a door: they matter when the door itself has changed. */
  readonly importersOfDoors: Importers;
}

function importersOf(files: readonly SourceFile[]): ImportGraph {
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  const importers = new Map<string, Set<string>>();
  const importersOfDoors = new Map<string, Set<string>>();
  const doors = new Map<string, ReadonlyMap<string, string>>();
  const doorOf = (path: string): ReadonlyMap<string, string> => {
    let names = doors.get(path);
    if (names === undefined) doors.set(path, (names = namesOfDoor(path, texts.get(path) ?? '')));
    return names;
  };
  const resolveName = (path: string, name: string): string => {
    if (!DOOR.test(path)) return path;
    const next = doorOf(path).get(name);
    return next === undefined || next === path ? path : resolveName(next, name);
  };
  for (const { path, text, imports } of files) {
    const named = DOOR.test(path) ? new Map<string, readonly string[]>() : namedImports(text);
    for (const { specifier } of imports) {
      const target = targetOf(path, specifier);
      if (target === undefined) continue;
      const names = DOOR.test(target) ? named.get(specifier) : undefined;
      if (names === undefined) {
        addTo(importers, target, path);
        continue;
      }
      addTo(importersOfDoors, target, path);
      for (const name of names) addTo(importers, resolveName(target, name), path);
    }
  }
  return { importers, importersOfDoors };
}

function addTo(importers: Map<string, Set<string>>, target: string, importer: string): void {
  const those = importers.get(target) ?? new Set();
  importers.set(target, those.add(importer));
}

/** The names that a text imports in braces, by specifier. */
function namedImports(text: string): Map<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const [, names = '', specifier = ''] of text.matchAll(NAMED))
    found.set(specifier, [...(found.get(specifier) ?? []), ...namesIn(names).map(([name]) => name)]);
  return found;
}

/** The file that each name of a door comes from. */
function namesOfDoor(path: string, text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [, names = '', specifier = ''] of text.matchAll(NAMED)) {
    const target = targetOf(path, specifier);
    if (target !== undefined) for (const [, shown] of namesIn(names)) found.set(shown, target);
  }
  return found;
}

/** `a, type b as c` → [a, a], [b, c]. */
function namesIn(list: string): (readonly [name: string, shown: string])[] {
  return list
    .split(',')
    .map((entry) => entry.trim().replace(/^type\s+/, ''))
    .filter(Boolean)
    .map((entry) => entry.split(/\s+as\s+/))
    .map(([name = '', shown = name]) => [name, shown]);
}
