/**
 * The API sessions: answered from memory, kept in the store (token sealed and as an HMAC), so that a restart of the
 * control plane logs nobody out. A session idles out after 30 minutes without a call or a router's heartbeat; new
 * ends of life are written in batches.
 */
import { randomUUID } from 'node:crypto';
import { messageOf, type Clock, type Log } from '#base';
import type { ApiSession, ApiSessions } from '../model/api-sessions.ts';
import type { OverlayModel } from '../model/overlay-model.ts';
import type { Secrets } from '../secrets/secrets.ts';
import type { Store } from '../store/store.ts';

export const SESSION_IDLE_MS = 30 * 60_000;
const TICK_MS = 30_000;
/** After a restart, time for routers to come back and vouch for the sessions that they carry. */
const RESTART_GRACE_MS = 5 * 60_000;
const MAX_SESSIONS_PER_IDENTITY = 64;
const BATCH = 500;

export interface ApiSessionOptions {
  readonly store: Store;
  readonly secrets: Pick<Secrets, 'hmac' | 'seal' | 'unseal'>;
  readonly model: OverlayModel;
  readonly clock: Clock;
  readonly log: Log;
}

/** A session with what only the edge API reads. */
export interface LiveSession extends ApiSession {
  readonly configTypes: readonly string[];
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

interface Entry {
  id: string;
  token: string;
  identityId: string;
  /** Of the certificate that logged in. */
  ownFingerprint: string;
  fingerprints: readonly string[];
  configTypes: readonly string[];
  createdAtMs: number;
  expiresAtMs: number;
  /** What the store holds. */
  storedExpiresAtMs: number;
}

type Listener = (session: ApiSession) => void;

/** Loads the sessions that live. The model must be filled before: sessions of unknown identities are dropped. */
export async function openApiSessions(options: ApiSessionOptions): Promise<ApiSessionStore> {
  const sessions = new ApiSessionStore(options);
  await sessions.load();
  return sessions;
}

export class ApiSessionStore implements ApiSessions {
  readonly #options: ApiSessionOptions;
  readonly #byId = new Map<string, Entry>();
  readonly #byToken = new Map<string, Entry>();
  readonly #byIdentity = new Map<string, Set<Entry>>();
  readonly #added: Listener[] = [];
  readonly #updated: Listener[] = [];
  readonly #removed: Listener[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(options: ApiSessionOptions) {
    this.#options = options;
    options.model.onChange((change) => {
      if (change.type === 'identity') this.#follow(change.id);
    });
    this.#timer = setInterval(() => {
      this.tick().catch((error: unknown) =>
        options.log.error({ error: messageOf(error) }, 'API sessions could not be written; tried again soon'),
      );
    }, TICK_MS);
    this.#timer.unref();
  }

  async load(): Promise<void> {
    const { store, secrets, model, clock, log } = this.#options;
    const nowMs = clock.nowMs();
    await store.db.deleteFrom('api_session').where('expires_at', '<=', nowMs).execute();
    for (const row of await store.db.selectFrom('api_session').selectAll().execute()) {
      const identity = model.identity(row.identity_id);
      if (identity === undefined) continue;
      try {
        this.#insert({
          id: row.id,
          token: secrets.unseal(row.token_sealed),
          identityId: row.identity_id,
          ownFingerprint: row.fingerprint,
          fingerprints: withOwn(row.fingerprint, identity.fingerprints),
          configTypes: JSON.parse(row.config_types) as string[],
          createdAtMs: row.created_at,
          expiresAtMs: Math.max(row.expires_at, nowMs + RESTART_GRACE_MS),
          storedExpiresAtMs: row.expires_at,
        });
      } catch (error) {
        log.warn({ apiSession: row.id, error: messageOf(error) }, 'an API session cannot be read: dropped');
      }
    }
  }

  byToken(token: string): LiveSession | undefined {
    return this.#alive(this.#byToken.get(token));
  }

  byId(id: string): LiveSession | undefined {
    return this.#alive(this.#byId.get(id));
  }

  all(): IterableIterator<ApiSession> {
    return this.#byId.values();
  }

  onAdded(listener: Listener): void {
    this.#added.push(listener);
  }

  onUpdated(listener: Listener): void {
    this.#updated.push(listener);
  }

  onRemoved(listener: Listener): void {
    this.#removed.push(listener);
  }

  touch(tokens: readonly string[]): void {
    const expiresAtMs = this.#options.clock.nowMs() + SESSION_IDLE_MS;
    for (const token of tokens) {
      const entry = this.#byToken.get(token);
      if (entry !== undefined && this.#alive(entry) !== undefined) entry.expiresAtMs = expiresAtMs;
    }
  }

  /** Logs an identity in; durable when it returns. Too many sessions of one identity: its oldest goes. */
  async create(
    identityId: string,
    fingerprint: string,
    configTypes: readonly string[],
  ): Promise<LiveSession> {
    const { store, secrets, clock, model } = this.#options;
    const nowMs = clock.nowMs();
    const entry: Entry = {
      id: randomUUID(),
      token: randomUUID(),
      identityId,
      ownFingerprint: fingerprint,
      fingerprints: withOwn(fingerprint, model.identity(identityId)?.fingerprints ?? []),
      configTypes,
      createdAtMs: nowMs,
      expiresAtMs: nowMs + SESSION_IDLE_MS,
      storedExpiresAtMs: nowMs + SESSION_IDLE_MS,
    };
    await store.db
      .insertInto('api_session')
      .values({
        id: entry.id,
        identity_id: identityId,
        token_hmac: secrets.hmac(entry.token),
        token_sealed: secrets.seal(entry.token),
        fingerprint,
        config_types: JSON.stringify(configTypes),
        created_at: nowMs,
        expires_at: entry.expiresAtMs,
      })
      .execute();
    this.#insert(entry);
    // The identity may have gone while the row was written.
    if (model.identity(identityId) === undefined) await this.remove(entry.id);
    const others = this.#byIdentity.get(identityId);
    if (others !== undefined && others.size > MAX_SESSIONS_PER_IDENTITY) {
      const oldest = [...others].reduce((a, b) => (a.expiresAtMs <= b.expiresAtMs ? a : b));
      await this.remove(oldest.id);
    }
    return entry;
  }

  /** Ends a session at once; the store forgets it before this returns. */
  async remove(id: string): Promise<void> {
    this.#drop(id);
    await this.#options.store.db.deleteFrom('api_session').where('id', '=', id).execute();
  }

  /** Ends what idled out and writes new ends of life; runs every 30 s by itself. */
  async tick(): Promise<void> {
    const { store, clock } = this.#options;
    const nowMs = clock.nowMs();
    const dead = [...this.#byId.values()].filter((entry) => entry.expiresAtMs <= nowMs).map(({ id }) => id);
    for (const id of dead) this.#drop(id);
    // By id: the row of a session that was touched may look dead until its new end of life is written below.
    for (let from = 0; from < dead.length; from += BATCH) {
      const batch = dead.slice(from, from + BATCH);
      await store.db.deleteFrom('api_session').where('id', 'in', batch).execute();
    }
    const moved = [...this.#byId.values()].filter(
      (entry) => entry.expiresAtMs > entry.storedExpiresAtMs + TICK_MS,
    );
    for (let from = 0; from < moved.length; from += BATCH) {
      const batch = moved.slice(from, from + BATCH);
      const expiresAtMs = batch.reduce((latest, entry) => Math.max(latest, entry.expiresAtMs), 0);
      await store.db
        .updateTable('api_session')
        .set({ expires_at: expiresAtMs })
        .where(
          'id',
          'in',
          batch.map((entry) => entry.id),
        )
        .execute();
      for (const entry of batch) entry.storedExpiresAtMs = expiresAtMs;
    }
  }

  /** Writes what is open. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.tick();
  }

  #alive(entry: Entry | undefined): LiveSession | undefined {
    if (entry === undefined || entry.expiresAtMs > this.#options.clock.nowMs()) return entry;
    return undefined;
  }

  /**
   * A session's token goes with the certificate that logged in (its channels outlive a renewal) and with every
   * present one of the identity.
   */
  #follow(identityId: string): void {
    const entries = this.#byIdentity.get(identityId);
    if (entries === undefined) return;
    const identity = this.#options.model.identity(identityId);
    for (const entry of entries) {
      if (identity === undefined) {
        this.#drop(entry.id);
        continue;
      }
      const fingerprints = withOwn(entry.ownFingerprint, identity.fingerprints);
      if (entry.fingerprints.join() === fingerprints.join()) continue;
      entry.fingerprints = fingerprints;
      for (const listener of this.#updated) listener(entry);
    }
  }

  #insert(entry: Entry): void {
    this.#byId.set(entry.id, entry);
    this.#byToken.set(entry.token, entry);
    const others = this.#byIdentity.get(entry.identityId);
    if (others === undefined) this.#byIdentity.set(entry.identityId, new Set([entry]));
    else others.add(entry);
    for (const listener of this.#added) listener(entry);
  }

  #drop(id: string): void {
    const entry = this.#byId.get(id);
    if (entry === undefined) return;
    this.#byId.delete(id);
    this.#byToken.delete(entry.token);
    const others = this.#byIdentity.get(entry.identityId);
    if (others?.delete(entry) === true && others.size === 0) this.#byIdentity.delete(entry.identityId);
    for (const listener of this.#removed) listener(entry);
  }
}

function withOwn(own: string, present: readonly string[]): readonly string[] {
  return present.includes(own) ? present : [own, ...present];
}
