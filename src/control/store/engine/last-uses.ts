/**
 * Last uses in memory, which are written at most once a minute for each id. Uses that are not written yet are lost when
 * the process is killed, so a stored time may be a little too old.
 */
import { messageOf, type Clock, type Log } from '#base';

export interface LastUse {
  readonly id: string;
  /** Unix milliseconds. */
  readonly atMs: number;
  /** The client's address, if one of the uses since the last write had one. */
  readonly address: string | undefined;
}

export interface LastUsesOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Names the uses in the log message about a failed write. */
  readonly what: string;
  readonly write: (uses: readonly LastUse[]) => Promise<void>;
}

interface Entry {
  atMs: number;
  address: string | undefined;
  isDirty: boolean;
  /** By the monotonic clock. */
  writtenAtMs: number;
}

const TICK_MS = 5_000;
const WRITE_AGAIN_MS = 60_000;
const SECOND_MS = 1_000;
const IDS_A_STATEMENT = 500;

export class LastUses {
  readonly #options: LastUsesOptions;
  /** Entries that are written are dropped after a minute, so it is bounded by the ids that are in use. */
  readonly #entries = new Map<string, Entry>();
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | undefined;

  constructor(options: LastUsesOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.flush(), TICK_MS);
    this.#timer.unref();
  }

  saw(id: string, address?: string): void {
    const atMs = this.#options.clock.nowMs();
    const entry = this.#entries.get(id);
    if (entry === undefined) {
      this.#entries.set(id, { atMs, address, isDirty: true, writtenAtMs: Number.NEGATIVE_INFINITY });
      return;
    }
    entry.atMs = atMs;
    entry.address = address ?? entry.address;
    entry.isDirty = true;
  }

  /** Writes what was not written in the last minute. Runs by itself, and never fails: what failed stays due. */
  flush(): Promise<void> {
    this.#running ??= this.#write(WRITE_AGAIN_MS).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Writes everything. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
    await this.#write(0);
  }

  async #write(againMs: number): Promise<void> {
    const { clock, log, what, write } = this.#options;
    const nowMs = clock.monotonicMs();
    const due: (LastUse & { readonly entry: Entry })[] = [];
    for (const [id, entry] of this.#entries) {
      if (nowMs - entry.writtenAtMs < againMs) continue;
      if (entry.isDirty) due.push({ id, atMs: entry.atMs, address: entry.address, entry });
      else this.#entries.delete(id);
    }
    if (due.length === 0) return;
    for (const { entry } of due) entry.isDirty = false;
    try {
      await write(due);
    } catch (error) {
      for (const { entry } of due) entry.isDirty = true;
      log.warn({ error: messageOf(error) }, `${what} could not be written; retrying soon`);
      return;
    }
    for (const { entry } of due) {
      entry.writtenAtMs = nowMs;
      if (!entry.isDirty) entry.address = undefined;
    }
  }
}

/** Returns the ids of each second with its latest time, for one statement, sorted, so that two writers lock rows in the same order. */
export function usesBySecond(uses: readonly LastUse[]): { readonly ids: string[]; readonly atMs: number }[] {
  const groups = Map.groupBy(uses, ({ atMs }) => Math.floor(atMs / SECOND_MS));
  return [...groups]
    .sort(([a], [b]) => a - b)
    .flatMap(([, group]) => {
      const atMs = Math.max(...group.map((use) => use.atMs));
      const ids = group.map(({ id }) => id).sort();
      const count = Math.ceil(ids.length / IDS_A_STATEMENT);
      return Array.from({ length: count }, (_, at) => ({
        ids: ids.slice(at * IDS_A_STATEMENT, (at + 1) * IDS_A_STATEMENT),
        atMs,
      }));
    });
}
