/**
 * `frontdoor dev test`: the test files of src/, test/ and tools/, each in a process of its own on the pinned Node: those
 * of the quick tier, with --all every one, with --rest those that the quick tier leaves out. One line a file, failures in full at the end, and again in short as the very last lines. With
 * FRONTDOOR_TEST_STRICT=1 a skipped test is a failure, but for tests against peers that no package brings.
 */
import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { failuresOf, failureSummary } from './failure-summary.ts';
import { repositoryRoot } from './pinned-process.ts';
import { runTestFile, type TestFileResult } from './test-file-process.ts';
import { loadDurations, saveDurations } from './test-durations.ts';
import { startTestServers } from './test-servers.ts';
import { isQuick, longestFirst } from './test-tier-table.ts';

const FILE_SILENCE_MS = 240_000;
const WHOLE_TIMEOUT_MS = 1_620_000;
const TEST_GLOBS = ['src/**/*.test.ts', 'test/**/*.test.ts', 'tools/**/*.test.ts'];

/** Test files, relative to the repository; each pattern is a part of a path. */
export function testFiles(patterns: readonly string[]): string[] {
  return globSync(TEST_GLOBS, { cwd: repositoryRoot })
    .filter((file) => patterns.length === 0 || patterns.some((pattern) => file.includes(pattern)))
    .sort();
}

/** The exit status: 0 all passed, 1 a failure, 2 wrong arguments, 130 interrupted. */
export async function runTests(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      name: { type: 'string', multiple: true, default: [] },
      spec: { type: 'boolean', default: false },
      all: { type: 'boolean', default: false },
      rest: { type: 'boolean', default: false },
      jobs: { type: 'string', default: String(Math.max(2, availableParallelism())) },
    },
  });
  const isOfRun = (file: string): boolean => {
    if (values.rest) return !isQuick(file);
    return values.all || positionals.length > 0 || isQuick(file);
  };
  const files = testFiles(positionals).filter(isOfRun);
  if (files.length === 0) {
    process.stderr.write(`test: no test file matches ${positionals.join(', ') || TEST_GLOBS.join(', ')}\n`);
    return 2;
  }
  const nodeArgs = values.name.map((text) => `--test-name-pattern=${text}`);
  const stop = new AbortController();
  let stopped: string | undefined;
  const interrupt = (why: string): void => {
    stopped ??= why;
    stop.abort();
  };
  process.once('SIGINT', () => interrupt('interrupted'));
  process.once('SIGTERM', () => interrupt('interrupted'));
  const deadline = setTimeout(() => interrupt('took too long'), WHOLE_TIMEOUT_MS);
  const startedMs = performance.now();
  const servers = await startTestServers();
  const results: TestFileResult[] = [];
  const queue = longestFirst(files, loadDurations());
  const worker = async (): Promise<void> => {
    for (let file = queue.shift(); file !== undefined && !stop.signal.aborted; file = queue.shift()) {
      const result = await runTestFile(file, {
        silenceMs: FILE_SILENCE_MS,
        nodeArgs,
        environment: servers.environment,
        signal: stop.signal,
      });
      results.push(result);
      process.stdout.write(lineOf(result));
      if (values.spec) process.stdout.write(result.report);
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Number(values.jobs) || 1) }, worker));
  await servers.stop();
  if (nodeArgs.length === 0)
    saveDurations(new Map(results.map(({ file, durationMs }) => [file, durationMs])));
  clearTimeout(deadline);
  const good = report(results, files.length, performance.now() - startedMs, stopped);
  return stopped === 'interrupted' ? 130 : good ? 0 : 1;
}

const SLOWEST_SHOWN = 10;

/** A line for each of the files that took longest; nothing for a run of few files. */
function slowestOf(results: readonly TestFileResult[]): string {
  if (results.length <= SLOWEST_SHOWN) return '';
  const slowest = results.toSorted((a, b) => b.durationMs - a.durationMs).slice(0, SLOWEST_SHOWN);
  return `\nthe slowest files:\n${slowest.map((result) => lineOf(result)).join('')}`;
}

/** The CPU seconds of the test processes and of the processes that they waited for; undefined off Linux. */
function cpuSecondsOfChildren(): number | undefined {
  const TICKS_PER_SECOND = 100;
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    // After the name, which may hold anything: the fields 16 and 17 of proc(5) are the 14th and 15th from the state on.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
  } catch {
    return undefined;
  }
}

function lineOf({ file, passed, problem, counts, durationMs }: TestFileResult): string {
  const verdict = passed ? 'ok    ' : 'FAILED';
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
  const seconds = (durationMs / 1000).toFixed(1).padStart(6);
  const failed = counts.failed > 0 ? `, ${counts.failed} failed` : '';
  return `${verdict} ${seconds} s  ${file}  ${counts.tests} tests${failed}${skipped}${problem ? ` (${problem})` : ''}\n`;
}

/** In the reason of a skip: the peer's binary is somebody else's to bring. */
const PEER_ONLY = 'ZITI_BIN';

/** Prints failures, skips and totals; true when the run counts as passed. */
function report(
  results: readonly TestFileResult[],
  fileCount: number,
  tookMs: number,
  stopped?: string,
): boolean {
  const strict = process.env['FRONTDOOR_TEST_STRICT'] === '1';
  const failed = results.filter((result) => !result.passed);
  for (const { file, report: text, problem } of failed) {
    process.stdout.write(
      `\n--- ${file}${problem === undefined ? '' : `: ${problem}`}\n${failuresOf(text)}\n`,
    );
  }
  const skips = results.flatMap(({ file, skipped }) => skipped.map((name) => `${file}: ${name}`));
  const missed = strict ? skips.filter((skip) => !skip.includes(PEER_ONLY)) : [];
  for (const skip of skips) {
    process.stdout.write(`${missed.includes(skip) ? 'FAILED (skipped)' : 'skipped'} ${skip}\n`);
  }
  const tests = results.reduce((sum, { counts }) => sum + counts.tests, 0);
  const files =
    failed.length > 0 ? `${failed.length} of ${fileCount} files failed` : `${fileCount} files passed`;
  const cpu = cpuSecondsOfChildren();
  const took = `${(tookMs / 1000).toFixed(0)} s${cpu === undefined ? '' : `, ${cpu.toFixed(0)} s of CPU`}`;
  process.stdout.write(`${slowestOf(results)}\n${files}, ${tests} tests, ${skips.length} skipped, ${took}\n`);
  if (stopped !== undefined)
    process.stdout.write(`${stopped}: ${results.length} of ${fileCount} files ran\n`);
  process.stdout.write(failureSummary(failed));
  return failed.length === 0 && stopped === undefined && missed.length === 0;
}
