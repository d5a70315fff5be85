/** Loads of TCP ports for `BenchRun.measure`: downloads, messages and new circuits, each by a process of its own. */
import type { Sampler, Target } from '../bench-run.ts';
import { runScript } from '../script-process.ts';
import type { LoadArguments, LoadResult } from './load-process.ts';

export const STREAM_LOAD = 'fabric/load-process.ts';
const BYTES_PER_MB = 1_000_000;

/** Rejects when a connection fails. */
export async function runStreams(load: LoadArguments): Promise<LoadResult> {
  const result = await runScript<LoadResult>(STREAM_LOAD, load);
  if (result.failed > 0) throw new Error(`${result.failed} connections failed (${JSON.stringify(load)})`);
  return result;
}

/** Downloads count megabytes, and have no latency. */
export function streamSampler<T extends Target>(
  loadOf: (target: T) => Omit<LoadArguments, 'seconds'>,
): Sampler<T> {
  return async (target, seconds, metered) => {
    const load = { ...loadOf(target), seconds };
    const { rate, p50Us, p99Us } = await metered(() => runStreams(load));
    if (load.kind === 'download') return { units: (rate * seconds) / BYTES_PER_MB, perSecond: rate };
    return { units: rate * seconds, perSecond: rate, p50Us, p99Us };
  };
}
