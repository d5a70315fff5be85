/** Loads of ports in a run: downloads, messages and new circuits, each by a process of its own. */
import type { BenchRun, Target } from '../bench-run.ts';
import type { Measured, Unit } from '../bench-result.ts';
import { runScript } from '../script-process.ts';
import type { LoadArguments, LoadKind, LoadResult } from './load-process.ts';

export const PORT_LOAD = 'fabric/load-process.ts';
const BYTES_PER_MB = 1_000_000;

export interface LoadScenario<Kind extends LoadKind = LoadKind> {
  readonly name: string;
  readonly unit: Unit;
  readonly kind: Kind;
  readonly connections: number;
}

/** A load of one round, without its port. */
export interface PortLoad<Kind extends LoadKind> extends Omit<LoadArguments, 'port'> {
  readonly kind: Kind;
}

/** Rejects when a connection fails. */
export async function runLoad(load: LoadArguments): Promise<LoadResult> {
  return withoutFailure(await runScript<LoadResult>(PORT_LOAD, load));
}

/** `runAt` runs a load at a target; a connection that fails, fails the round. A stream alone has no latency. */
export function measureLoad<T extends Target, Kind extends LoadKind>(
  run: BenchRun,
  { name, unit, kind, connections }: LoadScenario<Kind>,
  targets: readonly T[],
  runAt: (target: T, load: PortLoad<Kind>) => Promise<LoadResult>,
): Promise<Readonly<Record<string, Measured>> | undefined> {
  return run.measure(name, unit, targets, async (target, seconds, metered) => {
    const result = await metered(() => runAt(target, { kind, connections, seconds }));
    const { rate, p50Us, p99Us, total = rate * seconds } = withoutFailure(result);
    const sample = { units: unit === 'MB' ? total / BYTES_PER_MB : total, perSecond: rate };
    return kind === 'download' || kind === 'upload' ? sample : { ...sample, p50Us, p99Us };
  });
}

function withoutFailure(result: LoadResult): LoadResult {
  if (result.failed > 0) throw new Error(`${result.failed} connections failed`);
  return result;
}
