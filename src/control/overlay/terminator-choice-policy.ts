/**
 * Which terminator a circuit goes to. Healthy before unhealthy, precedence before cost, then by chance among equals;
 * what failed in this circuit's earlier attempt comes last. Pure: chance comes from the caller.
 */
export interface Candidate {
  readonly precedence: number;
  readonly cost: number;
  readonly isHealthy: boolean;
}

/** Required, default, failed: the order is not that of the numbers. */
const RANK_OF_PRECEDENCE: readonly number[] = [1, 0, 2];
const UNKNOWN_RANK = 3;

/** `random` answers 0 <= x < 1. Undefined without candidates. */
export function chooseTerminator<T extends Candidate>(
  candidates: Iterable<T>,
  random: () => number,
  alreadyFailed?: T,
): T | undefined {
  let best: T[] = [];
  for (const candidate of candidates) {
    const order = best[0] === undefined ? -1 : compare(candidate, best[0], alreadyFailed);
    if (order < 0) best = [candidate];
    else if (order === 0) best.push(candidate);
  }
  return best.length <= 1 ? best[0] : best[Math.floor(random() * best.length)];
}

function compare(a: Candidate, b: Candidate, alreadyFailed: Candidate | undefined): number {
  return (
    Number(a === alreadyFailed) - Number(b === alreadyFailed) ||
    Number(b.isHealthy) - Number(a.isHealthy) ||
    (RANK_OF_PRECEDENCE[a.precedence] ?? UNKNOWN_RANK) - (RANK_OF_PRECEDENCE[b.precedence] ?? UNKNOWN_RANK) ||
    a.cost - b.cost
  );
}
