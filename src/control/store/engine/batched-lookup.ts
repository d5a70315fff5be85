/**
 * Many lookups by key as few statements: what is asked while a statement runs is asked together in the next. Every
 * answer was read after its question was put, so nothing here is old.
 */
export type LookupMany<K, V> = (keys: readonly K[]) => Promise<ReadonlyMap<K, V>>;

interface Question<V> {
  readonly promise: Promise<V | undefined>;
  readonly resolve: (value: V | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Statements at once: while one travels, the next may already be on its way. */
const MAX_RUNNING = 2;
const MAX_KEYS = 500;

export class BatchedLookup<K, V> {
  readonly #lookup: LookupMany<K, V>;
  #waiting = new Map<K, Question<V>>();
  #running = 0;
  #isPlanned = false;

  constructor(lookup: LookupMany<K, V>) {
    this.#lookup = lookup;
  }

  /** Undefined: there is none. Errors: those of the store. */
  find(key: K): Promise<V | undefined> {
    const asked = this.#waiting.get(key);
    if (asked !== undefined) return asked.promise;
    const question: Question<V> = Promise.withResolvers<V | undefined>();
    this.#waiting.set(key, question);
    if (!this.#isPlanned && this.#running < MAX_RUNNING) {
      this.#isPlanned = true;
      // After everything that this turn of the event loop brings: requests arrive many at a time.
      setImmediate(() => {
        this.#isPlanned = false;
        this.#run();
      });
    }
    return question.promise;
  }

  #run(): void {
    if (this.#waiting.size === 0) return;
    let batch = this.#waiting;
    if (batch.size <= MAX_KEYS) this.#waiting = new Map();
    else {
      batch = new Map([...batch].slice(0, MAX_KEYS));
      for (const key of batch.keys()) this.#waiting.delete(key);
    }
    this.#running += 1;
    this.#lookup([...batch.keys()])
      .then(
        (found) => {
          for (const [key, { resolve }] of batch) resolve(found.get(key));
        },
        (error: unknown) => {
          for (const { reject } of batch.values()) reject(error);
        },
      )
      .finally(() => {
        this.#running -= 1;
        this.#run();
      });
  }
}
