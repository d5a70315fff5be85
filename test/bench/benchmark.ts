/** What makes a benchmark: its options, its goals, and how it puts up its targets and measures its scenarios. */
import type { OptionTable } from './bench-options.ts';
import type { BenchResult } from './bench-result.ts';
import type { BenchRun } from './bench-run.ts';
import type { Goal } from './goal.ts';

export interface Benchmark extends OptionTable {
  /** How many rounds long each target runs before the first round that counts; 0 where the loads do that themselves. */
  readonly warmUpRounds: number;
  /** The target that a target is compared with. */
  reference(target: string): string;
  /** By title. */
  goals(result: BenchResult): Readonly<Record<string, readonly Goal[]>>;
  /** Why all of it is skipped on this machine, or false; false when absent. */
  skip?(): string | false;
  /** A whole run fails when it did not measure a goal. */
  readonly needsAllGoals?: boolean | undefined;
  /** Puts up what is measured and measures it; what it gives to `run.defer` ends when the run ends. */
  measure(run: BenchRun): Promise<void>;
}
