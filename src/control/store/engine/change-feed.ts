/**
 * Notifies listeners of committed changes in commit order, one round at a time: changes that are committed during
 * a round are combined in the next one. A listener that fails is logged; the write stays acknowledged, and the
 * listener gets `EVERYTHING` until it succeeds.
 */
import { BackOff, messageOf, type Log } from '#base';
import { EVERYTHING, type Change } from './store.ts';

type ChangeListener = (changes: readonly Change[]) => Promise<void> | void;

interface Listener {
  readonly notify: ChangeListener;
  /** Whether it missed changes, so that it gets `EVERYTHING` next. */
  hasMissed: boolean;
}

export class ChangeFeed {
  readonly #log: Log;
  readonly #listeners: Listener[] = [];
  readonly #backOff = new BackOff({ minMs: 200, maxMs: 5_000, factor: 2 });
  #pending: Change[] = [];
  #nextRound: Promise<void> | undefined;
  #round: Promise<void> = Promise.resolve();
  #retry: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(log: Log) {
    this.#log = log;
  }

  onChange(notify: ChangeListener): void {
    this.#listeners.push({ notify, hasMissed: false });
  }

  /** Resolves when every listener has handled `changes`. */
  notify(changes: readonly Change[]): Promise<void> {
    if (changes.length === 0 || this.#listeners.length === 0) return Promise.resolve();
    this.#pending.push(...changes);
    return this.#startRound();
  }

  /** Resolves when the listeners have handled, or failed to handle, all changes so far. */
  settled(): Promise<void> {
    return this.#round;
  }

  /** Resolves when no round runs. No further one is started automatically. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    await this.#round;
  }

  #startRound(): Promise<void> {
    if (this.#nextRound === undefined) {
      this.#nextRound = this.#round.then(() => this.#run());
      this.#round = this.#nextRound;
    }
    return this.#nextRound;
  }

  async #run(): Promise<void> {
    const changes = withoutRepeats(this.#pending);
    this.#pending = [];
    this.#nextRound = undefined;
    for (const listener of this.#listeners) {
      const due = listener.hasMissed ? [EVERYTHING] : changes;
      if (due.length === 0) continue;
      try {
        await listener.notify(due);
        listener.hasMissed = false;
      } catch (error) {
        listener.hasMissed = true;
        this.#log.error(
          { cause: messageOf(error), changes: changes.length },
          'a listener to stored changes failed; retrying soon',
        );
      }
    }
    if (this.#listeners.some(({ hasMissed }) => hasMissed)) this.#notifyLater();
    else this.#backOff.reset();
  }

  #notifyLater(): void {
    if (this.#closed) return;
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined;
      void this.#startRound();
    }, this.#backOff.next()).unref();
  }
}

function withoutRepeats(changes: readonly Change[]): Change[] {
  const seen = new Map<string, Change>();
  for (const change of changes) seen.set(`${change.entity} ${change.id}`, change);
  return [...seen.values()];
}
