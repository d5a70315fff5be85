/** API sessions for tests, without log-ins, expiry or a store. */
import type { ApiSession, ApiSessions } from '../../model/mod.ts';

export class FakeSessions implements ApiSessions {
  readonly #byToken = new Map<string, ApiSession>();
  readonly touched: string[] = [];
  readonly #listeners: Record<'added' | 'updated' | 'removed', ((session: ApiSession) => void)[]> = {
    added: [],
    updated: [],
    removed: [],
  };

  add(session: ApiSession): void {
    this.#byToken.set(session.token, session);
    for (const listener of this.#listeners.added) listener(session);
  }

  remove(token: string): void {
    const session = this.#byToken.get(token);
    if (session === undefined || !this.#byToken.delete(token)) return;
    for (const listener of this.#listeners.removed) listener(session);
  }

  byToken(token: string): ApiSession | undefined {
    return this.#byToken.get(token);
  }

  byId(id: string): ApiSession | undefined {
    return [...this.#byToken.values()].find((session) => session.id === id);
  }

  all(): IterableIterator<ApiSession> {
    return this.#byToken.values();
  }

  touch(tokens: readonly string[]): void {
    this.touched.push(...tokens);
  }

  onAdded(listener: (session: ApiSession) => void): void {
    this.#listeners.added.push(listener);
  }

  onUpdated(listener: (session: ApiSession) => void): void {
    this.#listeners.updated.push(listener);
  }

  onRemoved(listener: (session: ApiSession) => void): void {
    this.#listeners.removed.push(listener);
  }
}
