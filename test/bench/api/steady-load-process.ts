/** Starts and ends a load at a steady rate, in a process of its own. */
import { join } from 'node:path';
import { repositoryRoot } from '../../../tools/pinned-process.ts';
import { startProcess, until } from '../bench-process.ts';

export interface SteadyLoad {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  /** `%d` becomes a number of its own in each request. */
  readonly body?: string;
  readonly perSecond: number;
}

export interface SteadyResult {
  /** Answered with success. */
  readonly perSecond: number;
  readonly failed: number;
  /** From sending a request to the end of its answer. */
  readonly p50Us: number;
  readonly p99Us: number;
}

const DEADLINE_MS = 10_000;

/** A load that runs; `stop` says what it saw. Throws when a request failed. */
export async function startSteadyLoad(load: SteadyLoad): Promise<{ stop(): Promise<SteadyResult> }> {
  const running = startProcess(process.execPath, [
    join(repositoryRoot, 'test/bench/api/steady-load.ts'),
    JSON.stringify(load),
  ]);
  await until(`the load on ${load.url}`, DEADLINE_MS, () => {
    if (!running.tail().startsWith('running')) throw new Error(running.tail());
  });
  return {
    stop: async () => {
      await running.stop('SIGTERM');
      const result = JSON.parse(running.tail().split('\n').at(-1)!) as SteadyResult;
      if (result.failed !== 0) throw new Error(`${result.failed} requests to ${load.url} failed`);
      return result;
    },
  };
}
