/**
 * Waits with a deadline, whose errors name the awaited event. No other file of the tests waits for the clock.
 */

const LOOK_MS = 500;
const STEP_MS = 100;
/** The most running time that one step counts, in ms: timers of a busy machine are late, too. */
const MAX_STEP_MS = 500;
/** Node's own timers, also where a test has replaced the global ones. */
const { setTimeout, setInterval, clearInterval } = globalThis;

/** Resolves to the promise's value, or rejects at the deadline with an error that names `what`; a function names it then. */
export async function within<T>(
  what: string | (() => string),
  promise: Promise<T>,
  timeoutMs = 30_000,
): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const stop = afterRunning(timeoutMs, () => {
    reject(new Error(`not within ${timeoutMs} ms: ${typeof what === 'string' ? what : what()}`));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    stop();
  }
}

/**
 * Repeats `ask` until `isContent` accepts its answer. Fails after `timeoutMs` with the last answer. Also
 * returns the time that it took.
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T> | T,
  isContent: (value: T) => boolean,
  timeoutMs = 30_000,
): Promise<{ readonly value: T; readonly tookMs: number }> {
  const startedMs = performance.now();
  let isLate = false;
  const stop = afterRunning(timeoutMs, () => (isLate = true));
  try {
    for (;;) {
      let last: string;
      try {
        const value = await ask();
        const tookMs = performance.now() - startedMs;
        if (isContent(value)) return { value, tookMs };
        last = String(JSON.stringify(value));
      } catch (error) {
        last = String(error);
      }
      if (isLate) throw new Error(`not within ${timeoutMs} ms: ${what}; last: ${last.slice(0, 600)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  } finally {
    stop();
  }
}

/** How long this process has run since: a time for which it, or the machine, stood still counts as one step. */
export class RunningTime implements Disposable {
  #ms = 0;
  #lastMs = performance.now();
  readonly #timer = setInterval(() => this.#look(), STEP_MS).unref();

  get ms(): number {
    this.#look();
    return this.#ms;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const nowMs = performance.now();
    this.#ms += Math.min(nowMs - this.#lastMs, MAX_STEP_MS);
    this.#lastMs = nowMs;
  }
}

/**
 * Acts once this process has run for so long; call the answer to stop. A machine that stands still for a minute takes
 * one look off, not the minute: what is waited for had no time to happen either.
 */
export function afterRunning(ms: number, act: () => void): () => void {
  const everyMs = Math.min(ms, LOOK_MS);
  let leftMs = ms;
  const timer = setInterval(() => {
    leftMs -= everyMs;
    if (leftMs > 0) return;
    clearInterval(timer);
    act();
  }, everyMs);
  return () => clearInterval(timer);
}
