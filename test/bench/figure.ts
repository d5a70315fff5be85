/** Figures of a run: samples of interleaved rounds, and their statistics. */

export interface Figure {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly samples: readonly number[];
}

export function figureOf(samples: readonly number[]): Figure {
  if (samples.length === 0) throw new RangeError('a figure needs a sample');
  const sorted = [...samples].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle]!;
  const median = sorted.length % 2 === 1 ? upper : (sorted[middle - 1]! + upper) / 2;
  return { median, min: sorted[0]!, max: sorted.at(-1)!, samples };
}

export interface Latency {
  readonly p50Us: number;
  readonly p99Us: number;
}

/** Takes latencies in microseconds in any order; without values both percentiles are 0. */
export function latencyOf(latenciesUs: readonly number[]): Latency {
  const sorted = latenciesUs.toSorted((a, b) => a - b);
  return { p50Us: percentile(sorted, 0.5), p99Us: percentile(sorted, 0.99) };
}

/** The value that `share` (0 to 1) of the ascending values are below; 0 without values. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/**
 * Runs `measure` for each of `names` in turn, `rounds` times over (a, b, c, a, b, c …), so that what else happens on the
 * machine falls on all alike. Every second round goes backwards: none always follows the same neighbour.
 */
export async function interleave<T>(
  names: readonly string[],
  rounds: number,
  measure: (name: string, round: number) => Promise<T>,
): Promise<Map<string, T[]>> {
  const results = new Map<string, T[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? names : [...names].reverse();
    for (const name of order) results.get(name)!.push(await measure(name, round));
  }
  return results;
}
