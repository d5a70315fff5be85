/** Decides when an unacknowledged payload counts as lost, by OpenZiti's rule from measured round trips. */
import type { XgressOptions } from './xgress-options.ts';

const DUPLICATES_STEP = 0.2;
const CALM_STEP = 0.01;

export class RoundTrip {
  readonly #options: XgressOptions;
  #scale: number;
  #lastMs = 0;
  #leastMs = Infinity;
  #lostAfterMs: number;

  constructor(options: XgressOptions) {
    this.#options = options;
    this.#scale = options.retxScale;
    this.#lostAfterMs = options.retxStartMs;
  }

  /** How many round trips an acknowledgement may take. */
  get scale(): number {
    return this.#scale;
  }

  /** Age in milliseconds at which a payload is retransmitted. */
  get lostAfterMs(): number {
    return this.#lostAfterMs;
  }

  /** The shortest round trip in milliseconds: that of the path without queues. Infinite before the first one. */
  get leastMs(): number {
    return this.#leastMs;
  }

  /** Called after many duplicate acknowledgements, which mean that the far end is slower than estimated. */
  widen(): void {
    this.#scale += DUPLICATES_STEP;
  }

  /** Called after a run of regular acknowledgements. */
  narrow(): void {
    this.#scale = Math.max(this.#scale - CALM_STEP, this.#options.retxScale);
  }

  /**
   * `measuredMs` is the time from the only transmission of a payload to its acknowledgement. The stamp that an
   * acknowledgement echoes is not used: OpenZiti's routers replace the stamps of payloads with the time at which they
   * forward them, so that the echo is of another machine's clock.
   */
  learn(measuredMs: number): void {
    const { maxRttScale, retxAddMs, retxMaxMs, retxStartMs } = this.#options;
    if (measuredMs < this.#leastMs) this.#leastMs = measuredMs;
    let rttMs = Math.trunc(measuredMs);
    // A limit of 1 would never let round trips grow, so it counts as 2.
    const most = maxRttScale === 1 ? 2 : maxRttScale;
    if (this.#lastMs > 0 && most > 0) rttMs = Math.min(rttMs, this.#lastMs * most);
    if (this.#lastMs > 0) rttMs = (rttMs + this.#lastMs) >> 1;
    this.#lastMs = rttMs;
    // Never below the start value, because a busy peer's tick is not a lost frame.
    const lostAfterMs = Math.max(retxStartMs, rttMs * this.#scale + retxAddMs);
    this.#lostAfterMs = retxMaxMs > 0 ? Math.min(lostAfterMs, retxMaxMs) : lostAfterMs;
  }
}

/** Returns the low 16 bits of the sender's milliseconds, but never 0, which means none. The far end echoes them. */
export function stampOf(nowMs: number): number {
  return nowMs & 0xffff || 1;
}
