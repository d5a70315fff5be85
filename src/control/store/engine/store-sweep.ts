/**
 * Removes from the store what is over, again and again: one pass at a time, in short statements, so that nobody waits
 * long behind one. A pass that fails is logged and made up for by the next. Replicas sweep too: what one removed, another
 * does not find.
 */
import { messageOf, type Clock, type Log } from '#base';
import type { Store } from './store.ts';

export interface SweepParts {
  readonly store: Pick<Store, 'db'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Removes at most `ROWS_A_STATEMENT` rows; answers how many there were. */
export type DeleteSome = (most: number) => Promise<number>;

const ROWS_A_STATEMENT = 1_000;

export abstract class StoreSweep {
  protected readonly parts: SweepParts;
  readonly #what: string;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | undefined;
  #closed = false;

  /** `what` is not removed when a pass fails: for the log. */
  constructor(parts: SweepParts, what: string, everyMs: number) {
    this.parts = parts;
    this.#what = what;
    this.#timer = setInterval(() => void this.sweep(), everyMs);
    this.#timer.unref();
  }

  /** One pass; resolves when it is over, whether it succeeded or not. */
  sweep(): Promise<void> {
    this.#running ??= this.pass(this.parts.clock.nowMs())
      .catch((error: unknown) => {
        this.parts.log.warn(
          { cause: messageOf(error) },
          `${this.#what} could not be removed; retrying later`,
        );
      })
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#running;
  }

  protected abstract pass(nowMs: number): Promise<void>;

  /** Until nothing is left, or as many statements were sent, or the end has come. */
  protected async deleteAll(deleteSome: DeleteSome, mostStatements: number): Promise<void> {
    for (let i = 0; i < mostStatements && !this.#closed; i += 1) {
      if ((await deleteSome(ROWS_A_STATEMENT)) < ROWS_A_STATEMENT) return;
    }
  }
}
