/**
 * What a sending end learns about a path whose routers drop payloads when their queues are full, as OpenZiti's do
 * towards an SDK: which payloads were dropped, and how many bytes the path holds. A payload counts as dropped when a
 * later transmission was acknowledged (RFC 8985), because routers keep the order of a circuit, and the window follows
 * the drops as TCP's does (RFC 5681). Waiting for a timer instead costs the circuit hundreds of milliseconds per drop.
 */

/** Later transmissions that must have been acknowledged, because frames of parallel connections change places. */
const REORDERED = 3;
/** Share of the outstanding bytes that remains the window after a drop. */
const AFTER_DROP = 0.7;
/** Bytes by which the window grows per round trip after the first drop: one sealed payload. */
const GROWTH_BYTES = 32 * 1024;
/** Fewer bytes than this would leave too few payloads for a later one to reveal a drop. */
const MIN_WINDOW_BYTES = 4 * GROWTH_BYTES;

export class XgressPath {
  readonly #maxWindow: number;
  #transmissions = 0;
  /** Number of the latest transmission that was acknowledged. */
  #latestAcked = -1;
  /** Drops of transmissions up to this number have made the window smaller; -1 before the first drop. */
  #answeredUpTo = -1;
  #minRoundTripMs = Infinity;

  constructor(maxWindow: number) {
    this.#maxWindow = maxWindow;
  }

  /** Whether a payload was dropped, so that `grown` decides about the window. */
  get hasDropped(): boolean {
    return this.#answeredUpTo >= 0;
  }

  /** Returns the number of the next transmission. */
  transmit(): number {
    this.#transmissions += 1;
    return this.#transmissions - 1;
  }

  /** An acknowledgement of a repeated payload that comes sooner than any other is one of its first transmission. */
  acknowledged(transmission: number, roundTripMs: number, isRepeated: boolean): void {
    if (isRepeated && roundTripMs < this.#minRoundTripMs) return;
    if (roundTripMs < this.#minRoundTripMs) this.#minRoundTripMs = roundTripMs;
    if (transmission > this.#latestAcked) this.#latestAcked = transmission;
  }

  isDropped(transmission: number): boolean {
    return transmission + REORDERED <= this.#latestAcked;
  }

  /** Returns the window after the drop of a transmission: smaller, but once for all drops of one round trip. */
  shrunk(transmission: number, window: number, outstandingBytes: number): number {
    if (transmission <= this.#answeredUpTo) return window;
    this.#answeredUpTo = this.#transmissions - 1;
    return Math.max(MIN_WINDOW_BYTES, Math.trunc(Math.min(window, outstandingBytes) * AFTER_DROP));
  }

  /** Returns the window after the acknowledgement of `bytes`, which lets it grow by `GROWTH_BYTES` per round trip. */
  grown(window: number, bytes: number): number {
    return Math.min(this.#maxWindow, window + Math.ceil((GROWTH_BYTES * bytes) / window));
  }
}
