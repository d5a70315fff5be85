/**
 * When each name was asked for last, in memory that threads share, because a thread that answers queries by itself must
 * not lose the address of a name that clients have. The places of names are those of `NameRecord`.
 */
import { MAX_NAMES } from './address-pool.ts';

export class AskedTimes {
  readonly shared: SharedArrayBuffer;
  /** Whole seconds of Unix time, rounded up, so that no address is free too early. */
  readonly #seconds: Uint32Array;

  /** A thread opens the memory of the other one. */
  constructor(shared = new SharedArrayBuffer(MAX_NAMES * Uint32Array.BYTES_PER_ELEMENT)) {
    this.shared = shared;
    this.#seconds = new Uint32Array(shared);
  }

  note(place: number, nowMs: number): void {
    Atomics.store(this.#seconds, place, Math.ceil(nowMs / 1_000));
  }

  /** Returns Unix milliseconds. */
  lastMs(place: number): number {
    return Atomics.load(this.#seconds, place) * 1_000;
  }

  /** A place gets another name. */
  clear(place: number): void {
    Atomics.store(this.#seconds, place, 0);
  }
}
