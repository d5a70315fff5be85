/**
 * The API sessions that controllers sent to this router: each permits an edge channel, with its token and leaf
 * certificate. A session is valid while at least one controller lists it. A channel can arrive before the controller's
 * message, so it waits for a short time.
 */
import type { ApiSessionRecord } from '#wire/ctrl';

export interface KnownApiSession {
  readonly id: string;
  readonly token: string;
  readonly identityId: string;
  readonly fingerprints: readonly string[];
}

interface Entry {
  session: KnownApiSession;
  /** Ids of the controllers that sent it. */
  readonly vouchers: Set<string>;
}

type Waiter = (session: KnownApiSession | undefined) => void;

const MAX_WAITERS = 4_096;

export class ApiSessionRegistry {
  readonly #byToken = new Map<string, Entry>();
  readonly #waiters = new Map<string, Set<Waiter>>();
  #waiterCount = 0;
  readonly #onRemoved: (session: KnownApiSession) => void;

  constructor(onRemoved: (session: KnownApiSession) => void) {
    this.#onRemoved = onRemoved;
  }

  byToken(token: string): KnownApiSession | undefined {
    return this.#byToken.get(token)?.session;
  }

  /** Resolves with the session, or with undefined if it is still unknown after `timeoutMs`. */
  waitFor(token: string, timeoutMs: number): Promise<KnownApiSession | undefined> {
    const known = this.byToken(token);
    if (known !== undefined || this.#waiterCount >= MAX_WAITERS) return Promise.resolve(known);
    return new Promise((resolve) => {
      const waiters = this.#waiters.get(token) ?? new Set();
      this.#waiters.set(token, waiters);
      const finish: Waiter = (session) => {
        clearTimeout(timer);
        waiters.delete(finish);
        if (waiters.size === 0) this.#waiters.delete(token);
        this.#waiterCount -= 1;
        resolve(session);
      };
      const timer = setTimeout(() => finish(undefined), timeoutMs);
      waiters.add(finish);
      this.#waiterCount += 1;
    });
  }

  add(records: readonly ApiSessionRecord[], controllerId: string): void {
    for (const record of records) {
      const session: KnownApiSession = {
        id: record.id,
        token: record.token,
        identityId: record.identityId,
        fingerprints: record.certFingerprints,
      };
      const entry = this.#byToken.get(session.token);
      if (entry === undefined) {
        this.#byToken.set(session.token, { session, vouchers: new Set([controllerId]) });
      } else {
        entry.session = session;
        entry.vouchers.add(controllerId);
      }
      for (const waiter of [...(this.#waiters.get(session.token) ?? [])]) waiter(session);
    }
  }

  /** Replaces the sessions of one controller. A session that no other controller has sent ends. */
  replaceAll(records: readonly ApiSessionRecord[], controllerId: string): void {
    const tokens = new Set(records.map(({ token }) => token));
    for (const [token, { vouchers }] of this.#byToken) {
      if (!tokens.has(token) && vouchers.delete(controllerId) && vouchers.size === 0) this.remove([token]);
    }
    this.add(records, controllerId);
  }

  /** Ends sessions, no matter which controllers sent them. */
  remove(tokens: readonly string[]): void {
    for (const token of tokens) {
      const entry = this.#byToken.get(token);
      if (entry === undefined) continue;
      this.#byToken.delete(token);
      this.#onRemoved(entry.session);
    }
  }
}
