/**
 * The three tiers of the tests. `npm test` runs the quick one: the tests of the parts, the rules of the tree, the lines of the
 * requirement, and a journey through a whole product. `.ci/run` runs the rest after it, except the long ones: the nightly
 * workflow has those. `npm run test:all` runs every file.
 */
import type { TestGroup } from './test-group-policy.ts';

/** Prefixes of paths. */
const QUICK_FOLDERS: readonly string[] = ['src/', 'tools/', 'test/arch/', 'test/conformance/'];

/** Files of other folders that belong to the quick tier, each with the journey that it walks. */
export const JOURNEYS: Readonly<Record<string, string>> = {
  'test/e2e/grant-revocation.test.ts': 'a private share, and its end',
};

/** Files of the quick folders that belong to the other tier, each with what makes it expensive. */
export const EXPENSIVE: Readonly<Record<string, string>> = {
  'src/cli/doctor/doctor.test.ts': 'opens parts of a product for each fault',
  'src/control/backup/backup.test.ts': 'opens four control planes for each database',
  'src/control/console/app/build-watch.test.ts': 'builds the console',
  'src/control/console/app/console-build.test.ts': 'builds the console',
  'src/control/console/open-tabs.test.ts': 'opens 200 streams in a process of its own',
  'src/control/shares/logins/egress-refusal.test.ts':
    'tries each spelling of an inner address in each setting',
  'src/control/shares/operations/backup-operation.test.ts': 'backs up a database of many megabytes',
  'src/control/shares/operations/database-faults.test.ts': 'starts servers of its own',
  'src/gateway/acme/dns/rfc2136.test.ts': 'starts a name server',
  'src/gateway/circuits/host-away.test.ts':
    'has dials wait for hosts that come back, by timers of real length',
  'src/gateway/circuits/standby-circuits.test.ts':
    'has dials wait for control planes that do not answer, by timers of real length',
  'src/router/profile/profile.test.ts': 'writes heap snapshots',
  'test/conformance/agent-command.test.ts': 'runs programs',
  'test/conformance/authorization-matrix.test.ts': 'calls every operation with every credential over TLS',
  'test/conformance/command-line.test.ts': 'runs programs',
  'test/conformance/memory-channel.test.ts': 'opens a whole product',
  'test/conformance/router-check-command.test.ts': 'runs programs',
  'test/conformance/router-configuration-process.test.ts': 'starts a router for each setting',
  'test/conformance/secrets-at-gateways.test.ts': 'opens a product and a gateway apart from it',
  'test/conformance/secrets-at-rest.test.ts': 'opens a control plane, and reads all that it stored',
  'test/conformance/trusted-issuer.test.ts': 'opens a control plane for each row',
};

/**
 * Files that take minutes of CPU to find what a change rarely breaks: random input, load, figures, and all of what others try in
 * part. A test of the quick tier or the rest has the same behaviour with less of it.
 */
export const LONG: Readonly<Record<string, string>> = {
  'test/battery/load-rows.test.ts': 'puts load on a product for each row',
  'test/console/every-control.test.ts': 'presses every control of every page',
  'test/console/every-page-looks.test.ts': 'examines every page with axe, light and dark',
  'test/console/every-page-refusals.test.ts': 'has the calls of every page refused in each way',
  'test/console/large-installation.test.ts': 'fills a product with 10,000 shares',
  'test/console/many-tabs.test.ts': 'opens 30 tabs of a browser',
  'test/console/refused-changes.test.ts': 'has every change refused in each way',
  'test/console/roles.test.ts': 'visits every page in each role',
  'test/e2e/frame-lengths.test.ts': 'sends frames of every length to each listener',
  'test/e2e/frame-mutations.test.ts': 'sends thousands of changed frames',
  'test/e2e/installations.test.ts': 'packs and installs the product in each way',
  'test/fuzz/api-fuzz.test.ts': 'sends random requests to every operation',
};

/**
 * The CPU seconds that a tier may take before its run fails, on a machine of the reference speed, two cores of 2.5 GHz. They
 * leave a third above what a tier takes there, for runs beside other work: a tier that costs half as much again is noticed.
 * Lower a limit with each step that makes its tier cheaper.
 */
export const CPU_LIMIT_SECONDS = { quick: 600, rest: 1_700, long: 800 };

/**
 * Files of 20 s and more that use less than a third of a core, because they wait for deadlines of real programs or for
 * commands of the system. Tests with a browser are not among them: its processes compute, and the runner does not count that.
 */
export const MOSTLY_WAITING: readonly string[] = [
  'src/gateway/circuits/host-away.test.ts',
  'test/e2e/access-sessions.test.ts',
  'test/e2e/automatic-certificates.test.ts',
  'test/e2e/channel-states.test.ts',
  'test/e2e/control-failover.test.ts',
  'test/e2e/edge-hostile.test.ts',
  'test/e2e/edge-token-sessions.test.ts',
  'test/e2e/frame-lengths.test.ts',
  'test/e2e/gateway-clients.test.ts',
  'test/e2e/link-hostile.test.ts',
  'test/e2e/mesh-faults.test.ts',
  'test/e2e/mesh-replicas.test.ts',
  'test/e2e/mesh-stops.test.ts',
  'test/e2e/metrics.test.ts',
  'test/e2e/networks.test.ts',
  'test/e2e/planned-stops.test.ts',
  'test/e2e/standby-circuits.test.ts',
  'test/e2e/status.test.ts',
  'test/e2e/tproxy.test.ts',
  'test/e2e/tunnel-command.test.ts',
];

export function isQuick(file: string): boolean {
  if (file in EXPENSIVE) return false;
  return file in JOURNEYS || QUICK_FOLDERS.some((folder) => file.startsWith(folder));
}

export function isLong(file: string): boolean {
  return file in LONG;
}

export function mostlyWaits({ files }: TestGroup): boolean {
  return files.every((file) => MOSTLY_WAITING.includes(file));
}

/** What a file takes of which nothing is known. */
export const USUAL_MS = 300;

/** Sorts groups by the durations of their files, longest first, so that none of those is left for the end of a run. */
export function longestFirst(
  groups: readonly TestGroup[],
  durationsMs: ReadonlyMap<string, number>,
): TestGroup[] {
  const durationOf = ({ files }: TestGroup): number =>
    files.reduce((sum, file) => sum + (durationsMs.get(file) ?? USUAL_MS), 0);
  return groups.toSorted((a, b) => durationOf(b) - durationOf(a) || (a.files[0]! < b.files[0]! ? -1 : 1));
}
