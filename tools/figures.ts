/**
 * `frontdoor dev check figures`: one table of the sizes of the tree, each with its goal or limit. It fails when a limit is exceeded.
 */
import { parameterObjects } from './parameter-objects.ts';
import { GOALS, LARGER_CONTEXTS, LIMITS } from './limit-table.ts';
import {
  castsOf,
  doorNames,
  functionLengths,
  linesOf,
  moduleVariables,
  parsedJsonCasts,
  sharedNames,
} from './source-measures.ts';
import { isTest, partOf, sourceFiles, targetOf, type SourceFile } from './source-tree.ts';

export interface TreeFigure {
  readonly about: string;
  readonly value: number;
  /** The file or the name that has the value. */
  readonly at?: string | undefined;
  /** The value is to be no greater. */
  readonly goal?: number | undefined;
  /** The value must be no greater. */
  readonly limit?: number | undefined;
}

/** Files of fewer lines belong into the file that uses them, if it is one. */
const SMALL_LINES = 12;

function sum(files: readonly SourceFile[], count: (text: string) => number): number {
  return files.reduce((total, { text }) => total + count(text), 0);
}

/** The largest count of a file, and its path. */
function most(
  files: readonly SourceFile[],
  count: (text: string) => number,
): Pick<TreeFigure, 'value' | 'at'> {
  const counted = files.map(({ path, text }) => ({ value: count(text), at: path }));
  return counted.reduce((largest, each) => (each.value > largest.value ? each : largest), {
    value: 0,
    at: '',
  });
}

/** Files of product code below `SMALL_LINES` that one other file imports, which is no door. */
function smallFiles(files: readonly SourceFile[]): string[] {
  const users = new Map<string, Set<string>>();
  for (const { path, imports } of files) {
    for (const { specifier } of imports) {
      const target = targetOf(path, specifier);
      if (target !== undefined) users.set(target, (users.get(target) ?? new Set()).add(path));
    }
  }
  return files
    .filter(({ path, text }) => !path.endsWith('/mod.ts') && linesOf(text) < SMALL_LINES)
    .map(({ path }) => path)
    .filter((path) => users.get(path)?.size === 1 && ![...users.get(path)!][0]!.endsWith('/mod.ts'));
}

export function figuresOf(): TreeFigure[] {
  const all = sourceFiles('src', 'bin', 'test', 'tools');
  const product = all.filter(({ path }) => /^(?:src|bin)\//.test(path) && !isTest(path));
  const source = product.filter(({ path }) => path.startsWith('src/'));
  const parts = Map.groupBy(source, ({ path }) => partOf(path));
  const lines = (files: readonly SourceFile[]): number => sum(files, linesOf);
  const doors = source.filter(({ path }) => path.endsWith('/mod.ts'));
  const longest = most(product, (text) => Math.max(0, ...functionLengths(text)));
  const isLong = (length: number): boolean => length > LIMITS.functionLines;
  const long = sum(product, (text) => functionLengths(text).filter(isLong).length);
  const widest = parameterObjects()
    .filter(({ name }) => !LARGER_CONTEXTS.has(name))
    .reduce((wide, each) => (each.fields > wide.fields ? each : wide));
  return [
    { about: 'lines of src, hand-written, without tests', value: lines(source), goal: GOALS.source },
    ...[...parts].map(([part, files]) => ({
      about: `  of src/${part}`,
      value: lines(files),
      goal: part === 'control' ? GOALS.control : undefined,
    })),
    { about: 'largest file', ...most(product, linesOf), limit: LIMITS.fileLines },
    // Lint holds the limit, and names the files that it does not hold to it.
    { about: `functions above ${LIMITS.functionLines} lines`, value: long, goal: 0 },
    { about: 'longest function', ...longest, goal: LIMITS.functionLines },
    { about: 'names of the largest door', ...most(doors, doorNames), limit: LIMITS.doorNames },
    {
      about: 'fields of the widest context',
      value: widest.fields,
      at: widest.name,
      limit: LIMITS.contextFields,
    },
    { about: 'variables of modules', value: sum(product, (text) => moduleVariables(text).length), limit: 0 },
    { about: 'types exported by two files', value: sharedNames(all).length, limit: 0 },
    { about: `files under ${SMALL_LINES} lines with one user`, value: smallFiles(product).length, goal: 0 },
    { about: 'casts of parsed JSON', value: sum(product, (text) => parsedJsonCasts(text).length) },
    { about: 'casts', value: sum(product, castsOf) },
  ];
}

export function figureLine({ about, value, at = '', goal, limit }: TreeFigure): string {
  const bound = limit !== undefined ? `limit ${text(limit)}` : goal !== undefined ? `goal ${text(goal)}` : '';
  return `${about.padEnd(44)} ${text(value).padStart(8)}  ${bound.padEnd(14)} ${at}`.trimEnd();
}

export function exceeds({ value, limit }: TreeFigure): boolean {
  return limit !== undefined && value > limit;
}

function text(value: number): string {
  return value.toLocaleString('en');
}

if (import.meta.main) {
  const figures = figuresOf();
  for (const figure of figures) process.stdout.write(`${figureLine(figure)}\n`);
  for (const figure of figures.filter(exceeds))
    process.stderr.write(`figures: a limit is exceeded: ${figureLine(figure)}\n`);
  process.exitCode = figures.some(exceeds) ? 1 : 0;
}
