/**
 * One test file in a process group of its own: its captured report, its counts and a hard end. node:test's own runner
 * is not used across files: its time limit does not end a process that hangs, and one slow file holds back all reports.
 */
import { spawn } from 'node:child_process';
import { pinnedEnvironment, repositoryRoot } from './pinned-process.ts';

const MAX_REPORT_CHARS = 400_000;
/** How long pipes may stay open after the process is gone: something it started holds them. */
const PIPE_GRACE_MS = 1_000;

export interface TestFileResult {
  readonly file: string;
  readonly passed: boolean;
  /** What went wrong outside of tests: a time limit, a signal, no test at all. */
  readonly problem?: string;
  readonly counts: { readonly tests: number; readonly failed: number; readonly skipped: number };
  /** Names (with reasons) of skipped tests. */
  readonly skipped: readonly string[];
  readonly durationMs: number;
  /** The spec reporter's text, and whatever the tests printed. */
  readonly report: string;
}

export interface TestFileOptions {
  /** A file that says nothing for so long hangs: how much a machine does in a time is its own affair. */
  readonly silenceMs: number;
  readonly nodeArgs: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Runs `file` (relative to the repository); never rejects for what the file does. */
export function runTestFile(file: string, options: TestFileOptions): Promise<TestFileResult> {
  const startedMs = performance.now();
  const args = ['--disable-warning=ExperimentalWarning', '--test-reporter=spec', ...options.nodeArgs, file];
  const child = spawn(process.execPath, args, {
    cwd: repositoryRoot,
    env: { ...pinnedEnvironment(), ...options.environment, FORCE_COLOR: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let report = '';
  /** The end of what the reporter said: nothing of the other stream stands between its counts. */
  let summary = '';
  let problem: string | undefined;
  const collect = (text: string): void => {
    // A timer that was stopped would begin again.
    if (child.exitCode === null && child.signalCode === null) timer.refresh();
    // What failed, and the counts, come last.
    report = (report + text).slice(-MAX_REPORT_CHARS);
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    summary = (summary + text).slice(-MAX_REPORT_CHARS);
    collect(text);
  });
  child.stderr.setEncoding('utf8').on('data', collect);
  const killGroup = (): void => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // the group is gone already
    }
  };
  const end = (why: string): void => {
    problem ??= why;
    killGroup();
  };
  const aborted = (): void => end('interrupted');
  const timer = setTimeout(
    () => end(`hangs: nothing was said for ${options.silenceMs / 1000} s`),
    options.silenceMs,
  );
  options.signal.addEventListener('abort', aborted);
  return new Promise((done) => {
    child.on('error', (error) => {
      problem ??= error.message;
    });
    child.on('exit', (_code, signal) => {
      clearTimeout(timer);
      options.signal.removeEventListener('abort', aborted);
      if (signal !== null) problem ??= `ended by ${signal}`;
      killGroup();
      setTimeout(() => child.stdout.destroy(), PIPE_GRACE_MS).unref();
      setTimeout(() => child.stderr.destroy(), PIPE_GRACE_MS).unref();
    });
    child.on('close', (code) => {
      const counts = {
        tests: count(summary, 'tests'),
        failed: failures(summary),
        skipped: count(summary, 'skipped'),
      };
      if (code === 0 && counts.tests === 0 && options.nodeArgs.length === 0) problem ??= 'holds no test';
      done({
        file,
        passed: code === 0 && problem === undefined,
        ...(problem === undefined ? {} : { problem }),
        counts,
        skipped: [...report.matchAll(/^\s*﹣ (.+?) \([\d.]+ms\)(?: # (.*))?$/gm)].map(skipLine),
        durationMs: performance.now() - startedMs,
        report,
      });
    });
  });
}

function count(report: string, name: string): number {
  const last = [...report.matchAll(new RegExp(`^ℹ ${name} (\\d+)$`, 'gm'))].at(-1);
  return last === undefined ? 0 : Number(last[1]);
}

function failures(report: string): number {
  return count(report, 'fail') + count(report, 'cancelled');
}

function skipLine(match: RegExpExecArray): string {
  const reason = match[2] ?? '';
  return reason === '' || reason === 'SKIP' ? (match[1] ?? '') : `${match[1]}: ${reason}`;
}
