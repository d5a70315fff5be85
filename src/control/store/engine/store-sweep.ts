/**
 * Removes expired rows from the store periodically: one pass at a time, in short statements, so that others do
 * not wait long. A failed pass is logged and covered by the next one. Replicas sweep too; rows that one removed
 * are not found by another.
 */
import { messageOf, type Clock, type Log } from '#base';
import type { Store } from './store.ts';

export interface SweepParts {
  readonly store: Pick<Store, 'db'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Removes at most `ROWS_A_STATEMENT` rows and returns their number. */
export type DeleteSome = (most: number) => Promise<number>;

const ROWS_A_STATEMENT = 1_000;

export abstract class StoreSweep {
  protected readonly parts: SweepParts;
  readonly #what: string;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | undefined;
  #closed = false;

  /** `what` names the rows in the log message about a failed pass. */
  constructor(parts: SweepParts, what: string, everyMs: number) {
    this.parts = parts;
    this.#what = what;
    this.#timer = setInterval(() => void this.sweep(), everyMs);
    this.#timer.unref();
  }

  /** Runs one pass. Resolves when it is over, whether it succeeded or not. */
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

  /** Runs until nothing is left, the limit of statements is reached, or the sweep is closed. */
  protected async deleteAll(deleteSome: DeleteSome, mostStatements: number): Promise<void> {
    for (let i = 0; i < mostStatements && !this.#closed; i += 1) {
      if ((await deleteSome(ROWS_A_STATEMENT)) < ROWS_A_STATEMENT) return;
    }
  }
}
