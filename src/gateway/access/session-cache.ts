/**
 * A bounded cache of sessions by cookie; the control plane has all of them. A session that was ended is evicted
 * at once, even if that notification overtakes the response to a look-up.
 */
import type { GatewaySession } from '#domain/gateway-shapes';
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
/** How long an unknown session is remembered as unknown. */
const UNKNOWN_MS = 10_000;

export class SessionCache {
  readonly #options: SessionCacheOptions;
  readonly #byToken: BoundedMap<string, SessionCaller>;
  /** The same sessions by id. */
  readonly #byId = new Map<string, SessionCaller>();
  /** Time until which a token is known to have no session. */
  #unknown = new BoundedMap<string, number>(MAX_UNKNOWN);
  readonly #ended = new BoundedMap<string, true>(MAX_ENDED);
  readonly #lookups = new Map<string, Promise<SessionCaller | undefined>>();
  /** Incremented when notifications may have been lost. */
  #epoch = 0;

  constructor(options: SessionCacheOptions) {
    this.#options = options;
    this.#byToken = new BoundedMap<string, SessionCaller>(options.maxSessions, (dropped) => {
      for (const { session } of dropped) this.#byId.delete(session.id);
    });
  }

  /** Returns undefined if the control plane must be asked, or null if there is no such session. */
  known(token: string): SessionCaller | null | undefined {
    const caller = this.#byToken.get(token);
    if (caller !== undefined) return caller;
    const untilMs = this.#unknown.get(token);
    return untilMs !== undefined && this.#options.monotonicMs() < untilMs ? null : undefined;
  }

  /** Whether too many look-ups are pending. */
  get isBusy(): boolean {
    return this.#lookups.size >= this.#options.maxLookups;
  }

  /**
   * Looks the session up at the control plane; concurrent callers share one request. Rejects if there is no
   * response.
   */
  find(token: string): Promise<SessionCaller | undefined> {
    const running = this.#lookups.get(token);
    if (running !== undefined) return running;
    const own = ownCopy(token);
    const lookup = this.#ask(own).finally(() => this.#lookups.delete(own));
    this.#lookups.set(own, lookup);
    return lookup;
  }

  /** Stores a session that the control plane just returned. Returns undefined if it has been ended since. */
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

  /** Refreshes a session that is in use. Never rejects; without a response the session stays as it is. */
  async confirm(caller: SessionCaller): Promise<void> {
    if (this.#lookups.has(caller.token) || this.isBusy) return;
    try {
      const found = await this.find(caller.token);
      if (found === undefined) caller.isEnded = true;
      else if (found !== caller) caller.confirmed(found.session, found.epoch);
      caller.idleSinceMs = caller.lastUsedMs;
    } catch {
      // The next check asks again. Without the control plane, no identity is trusted for long.
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

  /** Called when notifications may have been lost. Each session is confirmed before it is trusted again. */
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
    // Notifications that were lost since the request leave the response uncertain.
    if (session !== null) return this.put(token, session, epoch);
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
