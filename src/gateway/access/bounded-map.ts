/**
 * A map that evicts entries that were not used for a long time. It has two generations and drops the older one
 * whole when the younger one is full. It holds at most `maxEntries`, and at least the last half of them that were
 * used.
 */
export class BoundedMap<Key, Value extends NonNullable<unknown>> {
  readonly #half: number;
  readonly #onDropped: ((values: Iterable<Value>) => void) | undefined;
  #young = new Map<Key, Value>();
  #old = new Map<Key, Value>();

  /** `onDropped` receives the evicted values. */
  constructor(maxEntries: number, onDropped?: (values: Iterable<Value>) => void) {
    this.#half = Math.max(1, Math.floor(maxEntries / 2));
    this.#onDropped = onDropped;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(key: Key): Value | undefined {
    const found = this.#young.get(key);
    if (found !== undefined) return found;
    const kept = this.#old.get(key);
    if (kept !== undefined) this.set(key, kept);
    return kept;
  }

  set(key: Key, value: Value): void {
    this.#old.delete(key);
    if (this.#young.size >= this.#half && !this.#young.has(key)) {
      const dropped = this.#old;
      this.#old = this.#young;
      this.#young = new Map();
      this.#onDropped?.(dropped.values());
    }
    this.#young.set(key, value);
  }

  delete(key: Key): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  clear(): void {
    this.#young = new Map();
    this.#old = new Map();
  }
}
