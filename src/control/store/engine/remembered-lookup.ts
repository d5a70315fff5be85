/**
 * A look-up with a cache that is used while only this process writes: a change invalidates entries before it is
 * acknowledged. On a shared database nothing is cached. Missing entries are cached too, so that both cases cost
 * the same.
 */
import { BatchedLookup, type LookupMany } from './batched-lookup.ts';
import { concerns, type Change, type Store } from './store.ts';

const MAX_REMEMBERED = 20_000;

/** A cached result, or the promise of one; undefined if there is none. */
export type Remembered<V> = V | undefined | Promise<V | undefined>;

export class RememberedLookup<V> {
  readonly #lookup: BatchedLookup<string, V>;
  readonly #remembered: Map<string, V | undefined> | undefined;
  /** Incremented by each invalidation. Results that were pending then are not cached. */
  #generation = 0;

  constructor(
    store: Pick<Store, 'isShared' | 'onChange'>,
    entities: readonly Change['entity'][],
    lookup: LookupMany<string, V>,
  ) {
    this.#lookup = new BatchedLookup(lookup);
    if (store.isShared) return;
    const remembered = new Map<string, V | undefined>();
    this.#remembered = remembered;
    store.onChange((changes) => {
      if (!concerns(changes, ...entities)) return;
      this.#generation += 1;
      remembered.clear();
    });
  }

  /** Returns at once if the result is cached. */
  find(key: string): Remembered<V> {
    const remembered = this.#remembered;
    if (remembered === undefined) return this.#lookup.find(key);
    const value = remembered.get(key);
    if (value !== undefined || remembered.has(key)) return value;
    return this.#ask(key, remembered);
  }

  /** Queries the store, whatever is cached, and discards the result. */
  async askAnew(key: string): Promise<void> {
    await this.#lookup.find(key);
  }

  async #ask(key: string, remembered: Map<string, V | undefined>): Promise<V | undefined> {
    const generation = this.#generation;
    const value = await this.#lookup.find(key);
    if (generation === this.#generation) {
      remembered.set(key, value);
      if (remembered.size > MAX_REMEMBERED) remembered.delete(remembered.keys().next().value!);
    }
    return value;
  }
}
