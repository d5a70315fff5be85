/**
 * `frontdoor dev test`: test files of src/, test/ and tools/ on the pinned Node: those of the quick tier, with --all every
 * one, with --rest what the quick tier leaves out except the long files, with --long those, with --changed those that reach what changed. Each has a process of its
 * own or shares one (`test-group-policy.ts`). With FRONTDOOR_TEST_STRICT=1 two more things fail the run: a skipped test,
 * except a test against a program that no package provides, and a tier that uses more CPU seconds than its limit.
 *
 * When few files of a tier fail, each of them runs once more, with nothing beside it. A file that passes then was
 * disturbed by the load of the tier: the report names it and prints its first failure, and the run passes.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { sampleSlowness } from './machine-speed.ts';
import { loadDurations, loadDurationTable, saveDurations, writeDurationTable } from './test-durations.ts';
import { TestFolder } from './test-folder.ts';
import { groupFiles, type TestGroup } from './test-group-policy.ts';
import { partEnvironment, type TestPart, type TestTier } from './test-part-policy.ts';
import { runTestProcess, type TestFileResult } from './test-process.ts';
import { failureSummary } from './failure-summary.ts';
import { lineOf, reportRun } from './test-report.ts';
import { repeatFailed } from './test-repetition.ts';
import { startTestServers } from './test-servers.ts';
import { bundleForTests } from './test-program.ts';
import { TestQueue } from './test-queue.ts';
import { selectChanged, selectTier, testFiles, textOf, type TestSelection } from './test-selection.ts';
import { CPU_LIMIT_SECONDS } from './test-tier-table.ts';

const SILENCE_MS = 240_000;
const WHOLE_TIMEOUT_MS = 1_620_000;
/** Many tests wait for processes, deadlines and databases, so that one process for each core leaves cores idle. */
const JOBS_PER_CORE = 2;
/** Processes beyond those, for files that mostly wait. */
const WAITING_JOBS_PER_CORE = 1;
const PARTS: readonly TestPart[] = ['whole', 'quick', 'rest'];

interface TestRunOptions {
  readonly name: readonly string[];
  readonly spec: boolean;
  readonly all: boolean;
  readonly rest: boolean;
  readonly long: boolean;
  readonly changed: boolean;
  readonly 'keep-durations': boolean;
  readonly jobs?: string | undefined;
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
      long: { type: 'boolean', default: false },
      changed: { type: 'boolean', default: false },
      'keep-durations': { type: 'boolean', default: false },
      jobs: { type: 'string' },
    },
  });
  if ([values.changed, values.rest, values.long].filter(Boolean).length > 1) {
    process.stderr.write(
      'test: --changed, --rest and --long exclude each other; --changed --all runs all tiers\n',
    );
    return 2;
  }
  const tier = tierOf(values);
  const selection = values.changed
    ? selectChanged(tier, positionals, loadDurationTable())
    : selectTier(tier, positionals);
  for (const note of selection.notes) process.stdout.write(`test: ${note}\n`);
  if (selection.files.length === 0) {
    const missing = values.changed
      ? 'reaches what changed'
      : `matches ${positionals.join(', ') || 'the tier'}`;
    process.stderr.write(`test: no test file ${missing}\n`);
    return values.changed ? 0 : 2;
  }
  const isWhole = positionals.length + values.name.length === 0 && !values.changed;
  return runSelection(selection, values, isWhole);
}

