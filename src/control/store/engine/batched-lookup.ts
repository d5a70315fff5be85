/**
 * Combines many look-ups by key into few statements: requests during a statement are combined in the next one.
 * Every result was read after its request, so none is outdated.
 */
export type LookupMany<K, V> = (keys: readonly K[]) => Promise<ReadonlyMap<K, V>>;

interface Question<V> {
  readonly promise: Promise<V | undefined>;
  readonly resolve: (value: V | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Concurrent statements, so that one can be sent while another is on its way. */
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

  /** Returns undefined if there is none. Rejects with errors of the store. */
  find(key: K): Promise<V | undefined> {
    const asked = this.#waiting.get(key);
    if (asked !== undefined) return asked.promise;
    const question: Question<V> = Promise.withResolvers<V | undefined>();
    this.#waiting.set(key, question);
    if (!this.#isPlanned && this.#running < MAX_RUNNING) {
      this.#isPlanned = true;
      // Runs after the current turn of the event loop, because requests arrive many at a time.
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
