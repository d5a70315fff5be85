/**
 * Tells listeners what was committed, in commit order, one round at a time: changes that are committed while a
 * round runs are told together in the next. A listener that fails is logged; the write stays acknowledged.
 */
import { messageOf, type Log } from '#base';
import type { Change } from './store.ts';

type Listener = (changes: readonly Change[]) => Promise<void> | void;

export class ChangeFeed {
  readonly #log: Log;
  readonly #listeners: Listener[] = [];
  #pending: Change[] = [];
  #nextRound: Promise<void> | undefined;
  #round: Promise<void> = Promise.resolve();

  constructor(log: Log) {
    this.#log = log;
  }

  onChange(listener: Listener): void {
    this.#listeners.push(listener);
  }

  /** Returns when every listener has heard of `changes`. */
  tell(changes: readonly Change[]): Promise<void> {
    if (changes.length === 0 || this.#listeners.length === 0) return Promise.resolve();
    this.#pending.push(...changes);
    if (this.#nextRound === undefined) {
      this.#nextRound = this.#round.then(() => this.#run());
      this.#round = this.#nextRound;
    }
    return this.#nextRound;
  }

  /** Returns when no round runs. */
  async idle(): Promise<void> {
    await this.#round;
  }

  async #run(): Promise<void> {
    const changes = withoutRepeats(this.#pending);
    this.#pending = [];
    this.#nextRound = undefined;
    for (const listener of this.#listeners) {
      try {
        await listener(changes);
      } catch (error) {
        this.#log.error(
          { cause: messageOf(error), changes: changes.length },
          'a listener to stored changes failed',
        );
      }
    }
  }
}

function withoutRepeats(changes: readonly Change[]): Change[] {
  const seen = new Map<string, Change>();
  for (const change of changes) seen.set(`${change.entity} ${change.id}`, change);
  return [...seen.values()];
}
