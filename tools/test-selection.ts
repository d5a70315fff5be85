/** Which test files a run has, and which part of each. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { changedFiles, testsReaching, type ReachingTest } from './changed-tests.ts';
import { repositoryRoot } from './pinned-process.ts';
import { partOfTier, type TestPart, type TestTier } from './test-part-policy.ts';
import { isQuick, USUAL_MS } from './test-tier-table.ts';

const TEST_GLOBS = ['src/**/*.test.ts', 'test/**/*.test.ts', 'tools/**/*.test.ts'];
/** What the files of a run with `--changed` take, one after the other: about 15 s on two cores. */
const CHANGED_BUDGET_MS = 45_000;

export interface SelectedFile {
  readonly file: string;
  readonly part: TestPart;
}

export interface TestSelection {
  readonly files: readonly SelectedFile[];
  /** Lines about what the run leaves out. */
  readonly notes: readonly string[];
}

/** Test files, relative to the repository; each pattern is a part of a path. */
export function testFiles(patterns: readonly string[]): string[] {
  return globSync(TEST_GLOBS, { cwd: repositoryRoot })
    .filter((file) => patterns.length === 0 || patterns.some((pattern) => file.includes(pattern)))
    .sort();
}

export const textOf = (file: string): string => readFileSync(join(repositoryRoot, file), 'utf8');

/** The files of a tier; with patterns and the quick tier, whole files of any tier. */
export function selectTier(tier: TestTier, patterns: readonly string[]): TestSelection {
  const asked: TestTier = tier === 'quick' && patterns.length > 0 ? 'all' : tier;
  const files = testFiles(patterns).flatMap((file) => {
    const part = partOfTier(asked, file, textOf(file));
    return part === undefined ? [] : [{ file, part }];
  });
  return { files, notes: [] };
}

/** The files that reach what changed: those of the quick tier that fit a short run, or, with tier `all`, every one. */
export function selectChanged(
  tier: TestTier,
  patterns: readonly string[],
  durationsMs: ReadonlyMap<string, number>,
): TestSelection {
  const changed = changedFiles();
  const known = new Set(testFiles(patterns));
  const reaching = testsReaching(changed).filter(({ file }) => known.has(file));
  if (tier === 'all') return { files: reaching.map(({ file }) => ({ file, part: 'whole' })), notes: [] };
  const { near, far } = fitting(reaching, durationsMs);
  const files = near.map((file) => ({ file, part: partOfTier('quick', file, textOf(file)) ?? 'whole' }));
  const left =
    far === 0 ? [] : [`${far} test files that reach it from further away are left out: npm test runs them`];
  return { files, notes: [`${changed.length} files have changed`, ...left] };
}

/** Changed test files belong to every such run, and others in the order of their distance until its time is over. */
export function fitting(
  reaching: readonly ReachingTest[],
  durationsMs: ReadonlyMap<string, number>,
): { readonly near: readonly string[]; readonly far: number } {
  const candidates = reaching.filter(({ file, distance }) => distance === 0 || isQuick(file));
  const near: string[] = [];
  let leftMs = CHANGED_BUDGET_MS;
  for (const { file, distance } of candidates) {
    const takesMs = durationsMs.get(file) ?? USUAL_MS;
    if (distance > 0 && takesMs > leftMs) continue;
    leftMs -= takesMs;
    near.push(file);
  }
  return { near, far: candidates.length - near.length };
}