/** `isWhole`: the run has a whole tier. */
async function runSelection(
  { files }: TestSelection,
  values: TestRunOptions,
  isWhole: boolean,
): Promise<number> {
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
  const endSampling = isWhole ? sampleSlowness() : () => 1;
  const folder = new TestFolder();
  const [servers, program] = await Promise.all([
    startTestServers(folder.path),
    // Only the other tier starts programs so often that this pays.
    isWhole && tierOf(values) !== 'quick' ? bundleForTests() : {},
  ]);
  const results: TestFileResult[] = [];
  const partOf = new Map(files.map(({ file, part }) => [file, part]));
  // A file is a test of its own in a shared process, and its name is not the pattern's.
  const groups: TestGroup[] =
    nodeArgs.length > 0
      ? files.map(({ file }) => ({ files: [file], isShared: false }))
      : PARTS.flatMap((part) =>
          groupFiles(
            files.filter((one) => one.part === part).map(({ file }) => file),
            textOf,
          ),
        );
  const queue = new TestQueue(groups, loadDurations());
  const run = async ({ files: those, isShared }: TestGroup): Promise<TestFileResult[]> => {
    const part = partEnvironment(partOf.get(those[0]!)!);
    const ended = await runTestProcess(those, {
      isShared,
      silenceMs: SILENCE_MS,
      nodeArgs,
      environment: { ...servers.environment, ...program, ...part, ...folder.environmentOf(those) },
      printsTests: values.spec,
      signal: stop.signal,
    });
    for (const result of ended) {
      process.stdout.write(`${lineOf(result)}${result.passed ? '' : failureSummary([result])}`);
    }
    if (values.spec) process.stdout.write(ended[0]?.output ?? '');
    return ended;
  };
  const runAlone = async (first: TestFileResult): Promise<TestFileResult | undefined> => {
    process.stdout.write(`once more, alone: ${first.file}\n`);
    return (await run({ files: [first.file], isShared: first.isShared }))[0];
  };
  const work = async (kind: 'any' | 'waiting'): Promise<void> => {
    for (let group = queue.next(kind); group !== undefined; group = queue.next(kind)) {
      if (stop.signal.aborted) return;
      const ended = await run(group);
      results.push(...ended);
      const left = group.files.slice(ended.length);
      if (left.length > 0) queue.putBack({ files: left, isShared: true });
    }
  };
  const { any, waiting } = workersOf(values.jobs);
  await Promise.all([
    ...Array.from({ length: any }, () => work('any')),
    ...Array.from({ length: waiting }, () => work('waiting')),
  ]);
  const disturbed = isWhole ? await repeatFailed(results, runAlone, stop.signal) : [];
  await servers.stop();
  folder.remove();
  if (nodeArgs.length === 0) keepDurations(results, values['keep-durations']);
  clearTimeout(deadline);
  const slowness = endSampling();
  const isGood = reportRun({
    results,
    disturbed,
    fileCount: files.length,
    tookMs: performance.now() - startedMs,
    stopped,
    cpuLimitSeconds: isWhole ? cpuLimitSeconds(tierOf(values), slowness) : undefined,
  });
  return stopped === 'interrupted' ? 130 : isGood ? 0 : 1;
}

function keepDurations(results: readonly TestFileResult[], isForTree: boolean): void {
  const measured = new Map(results.map(({ file, durationMs }) => [file, durationMs]));
  saveDurations(measured);
  if (isForTree) writeDurationTable(measured, new Set(testFiles([])));
}

/** `jobs` is the number of processes that the caller wants at most. */
function workersOf(jobs: string | undefined): { readonly any: number; readonly waiting: number } {
  if (jobs !== undefined) return { any: Math.max(1, Number(jobs) || 1), waiting: 0 };
  const cores = availableParallelism();
  return { any: JOBS_PER_CORE * cores, waiting: WAITING_JOBS_PER_CORE * cores };
}

function tierOf({ all, rest, long }: Pick<TestRunOptions, 'all' | 'rest' | 'long'>): TestTier {
  return rest ? 'rest' : long ? 'long' : all ? 'all' : 'quick';
}

/** A slower machine may take longer; on a faster one the limits stay. */
function cpuLimitSeconds(tier: TestTier, slowness: number): number {
  const { quick, rest, long } = CPU_LIMIT_SECONDS;
  const limit = tier === 'all' ? quick + rest + long : CPU_LIMIT_SECONDS[tier];
  return limit * Math.max(1, slowness);
}
