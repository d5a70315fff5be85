/**
 * For tests that are judged by the clock of several processes: a run during which this machine stood still proves
 * nothing when it fails, and is repeated. A defect fails every run, and a run that nothing disturbed counts as it is.
 */

/** How often this process measures how late its timer is, in ms. */
const LOOK_MS = 50;
/** A timer this late, in ms, means that other processes did not run either. */
const LATE_MS = 250;
const MAX_RUNS = 3;

export interface Undisturbed<T> {
  readonly run: () => Promise<T>;
  readonly isGood: (outcome: T) => boolean;
  /** Restores the state at the begin of a run, before it is repeated. */
  readonly restore: () => Promise<unknown>;
}

/** The first good outcome, else that of the first run that nothing disturbed, or of the last one. */
export async function undisturbed<T>({ run, isGood, restore }: Undisturbed<T>): Promise<T> {
  for (let runs = 1; ; runs += 1) {
    using turns = new Turns();
    const [ended] = await Promise.allSettled([run()]);
    const isRight = ended.status === 'fulfilled' && isGood(ended.value);
    const lateMs = turns.latestMs;
    if (isRight || lateMs < LATE_MS || runs === MAX_RUNS) {
      if (ended.status === 'rejected') throw ended.reason;
      return ended.value;
    }
    console.error(`run ${runs} is repeated, this machine stood still for ${Math.round(lateMs)} ms:`, ended);
    await restore();
  }
}

/** Measures the largest delay of a timer, in ms. */
export class Turns implements Disposable {
  #latestMs = 0;
  #lastMs = performance.now();
  readonly #timer = setInterval(() => this.#look(), LOOK_MS).unref();

  get latestMs(): number {
    this.#look();
    return this.#latestMs;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const nowMs = performance.now();
    this.#latestMs = Math.max(this.#latestMs, nowMs - this.#lastMs - LOOK_MS);
    this.#lastMs = nowMs;
  }
}
