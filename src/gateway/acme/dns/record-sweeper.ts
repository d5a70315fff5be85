/**
 * Removes the TXT records that orders left behind: at the start, when no order runs, and then every hour those that are
 * older than an order can be. A record that cannot be removed for a month is given up, so that their number is bounded.
 */
import { messageOf, systemClock, type Clock, type Log } from '#base';
import type { KeptChallengeRecord } from '#domain/agent-shapes';
import type { DnsProvider } from './dns-provider.ts';
import type { RecordJournal } from './record-journal.ts';

const INTERVAL_MS = 3_600_000;
/** Longer than an order takes. */
const MIN_AGE_MS = 900_000;
const GIVEN_UP_AFTER_MS = 30 * 86_400_000;
const REMOVAL_MS = 120_000;
/** After so many failures in a row the others wait for the next time. */
const MAX_FAILURES = 3;

export interface RecordSweeperOptions {
  readonly journal: RecordJournal;
  readonly providerName: string;
  readonly open: () => Promise<DnsProvider>;
  readonly log: Log;
  readonly clock?: Pick<Clock, 'nowMs'> | undefined;
}

export class RecordSweeper {
  readonly #options: RecordSweeperOptions;
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> = Promise.resolve();

  constructor(options: RecordSweeperOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** Before the first order. */
  start(): void {
    void this.sweep(0);
    this.#timer = setInterval(() => void this.sweep(), INTERVAL_MS);
    this.#timer.unref();
  }

  /** Never rejects. */
  sweep(minAgeMs = MIN_AGE_MS): Promise<void> {
    // Orders that begin now have newer records.
    const untilMs = this.#clock.nowMs() - minAgeMs;
    this.#sweeping = this.#sweeping.then(() => this.#sweep(untilMs));
    return this.#sweeping;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#closing.abort();
    await this.#sweeping;
  }

  async #sweep(untilMs: number): Promise<void> {
    const { journal, log, open } = this.#options;
    if (this.#closing.signal.aborted) return;
    const left = (await journal.list()).filter(({ atMs }) => atMs <= untilMs);
    if (left.length === 0) return;
    try {
      const provider = await open();
      try {
        await this.#removeAll(left, provider);
      } finally {
        await provider.close();
      }
    } catch (error) {
      log.warn(
        { hop: 'gateway', cause: messageOf(error) },
        'TXT records that are left behind wait for removal',
      );
    }
  }

  async #removeAll(left: readonly KeptChallengeRecord[], provider: DnsProvider): Promise<void> {
    const { journal, log } = this.#options;
    let [removed, failures] = [0, 0];
    for (const record of left) {
      if (this.#closing.signal.aborted || failures >= MAX_FAILURES) break;
      const cause = await this.#remove(record, provider);
      failures = cause === undefined ? 0 : failures + 1;
      if (cause === undefined) removed += 1;
      const isGivenUp = this.#clock.nowMs() - record.atMs > GIVEN_UP_AFTER_MS;
      if (cause === undefined || isGivenUp) await journal.forget(record);
      if (cause === undefined || this.#closing.signal.aborted) continue;
      const fields = { hop: 'gateway', record: record.target, cause, isGivenUp };
      log.warn(fields, 'a TXT record that was left behind could not be removed');
    }
    if (removed > 0) log.info({ hop: 'gateway', removed }, 'TXT records that were left behind are removed');
  }

  /** Returns the reason of a failure. */
  async #remove(record: KeptChallengeRecord, provider: DnsProvider): Promise<string | undefined> {
    if (record.provider !== this.#options.providerName)
      return `it was created by ${record.provider}: remove it by hand`;
    try {
      const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(REMOVAL_MS)]);
      await provider.remove(record, signal);
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }
}
