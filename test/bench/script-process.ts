/** A script of the benchmarks as a process of its own: a service, or a load that takes a core for itself. */
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { repositoryRoot } from '../../tools/pinned-process.ts';

/** 10,000 TLS connections of idle clients take minutes on a slow machine. */
const LINE_DEADLINE_MS = 300_000;
const STOP_DEADLINE_MS = 10_000;

export interface Script {
  readonly pid: number;
  /** What it printed first: its port, or its result. */
  readonly line: string;
  /** Writes a line to its input and resolves to the next line that it prints. */
  ask(): Promise<string>;
  /** Ends it by SIGKILL, unless another signal is given; then it has 10 s to end by itself. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/**
 * Starts `test/bench/FILE` with its argument as JSON, and Node with further flags; rejects when it ends before it has
 * printed a line.
 */
export async function startScript(
  file: string,
  argument: unknown = null,
  nodeArgs: readonly string[] = [],
): Promise<Script> {
  const path = join(repositoryRoot, 'test/bench', file);
  const args = ['--disable-warning=ExperimentalWarning', ...nodeArgs, path, JSON.stringify(argument)];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string> => {
    const deadline = setTimeout(() => child.kill('SIGKILL'), LINE_DEADLINE_MS);
    const { value, done } = await lines.next();
    clearTimeout(deadline);
    if (done === true) throw new Error(`${file} ended before it printed a line`);
    return value;
  };
  return {
    pid: child.pid!,
    line: await nextLine(),
    ask: () => {
      child.stdin.write('\n');
      return nextLine();
    },
    stop: async (signal = 'SIGKILL') => {
      child.kill(signal);
      const late = setTimeout(() => child.kill('SIGKILL'), STOP_DEADLINE_MS);
      await ended;
      clearTimeout(late);
    },
  };
}

/** Runs a load that prints its result as one line of JSON. */
export async function runScript<R>(file: string, argument: unknown): Promise<R> {
  const script = await startScript(file, argument);
  await script.stop();
  return JSON.parse(script.line) as R;
}
