/**
 * Which part of a file's tests belongs to a tier. Most files belong to one tier. A file of the quick tier is divided when
 * its tests run on both databases, or draw many random cases: the quick tier then runs them on the embedded database with
 * few cases, the other tier on PostgreSQL with all cases (`test/support/test-part.ts`).
 */
import { isLong, isQuick } from './test-tier-table.ts';

export type TestTier = 'quick' | 'rest' | 'long' | 'all';
/** `whole` runs everything that the file has. */
export type TestPart = 'quick' | 'rest' | 'whole';

/** What a divided file calls. */
const DIVIDED = /\b(?:describeEach(?:Store|Database)|effort)\(/;

/**
 * Files and folders that own tables, locks or what differs between the databases: the quick tier has all of their tests,
 * on both databases.
 */
export const WHOLE_IN_QUICK: readonly string[] = [
  'src/control/store/',
  'src/control/audit/audit-chain.test.ts',
  'src/control/shares/metrics/metric-store.test.ts',
  'src/control/overlay/terminators/dialed-terminators.test.ts',
  'src/control/ziti/management-api/password-lockout.test.ts',
  'src/control/shares/operations/idempotency-keys.test.ts',
];

/** The part of the file that a tier has; undefined for none. `text` is the file's text. */
export function partOfTier(tier: TestTier, file: string, text: string): TestPart | undefined {
  if (tier === 'all') return 'whole';
  if (isLong(file) || tier === 'long') return isLong(file) && tier === 'long' ? 'whole' : undefined;
  if (!isQuick(file)) return tier === 'rest' ? 'whole' : undefined;
  if (DIVIDED.test(text) && !WHOLE_IN_QUICK.some((path) => file.startsWith(path))) return tier;
  return tier === 'quick' ? 'whole' : undefined;
}

/** Environment variables that have a process run only that part. */
export function partEnvironment(part: TestPart): Readonly<Record<string, string>> {
  return part === 'whole' ? {} : { FRONTDOOR_TEST_PART: part };
}
