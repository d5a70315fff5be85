/**
 * Ends of API sessions with signed tokens, read from the store, so that a restart does not forget them and each control
 * plane learns of those at others. They are removed when no token of their session can be valid.
 */
import type { Clock, Log } from '#base';
import type { EndedSession, EndedSessions } from '../model/api-sessions.ts';
import { StoreSweep, type Change, type Store } from '../../store/mod.ts';

export const ACCESS_LIFETIME_MS = 30 * 60_000;
/** Longer than routers may be behind us with their clocks. */
const CLOCK_TOLERANCE_MS = 5 * 60_000;
const KEPT_MS = ACCESS_LIFETIME_MS + CLOCK_TOLERANCE_MS;
const SWEEP_MS = 60_000;
const STATEMENTS_A_SWEEP = 50;
/** As many as routers get. */
const MAX_READ = 10_000;
const ROWS_A_QUERY = 500;

export class SessionRevocations extends StoreSweep implements EndedSessions {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #known = new Map<string, EndedSession>();
  readonly #listeners: ((ended: EndedSession) => void)[] = [];

  private constructor(parts: { readonly store: Store; readonly clock: Clock; readonly log: Log }) {
    super(parts, 'ends of sessions', SWEEP_MS);
    this.#store = parts.store;
    this.#clock = parts.clock;
    // Before the first read, because another control plane may end a session in between.
    parts.store.onChange((changes) => this.#follow(changes));
  }

  /** Rejects with errors of the store. */
  static async open(parts: {
    readonly store: Store;
    readonly clock: Clock;
    readonly log: Log;
  }): Promise<SessionRevocations> {
    const revocations = new SessionRevocations(parts);
    await revocations.#read();
    return revocations;
  }

  follow(listener: (ended: EndedSession) => void): void {
    for (const ended of this.#known.values()) listener(ended);
    this.#listeners.push(listener);
  }

  protected async pass(nowMs: number): Promise<void> {
    const beforeMs = nowMs - KEPT_MS;
    for (const [id, { endedAtMs }] of this.#known) if (endedAtMs < beforeMs) this.#known.delete(id);
    await this.deleteAll(async (most) => {
      const { db } = this.#store;
      const old = await db
        .selectFrom('session_revocation')
        .select('session_id')
        .where('ended_at', '<', beforeMs)
        .limit(most)
        .execute();
      const ids = old.map((row) => row.session_id);
      if (ids.length > 0) await db.deleteFrom('session_revocation').where('session_id', 'in', ids).execute();
      return ids.length;
    }, STATEMENTS_A_SWEEP);
  }

  async #follow(changes: readonly Change[]): Promise<void> {
    if (changes.some(({ entity }) => entity === 'everything')) return this.#read();
    const ids = changes.filter(({ entity }) => entity === 'session-revocation').map(({ id }) => id);
    for (let from = 0; from < ids.length; from += ROWS_A_QUERY)
      await this.#read(ids.slice(from, from + ROWS_A_QUERY));
  }

  /** Reads all of them, or those of `ids`. */
  async #read(ids?: readonly string[]): Promise<void> {
    const rows = await this.#store.db
      .selectFrom('session_revocation')
      .select(['session_id', 'ended_at'])
      .$if(ids !== undefined, (query) => query.where('session_id', 'in', ids!))
      .where('ended_at', '>=', this.#clock.nowMs() - KEPT_MS)
      .orderBy('ended_at', 'desc')
      .limit(MAX_READ)
      .execute();
    for (const row of rows.reverse()) {
      if (this.#known.has(row.session_id)) continue;
      const ended = { id: row.session_id, endedAtMs: row.ended_at };
      this.#known.set(ended.id, ended);
      for (const listener of this.#listeners) listener(ended);
    }
  }
}
