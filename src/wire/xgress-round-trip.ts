/** When a payload that was not acknowledged counts as lost: OpenZiti's rule, from the measured round trips. */
import type { XgressOptions } from './xgress-options.ts';

const DUPLICATES_STEP = 0.2;
const CALM_STEP = 0.01;

export class RoundTrip {
  readonly #options: XgressOptions;
  #scale: number;
  #lastMs = 0;
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

  /** Age at which a payload is sent again, in ms. */
  get lostAfterMs(): number {
    return this.#lostAfterMs;
  }

  /** Many acknowledgements came twice: the far end is slower than thought. */
  widen(): void {
    this.#scale += DUPLICATES_STEP;
  }

  /** A run of acknowledgements came as they should. */
  narrow(): void {
    this.#scale = Math.max(this.#scale - CALM_STEP, this.#options.retxScale);
  }

  /** `stamp`: what `stampOf` gave when the payload was sent, echoed by the far end; not 0. */
  learn(stamp: number, nowMs: number): void {
    const { maxRttScale, retxAddMs, retxMaxMs, retxStartMs } = this.#options;
    let rttMs = (nowMs - stamp) & 0xffff;
    // 1 would let no round trip ever grow: it counts as 2.
    const most = maxRttScale === 1 ? 2 : maxRttScale;
    if (this.#lastMs > 0 && most > 0) rttMs = Math.min(rttMs, this.#lastMs * most);
    if (this.#lastMs > 0) rttMs = (rttMs + this.#lastMs) >> 1;
    this.#lastMs = rttMs;
    // Never below the start value: a busy peer's tick is no lost frame.
    const lostAfterMs = Math.max(retxStartMs, rttMs * this.#scale + retxAddMs);
    this.#lostAfterMs = retxMaxMs > 0 ? Math.min(lostAfterMs, retxMaxMs) : lostAfterMs;
  }
}

/** The low 16 bits of Unix milliseconds, but never 0, which means none. */
export function stampOf(nowMs: number): number {
  return nowMs & 0xffff || 1;
}
