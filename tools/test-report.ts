/**
 * Prints the report of a test run: a line for each file, the failures in full, skipped tests, totals, and a
 * summary of the failures.
 */
import process from 'node:process';
import { cpuSecondsOfChildren } from './child-usage.ts';
import { failuresInFull, failureSummary } from './failure-summary.ts';
import { PEER_VARIABLES } from './test-group-policy.ts';
import type { TestFileResult } from './test-process.ts';

const SLOWEST_SHOWN = 10;

export interface TestRunOutcome {
  readonly results: readonly TestFileResult[];
  /** The first results of files that failed beside others and then passed alone. */
  readonly disturbed: readonly TestFileResult[];
  /** The number of files that were selected. */
  readonly fileCount: number;
  readonly tookMs: number;
  /** Why the run ended early. */
  readonly stopped: string | undefined;
  /** The CPU seconds that the run may take; undefined for a part of a tier. */
  readonly cpuLimitSeconds: number | undefined;
}

export function lineOf(result: TestFileResult): string {
  const { file, passed, problem, tests, failures, skipped, durationMs, cpuSeconds } = result;
  const words = [
    passed ? 'ok    ' : 'FAILED',
    `${(durationMs / 1000).toFixed(1).padStart(6)} s`,
    cpuSeconds === undefined ? '' : `${cpuSeconds.toFixed(1).padStart(5)} s CPU `,
    file,
    ` ${tests} tests`,
  ];
  const failed = failures.length > 0 ? `, ${failures.length} failed` : '';
  const left = skipped.length > 0 ? `, ${skipped.length} skipped` : '';
  return `${words.join(' ')}${failed}${left}${problem === undefined ? '' : ` (${problem})`}\n`;
}

/** True when the run counts as passed. */
export function reportRun(run: TestRunOutcome): boolean {
  const { results, fileCount, stopped } = run;
  const isStrict = process.env['FRONTDOOR_TEST_STRICT'] === '1';
  const failed = results.filter((result) => !result.passed);
  for (const result of failed) {
    const problem = result.problem === undefined ? '' : `: ${result.problem}`;
    process.stdout.write(`\n--- ${result.file}${problem}\n${failuresInFull(result)}\n`);
  }
  const skips = results.flatMap(({ file, skipped }) => skipped.map((name) => `${file}: ${name}`));
  const missed = isStrict ? skips.filter((skip) => !PEER_VARIABLES.some((name) => skip.includes(name))) : [];
  for (const skip of skips) {
    process.stdout.write(`${missed.includes(skip) ? 'FAILED (skipped)' : 'skipped'} ${skip}\n`);
  }
  const tests = results.reduce((sum, result) => sum + result.tests, 0);
  const files =
    failed.length > 0 ? `${failed.length} of ${fileCount} files failed` : `${fileCount} files passed`;
  const cpu = cpuSecondsOfChildren();
  const took = `${(run.tookMs / 1000).toFixed(0)} s${cpu === undefined ? '' : `, ${cpu.toFixed(0)} s of CPU`}`;
  process.stdout.write(`${slowestOf(results)}\n${files}, ${tests} tests, ${skips.length} skipped, ${took}\n`);
  if (stopped !== undefined)
    process.stdout.write(`${stopped}: ${results.length} of ${fileCount} files ran\n`);
  for (const { file } of run.disturbed) process.stdout.write(`failed beside others, passed alone: ${file}\n`);
  process.stdout.write(failureSummary([...failed, ...run.disturbed]));
  const isTooMuch = isOverLimit(cpu, run.cpuLimitSeconds);
  return failed.length === 0 && stopped === undefined && missed.length === 0 && !(isTooMuch && isStrict);
}

function isOverLimit(cpu: number | undefined, limit: number | undefined): boolean {
  if (cpu === undefined || limit === undefined || cpu <= limit) return false;
  process.stdout.write(
    `the tier has grown: ${cpu.toFixed(0)} s of CPU, the limit is ${limit.toFixed(0)} s (tools/test-tier-table.ts)\n`,
  );
  return true;
}

/** A line for each of the files that took longest; nothing for a run of few files. */
function slowestOf(results: readonly TestFileResult[]): string {
  if (results.length <= SLOWEST_SHOWN) return '';
  const slowest = results.toSorted((a, b) => b.durationMs - a.durationMs).slice(0, SLOWEST_SHOWN);
  return `\nthe slowest files:\n${slowest.map((result) => lineOf(result)).join('')}`;
}
