/**
 * The two tiers of the tests. `npm test` runs the quick one: every test of a part, the rules of the tree, the lines of the
 * requirement, and one journey of each kind through real processes. `npm run test:all` runs every file.
 */
import type { TestGroup } from './test-group-policy.ts';

/** Beginnings of paths. */
const QUICK_FOLDERS: readonly string[] = ['src/', 'tools/', 'test/arch/', 'test/conformance/'];

/** Files of other folders that belong to the quick tier, each with the journey that it walks. */
export const JOURNEYS: Readonly<Record<string, string>> = {
  'test/e2e/lifecycle.test.ts':
    'the demo from an empty data directory, its end by a signal and by SIGKILL, and its next start',
  'test/e2e/separate-parts.test.ts': 'a public share through parts that are processes of their own',
  'test/e2e/grant-revocation.test.ts': 'a private share, and its end',
  'test/e2e/login-browser.test.ts': 'a log-in in a real browser',
  'test/e2e/mesh-faults.test.ts': 'circuits that move to another way when a link is lost',
  'test/compat/c-sdk/c-sdk.test.ts': 'the C SDK of OpenZiti, which enrolls, dials and hosts',
};

/**
 * The CPU seconds that a tier may take: what two cores of 2.5 GHz have in four minutes for `npm test`, and in the other six
 * of `npm run test:all`. A tier that reaches its limit gives up a test to another tier, or becomes cheaper.
 */
export const CPU_LIMIT_SECONDS = { quick: 480, rest: 720 };

/** Folders whose files take longest: they begin first, so that none of them is left for the end of a run. */
const LONGEST_FIRST: readonly string[] = [
  'test/battery/',
  'test/fuzz/',
  'test/chaos/',
  'test/e2e/',
  'test/conformance/',
];

export function isQuick(file: string): boolean {
  return file in JOURNEYS || QUICK_FOLDERS.some((folder) => file.startsWith(folder));
}

/**
 * Sorts by the durations of an earlier run, longest first; groups with a file that it did not have go by their folder,
 * and first.
 */
export function longestFirst(
  groups: readonly TestGroup[],
  durationsMs: ReadonlyMap<string, number>,
): TestGroup[] {
  const rankOf = ({ files }: TestGroup): number => {
    const rank = LONGEST_FIRST.findIndex((folder) => files[0]!.startsWith(folder));
    return rank < 0 ? LONGEST_FIRST.length : rank;
  };
  const durationOf = ({ files }: TestGroup): number => {
    const known = files.map((file) => durationsMs.get(file) ?? Number.MAX_SAFE_INTEGER);
    return Math.min(
      Number.MAX_SAFE_INTEGER,
      known.reduce((sum, ms) => sum + ms, 0),
    );
  };
  return groups.toSorted(
    (a, b) => durationOf(b) - durationOf(a) || rankOf(a) - rankOf(b) || (a.files[0]! < b.files[0]! ? -1 : 1),
  );
}
