/**
 * The API sessions that controllers told this router: who may open an edge channel, with which token and leaf
 * certificate. A channel may come before the controller's message: it waits a little.
 */
import type { ApiSessionRecord } from '#wire/ctrl';

export interface KnownApiSession {
  readonly id: string;
  readonly token: string;
  readonly identityId: string;
  readonly fingerprints: readonly string[];
}

type Waiter = (session: KnownApiSession | undefined) => void;

const MAX_WAITERS = 4_096;

export class ApiSessionRegistry {
  readonly #byToken = new Map<string, KnownApiSession>();
  readonly #waiters = new Map<string, Set<Waiter>>();
  #waiterCount = 0;
  readonly #onRemoved: (session: KnownApiSession) => void;

  constructor(onRemoved: (session: KnownApiSession) => void) {
    this.#onRemoved = onRemoved;
  }

  byToken(token: string): KnownApiSession | undefined {
    return this.#byToken.get(token);
  }

  /** The session, at the latest after `timeoutMs`; undefined when it stays unknown. */
  waitFor(token: string, timeoutMs: number): Promise<KnownApiSession | undefined> {
    const known = this.#byToken.get(token);
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

  add(records: readonly ApiSessionRecord[]): void {
    for (const record of records) {
      const session: KnownApiSession = {
        id: record.id,
        token: record.token,
        identityId: record.identityId,
        fingerprints: record.certFingerprints,
      };
      this.#byToken.set(session.token, session);
      for (const waiter of [...(this.#waiters.get(session.token) ?? [])]) waiter(session);
    }
  }

  /** The whole set at once: what is not in it is over. */
  replaceAll(records: readonly ApiSessionRecord[]): void {
    const tokens = new Set(records.map(({ token }) => token));
    this.remove([...this.#byToken.keys()].filter((token) => !tokens.has(token)));
    this.add(records);
  }

  remove(tokens: readonly string[]): void {
    for (const token of tokens) {
      const session = this.#byToken.get(token);
      if (session === undefined) continue;
      this.#byToken.delete(token);
      this.#onRemoved(session);
    }
  }
}
