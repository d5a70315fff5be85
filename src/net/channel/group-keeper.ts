/**
 * Keeps the group of connections of a dialed channel complete. Missing connections are dialed one after another:
 * at once after a loss, and after failures with a delay that grows by 2 s each time, up to a minute.
 */
import { messageOf, type Log } from '#base';

export interface ConnectionType {
  /** `link.default`, `link.ack`, … */
  readonly type: string;
  readonly desired: number;
  /** The channel ends if it has fewer. */
  readonly min: number;
}

export interface GroupKeeperOptions {
  readonly types: readonly ConnectionType[];
  /** Delay between the first connection and the others. */
  readonly startupDelayMs: number;
  readonly log: Log;
  /** Dials another connection and adds it to the channel. */
  join(type: string): Promise<void>;
  countOf(type: string): number;
}

const RETRY_STEP_MS = 2_000;
const MAX_RETRY_MS = 60_000;
/** A connection that the peer accepts and closes sooner counts as refused. */
const STEADY_MS = 10_000;

export class GroupKeeper {
  readonly #options: GroupKeeperOptions;
  #failures = 0;
  #isDialing = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: GroupKeeperOptions) {
    this.#options = options;
    this.#completeIn(options.startupDelayMs);
  }

  /** A connection was lost after this time. */
  onLost(livedMs: number): void {
    this.#failures = livedMs < STEADY_MS ? this.#failures + 1 : 0;
    if (this.#isDialing || this.#timer !== undefined) return;
    this.#completeIn(this.#retryMs());
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #completeIn(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#complete();
    }, delayMs);
  }

  async #complete(): Promise<void> {
    const { join, log } = this.#options;
    const failures = this.#failures;
    let missing = this.#missing();
    this.#isDialing = true;
    try {
      for (; missing !== undefined && this.#failures === failures; missing = this.#missing()) {
        await join(missing.type);
      }
    } catch (error) {
      this.#failures += 1;
      const fields = { type: missing?.type, err: messageOf(error), retryInMs: this.#retryMs() };
      if (!this.#isClosed) log.warn(fields, 'a connection of a channel is missing');
    }
    this.#isDialing = false;
    if (this.#missing() !== undefined) this.#completeIn(this.#retryMs());
  }

  #missing(): ConnectionType | undefined {
    if (this.#isClosed) return undefined;
    const { types, countOf } = this.#options;
    return types.find(({ type, desired }) => countOf(type) < desired);
  }

  #retryMs(): number {
    return Math.min(RETRY_STEP_MS * this.#failures, MAX_RETRY_MS);
  }
}
