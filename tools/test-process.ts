/**
 * One process of a test run, in a process group of its own: one test file, or several that share it. Reads
 * its events, keeps its output, and kills it when it hangs. node:test's own runner is not used across files:
 * its time limit does not end a process that hangs, and one slow file holds back all reports.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { pinnedEnvironment, repositoryRoot } from './pinned-process.ts';
import { TestEventLog, type TestFailure, type TestFileLog } from './test-event-log.ts';
import type { TestEvent } from './test-event.ts';
import { ChildUsage } from './child-usage.ts';
import { HANG_REPORT_ARGS, hangReport } from './hang-report.ts';

const MAX_OUTPUT_CHARS = 400_000;
/** How long pipes may stay open after the process has ended, because a process that it started holds them. */
const PIPE_GRACE_MS = 1_000;
const INSPECTOR_ADDRESS = /Debugger listening on (ws:\S+)/;
const GROUP_PROGRAM = 'tools/test-group-suite.ts';
const REPORTER = './tools/test-event-reporter.ts';
const childUsage = new ChildUsage();

export interface TestFileResult {
  readonly file: string;
  /** The process could have run other files, too. */
  readonly isShared: boolean;
  readonly passed: boolean;
  /** A problem outside of tests: a time limit, a signal, or a file without tests. */
  readonly problem: string | undefined;
  readonly tests: number;
  readonly failures: readonly TestFailure[];
  /** Names (with reasons) of skipped tests. */
  readonly skipped: readonly string[];
  readonly durationMs: number;
  /**
   * Seconds of CPU. Those of a file with a process of its own are all of that process and of its children; those of a
   * file that shared one are what the process itself used while the file ran.
   */
  readonly cpuSeconds: number | undefined;
  /** The output of the process, of both streams. */
  readonly output: string;
}

export interface TestProcessOptions {
  /** The files share the process, though there may be one only: each has to leave it as it was. */
  readonly isShared: boolean;
  /**
   * A process that sends no event and prints nothing for this long is taken to hang. There is no other time
   * limit, because machines may be slow.
   */
  readonly silenceMs: number;
  readonly nodeArgs: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Prints each test as node's spec reporter does. */
  readonly printsTests: boolean;
  readonly signal: AbortSignal;
}

/**
 * Runs `files` (paths relative to the repository). A failure of theirs is a result, never a rejection. A
 * process that is ended early has results of the files that had begun, the last of which has the problem.
 */
export function runTestProcess(
  files: readonly string[],
  options: TestProcessOptions,
): Promise<TestFileResult[]> {
  const { isShared, nodeArgs, printsTests } = options;
  const log = new TestEventLog(files, isShared);
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      ...(printsTests ? ['--test-reporter=spec', '--test-reporter-destination=stdout'] : []),
      `--test-reporter=${REPORTER}`,
      '--test-reporter-destination=stderr',
      ...HANG_REPORT_ARGS,
      ...nodeArgs,
      ...(isShared ? [GROUP_PROGRAM] : []),
      ...files,
    ],
    {
      cwd: repositoryRoot,
      env: { ...pinnedEnvironment(), ...options.environment, FORCE_COLOR: '0' },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      detached: true,
    },
  );
  let output = '';
  let cpuSeconds: number | undefined;
  let problem: string | undefined;
  const notSilent = (): void => {
    // `refresh` would start a stopped timer again.
    if (child.exitCode === null && child.signalCode === null) timer.refresh();
  };
  /** Resolves to the address of the inspector, which the process prints when it is asked. */
  const inspector = Promise.withResolvers<string>();
  let isAsked = false;
  const keep = (text: string): void => {
    output = (output + text).slice(-MAX_OUTPUT_CHARS);
    if (isAsked) {
      const [, url] = INSPECTOR_ADDRESS.exec(output) ?? [];
      if (url !== undefined) inspector.resolve(url);
    }
    notSilent();
  };
  const [, stdout, stderr, events] = child.stdio as unknown as readonly [null, Readable, Readable, Readable];
  stdout.setEncoding('utf8').on('data', keep);
  stderr.setEncoding('utf8').on('data', keep);
  createInterface({ input: events }).on('line', (line) => {
    notSilent();
    const event = eventOf(line);
    if (event !== undefined) log.add(event);
  });
  const killGroup = (): void => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // the group has ended already
    }
  };
  const end = (why: string): void => {
    problem ??= why;
    killGroup();
  };
  const aborted = (): void => end('interrupted');
  const timer = setTimeout(() => {
    const running = log.running.at(-1);
    const where = running === undefined ? '' : ` in "${running}"`;
    isAsked = true;
    void hangReport(child.pid!, inspector.promise).then((report) => {
      keep(`\n${report}\n`);
      end(`hangs${where}: nothing was reported for ${options.silenceMs / 1000} s`);
    });
  }, options.silenceMs);
  options.signal.addEventListener('abort', aborted);
  return new Promise((done) => {
    child.on('error', (error) => {
      problem ??= error.message;
    });
    child.on('exit', (_code, signal) => {
      cpuSeconds = childUsage.take();
      clearTimeout(timer);
      options.signal.removeEventListener('abort', aborted);
      if (signal !== null) problem ??= `ended by ${signal}`;
      killGroup();
      setTimeout(() => {
        for (const pipe of [stdout, stderr, events]) pipe.destroy();
      }, PIPE_GRACE_MS).unref();
    });
    child.on('close', (code) => {
      const hasFailures = log.files.some(({ failures }) => failures.length > 0);
      if (code !== 0 && !hasFailures) problem ??= `its process ended with status ${code}`;
      log.beginFirst();
      done(log.files.map((file) => resultOf(file, file === log.current ? problem : undefined)));
    });
  });

  function resultOf(file: TestFileLog, failed: string | undefined): TestFileResult {
    const { tests, failures, skipped, durationMs } = file;
    const isEmpty = tests === 0 && failures.length === 0 && nodeArgs.length === 0;
    const why = failed ?? (isEmpty ? 'holds no test' : undefined);
    return {
      file: file.file,
      isShared,
      passed: failures.length === 0 && why === undefined,
      problem: why,
      tests,
      failures,
      skipped,
      durationMs,
      cpuSeconds: isShared ? file.cpuSeconds : cpuSeconds,
      output,
    };
  }
}

/** Undefined for the last line of a process that was ended while it wrote. */
function eventOf(line: string): TestEvent | undefined {
  try {
    return JSON.parse(line) as TestEvent;
  } catch {
    return undefined;
  }
}
