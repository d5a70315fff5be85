/**
 * Selects the terminator of a circuit. One that failed in an earlier attempt of this circuit comes last, then
 * unhealthy ones; then precedence decides, and among equals the service's strategy. Pure: the caller provides
 * randomness.
 */
import type { TerminatorStrategy } from '#domain';

export interface Candidate {
  readonly precedence: number;
  /** The total: the configured cost, the dynamic cost, and the cost of the path. */
  readonly cost: number;
  readonly isHealthy: boolean;
  readonly hasFailed?: boolean;
  /** Failed dials since the last successful one. */
  readonly failuresInARow?: number;
  /** For a service whose circuits all go to one terminator: whether it is that one. */
  readonly isActive?: boolean;
}

/** Required, default, failed: the order differs from that of the numbers. */
const RANK_OF_PRECEDENCE: readonly number[] = [1, 0, 2];
const UNKNOWN_RANK = 3;
/** After this many, a service with a single active terminator switches to another one. */
export const MAX_FAILURES_IN_A_ROW = 3;

/** `random` returns 0 <= x < 1. Returns undefined without candidates. */
export function chooseTerminator<T extends Candidate>(
  candidates: Iterable<T>,
  random: () => number,
  strategy: TerminatorStrategy = 'smartrouting',
): T | undefined {
  const best = bestClass(candidates, strategy);
  if (best.length <= 1) return best[0];
  switch (strategy) {
    case 'random':
      return anyOf(best, random);
    case 'weighted':
      return weighted(best, random);
    case 'ha':
      return best.find(({ isActive }) => isActive === true) ?? cheapest(best, random);
    default:
      return cheapest(best, random);
  }
}

function bestClass<T extends Candidate>(candidates: Iterable<T>, strategy: TerminatorStrategy): T[] {
  let best: T[] = [];
  for (const candidate of candidates) {
    const order = best[0] === undefined ? -1 : compare(candidate, best[0], strategy);
    if (order < 0) best = [candidate];
    else if (order === 0) best.push(candidate);
  }
  return best;
}

function compare(a: Candidate, b: Candidate, strategy: TerminatorStrategy): number {
  return (
    Number(a.hasFailed ?? false) - Number(b.hasFailed ?? false) ||
    Number(b.isHealthy) - Number(a.isHealthy) ||
    rankOf(a, strategy) - rankOf(b, strategy)
  );
}

function rankOf({ precedence, failuresInARow = 0 }: Candidate, strategy: TerminatorStrategy): number {
  if (strategy === 'ha' && failuresInARow >= MAX_FAILURES_IN_A_ROW) return RANK_OF_PRECEDENCE[2]!;
  return RANK_OF_PRECEDENCE[precedence] ?? UNKNOWN_RANK;
}

function anyOf<T>(candidates: readonly T[], random: () => number): T {
  return candidates[Math.floor(random() * candidates.length)]!;
}

function cheapest<T extends Candidate>(candidates: readonly T[], random: () => number): T {
  const least = Math.min(...candidates.map(({ cost }) => cost));
  return anyOf(
    candidates.filter(({ cost }) => cost === least),
    random,
  );
}

/** A terminator of twice the cost is selected half as often. */
function weighted<T extends Candidate>(candidates: readonly T[], random: () => number): T {
  const weights = candidates.map(({ cost }) => 1 / Math.max(1, cost));
  let left = random() * weights.reduce((sum, weight) => sum + weight, 0);
  for (const [at, candidate] of candidates.entries()) {
    left -= weights[at]!;
    if (left < 0) return candidate;
  }
  return candidates.at(-1)!;
}
