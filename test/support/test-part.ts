/**
 * The part of a file's tests that this process runs. Files with tests on both databases or with many random cases are
 * divided between the tiers (`tools/test-part-policy.ts`): the quick tier has the embedded database and a tenth of the
 * cases, the other tier PostgreSQL and all cases. A file that is run by its name runs whole.
 */
import process from 'node:process';
import { describe } from 'node:test';
import { postgresSkip } from './postgres.ts';

const QUICK_SHARE = 10;

export type TestDatabase = 'embedded' | 'PostgreSQL';

const part = process.env['FRONTDOOR_TEST_PART'];

/** How many random cases to try: `runs` of them, or a share of those in the quick tier. */
export function effort(runs: number): number {
  return part === 'quick' ? Math.ceil(runs / QUICK_SHARE) : runs;
}

/** Runs `body` once for each database. */
export function describeEachDatabase(name: string, body: (database: TestDatabase) => void): void {
  if (part !== 'rest') describe(`${name} (embedded)`, () => body('embedded'));
  if (part !== 'quick') describe(`${name} (PostgreSQL)`, { skip: postgresSkip }, () => body('PostgreSQL'));
}
