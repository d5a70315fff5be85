/**
 * Repeats the files of a tier that failed, each with nothing beside it, so that a busy machine alone does not fail a run:
 * the tests of a tier share the cores with each other, with databases and with browsers.
 */
import type { TestFileResult } from './test-process.ts';

/** With more failed files than this, none of them runs a second time. */
export const MAX_REPEATED_FILES = 3;

/**
 * Runs each failed file of `results` again, and puts the second result instead of the first if the file passed.
 * Returns the first results of those files.
 */
export async function repeatFailed(
  results: TestFileResult[],
  runAlone: (first: TestFileResult) => Promise<TestFileResult | undefined>,
  signal: AbortSignal,
): Promise<TestFileResult[]> {
  const failed = results.filter((result) => !result.passed);
  if (failed.length > MAX_REPEATED_FILES) return [];
  const disturbed: TestFileResult[] = [];
  for (const first of failed) {
    if (signal.aborted) break;
    const second = await runAlone(first);
    if (second?.passed !== true) continue;
    results[results.indexOf(first)] = second;
    disturbed.push(first);
  }
  return disturbed;
}
