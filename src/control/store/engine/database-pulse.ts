/**
 * Notices a database that does not answer. A statement may take long, so silence alone proves nothing: only when a probe (a
 * new connection to PostgreSQL, a statement to the embedded database's thread) has no answer either is the database given up.
 * Everything that waits for it then fails, as does everything that asks for it, until a probe is answered again.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { BackOff, messageOf, type Log } from '#base';
import { storeUnavailable } from './store-errors.ts';

export interface PulseOptions {
  /** Resolves when the database answered, also with a refusal. It has its own deadline. */
  readonly probe: () => Promise<void>;
  readonly log: Log;
  /** Called when the database answers again after it was given up. */
  readonly onRecovered?: (() => void) | undefined;
  /** How long the database may be silent before it is probed. */
  readonly silenceMs?: number | undefined;
}

const SILENCE_MS = 1_000;
const LOOKS_PER_SILENCE = 4;

interface Wait {
  readonly sinceMs: number;
  readonly giveUp: (error: Error) => void;
}

export class DatabasePulse {
  readonly #options: PulseOptions;
  readonly #silenceMs: number;
  readonly #backOff = new BackOff({ minMs: 250, maxMs: 2_000, factor: 2 });
  /** In the order of their beginnings. */
  readonly #waits = new Set<Wait>();
  #heardMs = -Infinity;
  #isSilent = false;
  #isProbing = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;

  constructor(options: PulseOptions) {
    this.#options = options;
    this.#silenceMs = options.silenceMs ?? SILENCE_MS;
  }

  /**
   * Begins a wait for the database. `giveUp` is called if the database does not answer. The caller ends the wait with
   * the returned function, which takes whether the server answered. Errors: `unavailable`.
   */
  wait(giveUp: (error: Error) => void): (isAnswered: boolean) => void {
    this.refuseSilent();
    const wait = { sinceMs: performance.now(), giveUp };
    this.#waits.add(wait);
    this.#timer ??= setInterval(() => this.#look(), this.#silenceMs / LOOKS_PER_SILENCE).unref();
    return (isAnswered) => {
      this.#waits.delete(wait);
      if (isAnswered) this.#heardMs = performance.now();
    };
  }

  /** Throws `unavailable` while the database is given up. */
  refuseSilent(): void {
    if (this.#isSilent) throw silence();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#retry);
  }

  #look(): void {
    const [oldest] = this.#waits;
    if (oldest === undefined) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const sinceMs = Math.max(oldest.sinceMs, this.#heardMs);
    if (performance.now() - sinceMs >= this.#silenceMs && !this.#isProbing) void this.#prove();
  }

  async #prove(): Promise<void> {
    const beganMs = performance.now();
    this.#isProbing = true;
    try {
      await this.#options.probe();
      this.#recover();
    } catch (error) {
      // After a pause of this process, answers that have already arrived are read first.
      await turn();
      if (this.#heardMs < beganMs) this.#giveUp(error);
      else this.#recover();
    } finally {
      this.#isProbing = false;
    }
  }

  #recover(): void {
    this.#heardMs = performance.now();
    this.#backOff.reset();
    if (!this.#isSilent) return;
    this.#isSilent = false;
    this.#options.log.info({}, 'the database answers again');
    this.#options.onRecovered?.();
  }

  #giveUp(cause: unknown): void {
    if (this.#isClosed) return;
    if (!this.#isSilent)
      this.#options.log.warn(
        { cause: messageOf(cause) },
        'the database does not answer: requests are refused',
      );
    this.#isSilent = true;
    const waits = [...this.#waits];
    this.#waits.clear();
    for (const { giveUp } of waits) giveUp(silence());
    this.#retry = setTimeout(() => void this.#prove(), this.#backOff.next()).unref();
  }
}

function silence(): Error {
  return storeUnavailable('does not answer');
}
