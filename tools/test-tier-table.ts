/**
 * The two tiers of the tests. `npm test` runs the quick one: every test of a part, the rules of the tree, the lines of the
 * requirement, and one journey of each kind through real processes. `npm run test:all` runs every file.
 */
import type { TestGroup } from './test-group-policy.ts';

/** Prefixes of paths. */
const QUICK_FOLDERS: readonly string[] = ['src/', 'tools/', 'test/arch/', 'test/conformance/'];

/** Files of other folders that belong to the quick tier, each with the journey that it walks. */
export const JOURNEYS: Readonly<Record<string, string>> = {
  'test/e2e/lifecycle.test.ts':
    'the demo from an empty data directory, its end by a signal and by SIGKILL, and its next start',
  'test/e2e/separate-parts.test.ts': 'a public share through parts that are processes of their own',
  'test/e2e/grant-revocation.test.ts': 'a private share, and its end',
  'test/e2e/oidc-login-browser.test.ts': 'a log-in in a real browser',
  'test/e2e/mesh-reroute.test.ts': 'circuits that move to another way when a link is lost',
  'test/chaos/hosts/host-simulation.test.ts':
    'agents that are lost and come back at random, in one process with a manual clock',
  'test/compat/c-sdk/c-sdk.test.ts': 'the C SDK of OpenZiti, which enrolls, dials and hosts',
};

/**
 * The CPU seconds that a tier may take before its run fails, on a machine of the reference speed, two cores of 2.5 GHz. The
 * quick tier took 298 there at rest and the others 552, but 645 and 1,259 on a host that was busy with other work, where the
 * measured speed of the machine makes up for a part alone. The limits let such a run pass, and notice a tier that costs twice
 * as much. Lower a limit with each step that makes its tier cheaper.
 */
export const CPU_LIMIT_SECONDS = { quick: 700, rest: 1_700 };

/**
 * Files and folders that take longest, the longest first: they begin first, so that none of them is left for the end of a
 * run. A run that knows the durations of an earlier one, which a clean checkout does not, uses those.
 */
export const LONGEST_FIRST: readonly string[] = [
  'test/e2e/control-failover.test.ts',
  'test/e2e/tproxy.test.ts',
  'test/console/',
  'test/battery/',
  'test/e2e/planned-stops.test.ts',
  'test/e2e/mesh-stops.test.ts',
  'test/e2e/mesh-faults.test.ts',
  'test/e2e/gateway-operations.test.ts',
  'test/e2e/edge-hostile.test.ts',
  'test/e2e/link-hostile.test.ts',
  'test/fuzz/',
  'test/chaos/',
  'test/e2e/',
  'test/conformance/',
];

/**
 * Files of 20 s and more that use less than a third of a core, because they wait for deadlines of real programs or for
 * commands of the system.
 */
export const MOSTLY_WAITING: readonly string[] = [
  'test/e2e/control-failover.test.ts',
  'test/e2e/tproxy.test.ts',
  'test/e2e/mesh-stops.test.ts',
  'test/e2e/mesh-faults.test.ts',
  'test/e2e/link-hostile.test.ts',
  'test/e2e/status.test.ts',
];

export function isQuick(file: string): boolean {
  return file in JOURNEYS || QUICK_FOLDERS.some((folder) => file.startsWith(folder));
}

export function mostlyWaits({ files }: TestGroup): boolean {
  return files.every((file) => MOSTLY_WAITING.includes(file));
}

/**
 * Sorts groups by the durations of an earlier run, longest first. Groups with a file that was not in that run
 * come before them, in the order of their folders.
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
