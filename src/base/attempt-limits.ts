/**
 * Limits failed attempts of one source (an address) at one target (a share, an account); beyond the rate,
 * attempts are refused for a while. Each pair is counted separately: failures at one target do not affect
 * another. Bounded: expired pairs are evicted first. If there are none, new pairs share one count per target, so
 * that a flood of sources neither resets a count nor affects other targets.
 */

export interface AttemptRate {
  /** Allowed at once, and replenished within each `perMs`. */
  readonly attempts: number;
  readonly perMs: number;
}

const MAX_PAIRS = 100_000;
/** How many pairs are examined to find room for a new one. */
const LOOKED_AT = 16;

export class AttemptLimits {
  readonly #maxPairs: number;
  /** When all failures of a pair expire, in the caller's milliseconds; ordered by last failure, oldest first. */
  readonly #forgivenAt = new Map<string, number>();
  /** When all failures expire, for targets whose new pairs found no room. */
  readonly #crowdedTargets = new Map<string, number>();

  constructor(maxPairs = MAX_PAIRS) {
    this.#maxPairs = maxPairs;
  }

  /** Number of pairs that are counted separately. */
  get size(): number {
    return this.#forgivenAt.size;
  }

  /** Returns the milliseconds until the source may try again; 0: now. */
  waitMs(target: string, source: string, rate: AttemptRate, nowMs: number): number {
    const { attempts, perMs } = rate;
    const counted = this.#forgivenAt.get(pairOf(target, source)) ?? this.#crowdedTargets.get(target);
    if (counted === undefined) return 0;
    return Math.max(0, aheadMs(counted, perMs, nowMs) - (perMs - perMs / attempts));
  }

  failed(target: string, source: string, { attempts, perMs }: AttemptRate, nowMs: number): void {
    const pair = pairOf(target, source);
    const known = this.#forgivenAt.get(pair);
    const isCrowded = known === undefined && !this.#makeRoom(nowMs);
    const counts = isCrowded ? this.#crowdedTargets : this.#forgivenAt;
    const key = isCrowded ? target : pair;
    const ahead = aheadMs(counts.get(key) ?? 0, perMs, nowMs);
    counts.delete(key);
    counts.set(key, nowMs + Math.min(ahead + perMs / attempts, perMs));
    if (this.#crowdedTargets.size > this.#maxPairs)
      this.#crowdedTargets.delete(this.#crowdedTargets.keys().next().value!);
  }

  /** Undoes the last failure, which was none. */
  takeBack(target: string, source: string, { attempts, perMs }: AttemptRate): void {
    const pair = pairOf(target, source);
    const known = this.#forgivenAt.get(pair);
    if (known !== undefined) this.#forgivenAt.set(pair, known - perMs / attempts);
  }

  /** Returns whether there is room for a new pair. */
  #makeRoom(nowMs: number): boolean {
    if (this.#forgivenAt.size < this.#maxPairs) return true;
    let looked = 0;
    for (const [pair, forgivenAt] of this.#forgivenAt) {
      this.#forgivenAt.delete(pair);
      if (forgivenAt <= nowMs) return true;
      // Moved to the end, so that the next call examines other pairs.
      this.#forgivenAt.set(pair, forgivenAt);
      looked += 1;
      if (looked === LOOKED_AT) return false;
    }
    return false;
  }
}

/**
 * Returns the time until a failure expires, or 0 if it is further ahead than possible, because the clock was set
 * back.
 */
function aheadMs(forgivenAt: number, perMs: number, nowMs: number): number {
  const ahead = Math.max(0, forgivenAt - nowMs);
  return ahead > perMs ? 0 : ahead;
}

function pairOf(target: string, source: string): string {
  return `${source} ${target}`;
}
