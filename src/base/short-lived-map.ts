/**
 * A map for values that come and go, such as connections and circuits. V8 makes a new table for a `Map` or `Set` after every few
 * dozen additions and removals. The former table keeps its values, and in the old generation it keeps them in collections of the
 * young one as well: connections were copied into the old generation after they had closed. Here, a removed value leaves only its
 * key behind. ADR 0055.
 */

interface Entry<Value> {
  value: Value | undefined;
}

export class ShortLivedMap<Key extends string | number, Value extends object> {
  readonly #entries = new Map<Key, Entry<Value>>();

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  set(key: Key, value: Value): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) this.#entries.set(key, { value });
    else entry.value = value;
  }

  /** Returns whether there was such a value. */
  delete(key: Key): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return false;
    entry.value = undefined;
    return this.#entries.delete(key);
  }

  /** As those of a `Map`: in the order of their addition, with those that are added in the meantime. */
  *values(): Generator<Value, void> {
    for (const { value } of this.#entries.values()) if (value !== undefined) yield value;
  }

  clear(): void {
    for (const entry of this.#entries.values()) entry.value = undefined;
    this.#entries.clear();
  }
}
