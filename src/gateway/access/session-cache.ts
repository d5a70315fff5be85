/**
 * Sessions that this gateway has heard of, by cookie: the control plane has them all. Bounded; a session that was ended
 * leaves at once, also when the word of that overtakes the answer to a question about it.
 */
import type { GatewaySession } from '#domain';
import { BoundedMap } from './bounded-map.ts';
import { SessionCaller } from './caller-kinds.ts';
import { ownCopy } from './request-credentials.ts';

export interface SessionCacheOptions {
  readonly find: (token: string) => Promise<GatewaySession | null>;
  readonly monotonicMs: () => number;
  readonly maxSessions: number;
  readonly maxLookups: number;
}

const MAX_UNKNOWN = 20_000;
const MAX_ENDED = 20_000;
/** That there is no such session is believed for so long. */
const UNKNOWN_MS = 10_000;

export class SessionCache {
  readonly #options: SessionCacheOptions;
  readonly #byToken: BoundedMap<string, SessionCaller>;
  /** The same, by the session's id. */
  readonly #byId = new Map<string, SessionCaller>();
  /** Until when a token is held to be none. */
  #unknown = new BoundedMap<string, number>(MAX_UNKNOWN);
  readonly #ended = new BoundedMap<string, true>(MAX_ENDED);
  readonly #lookups = new Map<string, Promise<SessionCaller | undefined>>();
  /** Moves when words may have been missed. */
  #epoch = 0;

  constructor(options: SessionCacheOptions) {
    this.#options = options;
    this.#byToken = new BoundedMap<string, SessionCaller>(options.maxSessions, (dropped) => {
      for (const { session } of dropped) this.#byId.delete(session.id);
    });
  }

  /** Undefined: the control plane must be asked; null: there is none. */
  known(token: string): SessionCaller | null | undefined {
    const caller = this.#byToken.get(token);
    if (caller !== undefined) return caller;
    const untilMs = this.#unknown.get(token);
    return untilMs !== undefined && this.#options.monotonicMs() < untilMs ? null : undefined;
  }

  /** More cannot be asked about just now. */
  get isBusy(): boolean {
    return this.#lookups.size >= this.#options.maxLookups;
  }

  /** Asks the control plane, once for all that ask at the same time. Rejects when it does not answer. */
  find(token: string): Promise<SessionCaller | undefined> {
    const running = this.#lookups.get(token);
    if (running !== undefined) return running;
    const own = ownCopy(token);
    const lookup = this.#ask(own).finally(() => this.#lookups.delete(own));
    this.#lookups.set(own, lookup);
    return lookup;
  }

  /** A session as the control plane told it just now; undefined when it has been ended since. */
  put(token: string, session: GatewaySession, epoch = this.#epoch): SessionCaller | undefined {
    if (this.#ended.get(session.id) === true) return undefined;
    const own = ownCopy(token);
    const known = this.#byToken.get(own);
    this.#unknown.delete(own);
    if (known !== undefined && known.session.id === session.id) {
      known.confirmed(session, epoch);
      return known;
    }
    const caller = new SessionCaller(own, session, epoch);
    this.#byToken.set(own, caller);
    this.#byId.set(session.id, caller);
    return caller;
  }

  /** Brings one up to date that somebody still holds. Never rejects: without an answer it stays as it is. */
  async confirm(caller: SessionCaller): Promise<void> {
    if (this.#lookups.has(caller.token) || this.isBusy) return;
    try {
      const found = await this.find(caller.token);
      if (found === undefined) caller.isEnded = true;
      else if (found !== caller) caller.confirmed(found.session, found.epoch);
      caller.idleSinceMs = caller.lastUsedMs;
    } catch {
      // The next look asks again; without the control plane nobody is believed for long.
    }
  }

  hasEnded(id: string): boolean {
    return this.#ended.get(id) === true;
  }

  end(ids: readonly string[]): void {
    for (const id of ids) {
      this.#ended.set(id, true);
      const caller = this.#byId.get(id);
      if (caller !== undefined) this.#forget(caller);
    }
  }

  /** Words may have been missed: each session is asked about before it is believed again. */
  doubt(): void {
    this.#epoch += 1;
    this.#unknown = new BoundedMap(MAX_UNKNOWN);
  }

  isDoubtful(caller: SessionCaller): boolean {
    return caller.epoch !== this.#epoch;
  }

  async #ask(token: string): Promise<SessionCaller | undefined> {
    const epoch = this.#epoch;
    const session = await this.#options.find(token);
    // Words that were missed since the question leave the answer in doubt.
    if (session !== null) {
      if (!isSession(session)) throw new Error('the session that the control plane found cannot be read');
      return this.put(token, session, epoch);
    }
    const known = this.#byToken.get(token);
    if (known !== undefined) this.#forget(known);
    this.#unknown.set(token, this.#options.monotonicMs() + UNKNOWN_MS);
    return undefined;
  }

  #forget(caller: SessionCaller): void {
    caller.isEnded = true;
    this.#byToken.delete(caller.token);
    this.#byId.delete(caller.session.id);
  }
}

/** A session that another version of the control plane describes otherwise proves no identity. */
function isSession({ id, shareId, host, providerId, providerVersion, identity }: GatewaySession): boolean {
  return (
    [id, shareId, host, providerId].every((text) => typeof text === 'string') &&
    Number.isSafeInteger(providerVersion) &&
    typeof identity === 'object' &&
    identity !== null &&
    typeof identity.subject === 'string' &&
    Array.isArray(identity.groups)
  );
}
