/**
 * The last change sets of the data model, encoded, so that a router that missed some can catch up without a full state.
 * The log is bounded by count and by bytes; the oldest sets are dropped first.
 */
import { ctrlMessages } from '#wire/ctrl';
import type { DataEvent } from './data-model-diff.ts';

export interface DataModelLogLimits {
  readonly maxSets: number;
  readonly maxBytes: number;
}

/** OpenZiti's controllers keep as many sets. */
const LIMITS: DataModelLogLimits = { maxSets: 10_000, maxBytes: 8 << 20 };

export class DataModelLog {
  readonly #limits: DataModelLogLimits;
  /** By index, ascending and without gaps. */
  readonly #sets = new Map<bigint, Uint8Array<ArrayBuffer>>();
  #bytes = 0;
  #index = 1n;

  constructor(limits = LIMITS) {
    this.#limits = limits;
  }

  /** The index of the last change set. The model that exists before the first one has index 1. */
  get index(): bigint {
    return this.#index;
  }

  /** Returns the encoded change set. */
  add(changes: readonly DataEvent[]): Uint8Array<ArrayBuffer> {
    const previousIndex = this.#index;
    this.#index += 1n;
    const body = ctrlMessages.dataStateChangeSet.encode({
      index: this.#index,
      previousIndex,
      changes: [...changes],
    });
    this.#sets.set(this.#index, body);
    this.#bytes += body.length;
    for (const [index, oldest] of this.#sets) {
      if (this.#sets.size <= this.#limits.maxSets && this.#bytes <= this.#limits.maxBytes) break;
      this.#sets.delete(index);
      this.#bytes -= oldest.length;
    }
    return body;
  }

  /** Returns the encoded sets after `index`, or undefined if the log does not have all of them. */
  since(index: bigint): Uint8Array<ArrayBuffer>[] | undefined {
    if (index === this.#index) return [];
    if (index > this.#index || !this.#sets.has(index + 1n)) return undefined;
    const found: Uint8Array<ArrayBuffer>[] = [];
    for (let next = index + 1n; next <= this.#index; next += 1n) found.push(this.#sets.get(next)!);
    return found;
  }
}
