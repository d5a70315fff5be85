/**
 * Values by ascending sequence number, of which the oldest usually leave first: the unacknowledged data of a
 * circuit's end. A ring from the oldest value on, because a map that shrinks and grows with every request costs
 * more than the rest of the window's work. Values beyond the ring, after an old one that stays, are in a map.
 */

const FIRST_PLACES = 4;
const MAX_PLACES = 4_096;

export class SequenceWindow<T> {
  #places: (T | undefined)[] = places(FIRST_PLACES);
  /** The ring has no value before `#start`, and none from `#end` on. */
  #start = 0;
  #end = 0;
  #far: Map<number, T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Sequences must ascend. */
  add(sequence: number, value: T): void {
    if (this.#start === this.#end) this.#start = this.#end = sequence;
    this.#size += 1;
    while (sequence - this.#start >= this.#places.length) {
      if (this.#places.length === MAX_PLACES) {
        this.#far ??= new Map();
        this.#far.set(sequence, value);
        return;
      }
      this.#grow();
    }
    this.#places[sequence & (this.#places.length - 1)] = value;
    this.#end = sequence + 1;
  }

  /** Removes and returns a value, or returns undefined if it is not there. */
  take(sequence: number): T | undefined {
    if (sequence < this.#start || sequence >= this.#end) return this.#takeFar(sequence);
    const places = this.#places;
    const place = sequence & (places.length - 1);
    const value = places[place];
    if (value === undefined) return this.#takeFar(sequence);
    places[place] = undefined;
    this.#size -= 1;
    while (this.#start < this.#end && places[this.#start & (places.length - 1)] === undefined)
      this.#start += 1;
    return value;
  }

  /** The oldest first. */
  *values(): Generator<T> {
    for (let sequence = this.#start; sequence < this.#end; sequence += 1) {
      const value = this.#places[sequence & (this.#places.length - 1)];
      if (value !== undefined) yield value;
    }
    if (this.#far !== undefined) yield* this.#far.values();
  }

  clear(): void {
    this.#places = places(FIRST_PLACES);
    this.#start = this.#end = 0;
    this.#far = undefined;
    this.#size = 0;
  }

  #takeFar(sequence: number): T | undefined {
    const value = this.#far?.get(sequence);
    if (value === undefined) return undefined;
    this.#far!.delete(sequence);
    if (this.#far!.size === 0) this.#far = undefined;
    this.#size -= 1;
    return value;
  }

  #grow(): void {
    const before = this.#places;
    const grown = places<T>(2 * before.length);
    for (let sequence = this.#start; sequence < this.#end; sequence += 1) {
      grown[sequence & (grown.length - 1)] = before[sequence & (before.length - 1)];
    }
    this.#places = grown;
  }
}

function places<T>(count: number): (T | undefined)[] {
  return Array.from({ length: count }, () => undefined);
}
