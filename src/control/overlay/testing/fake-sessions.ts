/** API sessions for tests, without log-ins, expiry or a store. */
import type { Posture } from '#domain/posture';
import type { ApiSession, ApiSessions } from '../model/api-sessions.ts';

export class FakeSessions implements ApiSessions {
  readonly #byToken = new Map<string, ApiSession>();
  readonly touched: string[] = [];
  readonly #listeners: Record<
    'added' | 'updated' | 'removed' | 'posture',
    ((session: ApiSession) => void)[]
  > = {
    added: [],
    updated: [],
    removed: [],
    posture: [],
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

  /** The device of a session has reported this posture. */
  setPosture(token: string, posture: Posture): void {
    const session = this.#byToken.get(token);
    if (session === undefined) return;
    const changed = { ...session, posture };
    this.#byToken.set(token, changed);
    for (const listener of this.#listeners.posture) listener(changed);
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

  onPostureChanged(listener: (session: ApiSession) => void): void {
    this.#listeners.posture.push(listener);
  }
}
