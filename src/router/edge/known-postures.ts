/**
 * Finds the posture of an API session for further channels of it: an SDK reports its posture once. Only sessions that have
 * reported one are kept, for as long as any of their channels, or the memory that has not been freed since, refers to it.
 */
import type { SessionPosture } from '#domain/posture';

interface SessionIds {
  readonly identityId: string;
}

export class KnownPostures {
  readonly #postures = new Map<string, WeakRef<SessionPosture>>();
  readonly #freed = new FinalizationRegistry<string>((key) => {
    if (this.#postures.get(key)?.deref() === undefined) this.#postures.delete(key);
  });

  /** Returns the posture of the session that the token belongs to; undefined if no device has reported one. */
  of({ identityId, sessionId }: SessionIds & { readonly sessionId: string }): SessionPosture | undefined {
    return this.#postures.get(keyOf(identityId, sessionId))?.deref();
  }

  add({
    identityId,
    id,
    posture,
  }: SessionIds & { readonly id: string; readonly posture: SessionPosture }): void {
    const key = keyOf(identityId, id);
    if (this.#postures.get(key)?.deref() !== undefined) return;
    this.#postures.set(key, new WeakRef(posture));
    this.#freed.register(posture, key);
  }
}

function keyOf(identityId: string, sessionId: string): string {
  return `${identityId} ${sessionId}`;
}
