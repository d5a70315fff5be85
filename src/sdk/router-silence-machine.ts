/**
 * Decides when a channel from which nothing comes is replaced, because its router can be reached over another connection, as
 * behind a translator of addresses that forgot the first. Time is an argument.
 */

/** A router of Frontdoor sends something about once a second: answers to heartbeats and to probes of its latency. */
const SUSPECT_AFTER_MS = 2_000;
const PROBE_AGAIN_MS = 500;
/** Interval of checks. After a longer pause, this process may not have read what came. */
export const SILENCE_CHECK_MS = 250;
const MAX_CHECK_DELAY_MS = 1_000;

type SilenceStep = 'wait' | 'probe' | 'replace';

export class RouterSilenceMachine {
  #reads: number;
  #lastReadMs: number;
  #lastCheckMs: number;
  #isProbing = false;
  #lastProbeMs = -Infinity;
  #isReachable = false;

  /** `reads` is the number of reads with data of the channel. */
  constructor(reads: number, nowMs: number) {
    this.#reads = reads;
    this.#lastReadMs = nowMs;
    this.#lastCheckMs = nowMs;
  }

  /** Must be called each `SILENCE_CHECK_MS`. `probe`: try another connection to the router, and call `probed`. */
  check(reads: number, nowMs: number): SilenceStep {
    const isLate = nowMs - this.#lastCheckMs > MAX_CHECK_DELAY_MS;
    this.#lastCheckMs = nowMs;
    if (reads !== this.#reads || isLate) {
      this.#reads = reads;
      this.#lastReadMs = nowMs;
      this.#isReachable = false;
      return 'wait';
    }
    if (this.#isReachable) return 'replace';
    const isDue = nowMs - this.#lastReadMs >= SUSPECT_AFTER_MS && nowMs - this.#lastProbeMs >= PROBE_AGAIN_MS;
    if (!isDue || this.#isProbing) return 'wait';
    this.#isProbing = true;
    return 'probe';
  }

  /** Unless something comes until the next check, a router that is reachable has not received the channel's frames. */
  probed(isReachable: boolean, nowMs: number): void {
    this.#isProbing = false;
    this.#lastProbeMs = nowMs;
    this.#isReachable = isReachable && nowMs - this.#lastReadMs >= SUSPECT_AFTER_MS;
  }
}
