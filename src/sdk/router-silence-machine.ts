/**
 * Decides when a channel from which nothing comes is lost although its router can be reached, as behind a translator of
 * addresses that forgot the connection. The channel's own time limit for silence is longer, because it covers outages of
 * the network, after which the connection continues. Time is an argument.
 */

/** A router of ours sends something about once a second: answers to heartbeats and to probes of its latency. */
const SUSPECT_AFTER_MS = 2_000;
const PROBE_AGAIN_MS = 500;
/** Intervals of checks. After a longer pause, this process may not have read what came. */
export const SILENCE_CHECK_MS = 250;
const MAX_CHECK_DELAY_MS = 1_000;
/**
 * TCP repeats what was lost at intervals that double. After an outage, a connection has therefore resumed at the latest when
 * twice the length of the outage has passed.
 */
const RESUMED_WITHIN = 2;

type SilenceStep = 'wait' | 'probe' | 'replace';

export class RouterSilenceMachine {
  #reads: number;
  #lastReadMs: number;
  #lastCheckMs: number;
  #isProbing = false;
  #lastProbeMs = -Infinity;
  /** How long nothing had come when another connection to the router was made; undefined: none was made. */
  #silentAtProbeMs: number | undefined;

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
      this.#silentAtProbeMs = undefined;
      return 'wait';
    }
    const silentMs = nowMs - this.#lastReadMs;
    if (this.#silentAtProbeMs !== undefined)
      return silentMs >= RESUMED_WITHIN * this.#silentAtProbeMs ? 'replace' : 'wait';
    if (silentMs < SUSPECT_AFTER_MS || this.#isProbing) return 'wait';
    if (nowMs - this.#lastProbeMs < PROBE_AGAIN_MS) return 'wait';
    this.#isProbing = true;
    return 'probe';
  }

  probed(isReachable: boolean, nowMs: number): void {
    this.#isProbing = false;
    this.#lastProbeMs = nowMs;
    const silentMs = nowMs - this.#lastReadMs;
    if (isReachable && silentMs >= SUSPECT_AFTER_MS) this.#silentAtProbeMs = silentMs;
  }
}
