/**
 * How many failed attempts one source (an address) may make at one target (a share, an account) before its next ones are
 * refused for a while. Each pair is counted by itself: failures at one target refuse nothing at another. Bounded: pairs
 * whose failures are forgiven go first, and while none is, pairs that are new share one count for their target, so that
 * a flood of sources neither resets a count nor touches other targets.
 */

export interface AttemptRate {
  /** So many at once, and as many again in each `perMs`. */
  readonly attempts: number;
  readonly perMs: number;
}

const MAX_PAIRS = 100_000;
/** Looked at for a place for a new pair. */
const LOOKED_AT = 16;

export class AttemptLimits {
  readonly #maxPairs: number;
  /** When all failures of a pair are forgiven, in the milliseconds of the caller; by last failure, oldest first. */
  readonly #forgivenAt = new Map<string, number>();
  /** When all failures are forgiven, for targets whose new pairs found no place. */
  readonly #crowdedTargets = new Map<string, number>();

  constructor(maxPairs = MAX_PAIRS) {
    this.#maxPairs = maxPairs;
  }

  /** Pairs that are counted by themselves. */
  get size(): number {
    return this.#forgivenAt.size;
  }

  /** Milliseconds until the source may try again; 0: now. */
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

  /** The last failure was none. */
  takeBack(target: string, source: string, { attempts, perMs }: AttemptRate): void {
    const pair = pairOf(target, source);
    const known = this.#forgivenAt.get(pair);
    if (known !== undefined) this.#forgivenAt.set(pair, known - perMs / attempts);
  }

  /** Whether a new pair has a place. */
  #makeRoom(nowMs: number): boolean {
    if (this.#forgivenAt.size < this.#maxPairs) return true;
    let looked = 0;
    for (const [pair, forgivenAt] of this.#forgivenAt) {
      this.#forgivenAt.delete(pair);
      if (forgivenAt <= nowMs) return true;
      // Behind the others: the next look finds those that were not looked at.
      this.#forgivenAt.set(pair, forgivenAt);
      looked += 1;
      if (looked === LOOKED_AT) return false;
    }
    return false;
  }
}

/** Time until a failure is forgiven; 0 when it is further ahead than possible: then the clock was set back. */
function aheadMs(forgivenAt: number, perMs: number, nowMs: number): number {
  const ahead = Math.max(0, forgivenAt - nowMs);
  return ahead > perMs ? 0 : ahead;
}

function pairOf(target: string, source: string): string {
  return `${source} ${target}`;
}
