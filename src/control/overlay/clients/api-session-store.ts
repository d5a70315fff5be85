/**
 * The API sessions, read from memory and kept in the store (the token encrypted and as an HMAC), so that a
 * restart of the control plane logs nobody out, and sessions of other control planes are valid here. A session
 * expires after 30 minutes without a call or a router's heartbeat at any control plane. New expiry times are
 * written in batches. Expiry times in memory are in the time of leases, so that setting the machine's clock ends no
 * session; those in the store are Unix ms.
 */
import { randomUUID } from 'node:crypto';
import { LeaseClock, messageOf, type Clock, type Log } from '#base';
import type { SessionPosture } from '#domain/posture';
import type { ApiSession, ApiSessions } from '../model/api-sessions.ts';
import type { OverlayModel } from '../model/overlay-model.ts';
import type { Secrets } from '../../secrets/mod.ts';
import type { Store, StoreTransaction, Touch } from '../../store/mod.ts';
import { ApiSessionIndex, type SessionEntry } from './api-session-index.ts';
import { endRow } from './api-session-ends.ts';
import { ApiSessionFollower } from './api-session-follower.ts';
import {
  activateRow,
  changeCertificates,
  changePosture,
  currentRefresh,
  deleteEndedRows,
  extendRows,
  idsOf,
  readSessionRows,
  replaceRefresh,
  rowOf,
  sessionRowOf,
  type SessionCertificate,
  type SessionForm,
  type SessionWay,
  type StoredSession,
} from './api-session-rows.ts';

export const SESSION_IDLE_MS = 30 * 60_000;
/** How long a session of signed tokens lasts without a refresh, and so its refresh token. */
export const SIGNED_LIFETIME_MS = 24 * 3_600_000;
/** How long a log-in through OpenID Connect may take until its code is exchanged. */
const PENDING_LIFETIME_MS = 5 * 60_000;
const TICK_MS = 30_000;
/** After a restart, time for routers to reconnect and confirm the sessions of their channels. */
const RESTART_GRACE_MS = 5 * 60_000;
const MAX_SESSIONS_PER_IDENTITY = 64;
/** Another control plane stores a session's new expiry within this time. */
const OTHERS_LAG_MS = 2 * TICK_MS;

export interface ApiSessionOptions {
  readonly store: Store;
  readonly secrets: Pick<Secrets, 'hmac' | 'seal' | 'unseal'>;
  readonly model: OverlayModel;
  readonly clock: Clock;
  readonly log: Log;
  /** Returns the session that a signed token names; undefined if the token is not ours, or has expired. */
  readonly verifyAccess: (
    token: string,
  ) => { readonly sessionId: string; readonly identityId: string } | undefined;
}

/** A session with fields that only the edge API reads. */
export interface LiveSession extends ApiSession, SessionWay {
  readonly form: SessionForm;
  readonly certificates: readonly SessionCertificate[];
  readonly configTypes: readonly string[];
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

type Listener = (session: ApiSession) => void;

/** How a session begins, where that is not by certificate, or its id and token were given before. */
export interface SessionStart extends Partial<SessionWay> {
  readonly id?: string | undefined;
  readonly token?: string | undefined;
}

/** Loads the live sessions. The model must be filled before, because sessions of unknown identities are dropped. */
export async function openApiSessions(options: ApiSessionOptions): Promise<ApiSessionStore> {
  const sessions = new ApiSessionStore(options);
  await sessions.load();
  return sessions;
}

export class ApiSessionStore implements ApiSessions {
  readonly #options: ApiSessionOptions;
  readonly #index: ApiSessionIndex;
  readonly #leases: LeaseClock;
  readonly #rows: ApiSessionFollower;
  readonly #timer: NodeJS.Timeout;

  constructor(options: ApiSessionOptions) {
    this.#options = options;
    this.#index = new ApiSessionIndex(options.model);
    this.#leases = new LeaseClock(options.clock);
    this.#rows = new ApiSessionFollower({ ...options, index: this.#index, leases: this.#leases });
    this.#timer = setInterval(() => {
      this.tick().catch((error: unknown) =>
        options.log.error({ error: messageOf(error) }, 'API sessions could not be written; retrying soon'),
      );
    }, TICK_MS);
    this.#timer.unref();
  }

  async load(): Promise<void> {
    const { store, model, clock } = this.#options;
    const nowMs = clock.nowMs();
    const rows = await readSessionRows(store.db);
    const ended = rows.filter((row) => row.expires_at <= nowMs - this.#lagMs).map(({ id }) => id);
    await deleteEndedRows(store, ended, nowMs - this.#lagMs);
    for (const row of rows) {
      if (row.expires_at <= nowMs - this.#lagMs) continue;
      // With a shared store, the model may be notified of another control plane's identities later.
      if (!store.isShared && model.identity(row.identity_id) === undefined) continue;
      this.#rows.take(row, Math.max(row.expires_at, nowMs + RESTART_GRACE_MS));
    }
  }

  byToken(token: string): LiveSession | undefined {
    return this.#alive(this.#entryOf(token));
  }

  /** Like `byToken`. Asks the database for a session that another control plane has made and not announced yet. */
  async find(token: string): Promise<LiveSession | undefined> {
    const known = this.byToken(token);
    const { store, secrets } = this.#options;
    if (known !== undefined || !store.isShared) return known;
    const named = token.startsWith('ey') ? this.#options.verifyAccess(token) : undefined;
    const row =
      named === undefined
        ? await sessionRowOf(store.db, token, secrets)
        : (await readSessionRows(store.db, [named.sessionId]))[0];
    if (row === undefined) return undefined;
    this.#rows.settle([row.id], [row]);
    // It may have been deleted, and that announced, between the query and its result.
    await this.#rows.reread([row.id]);
    return this.byToken(token);
  }

  byId(id: string): LiveSession | undefined {
    return this.#alive(this.#index.get(id));
  }

  /** Like `byId`. Asks the database as `find` does. */
  async findById(id: string): Promise<LiveSession | undefined> {
    if (this.#index.get(id) === undefined && this.#options.store.isShared) await this.#rows.reread([id]);
    return this.byId(id);
  }

  all(): IterableIterator<ApiSession> {
    return this.#index.all();
  }

  onAdded(listener: Listener): void {
    this.#index.onAdded(listener);
  }

  onUpdated(listener: Listener): void {
    this.#index.onUpdated(listener);
  }

  onRemoved(listener: Listener): void {
    this.#index.onRemoved(listener);
  }

  onPostureChanged(listener: Listener): void {
    this.#index.onPostureChanged(listener);
  }

  touch(tokens: readonly string[]): void {
    const expiresAtMs = this.#leases.nowMs() + SESSION_IDLE_MS;
    for (const token of tokens) {
      const entry = this.#index.byToken(token);
      if (entry !== undefined && this.#alive(entry) !== undefined) entry.expiresAtMs = expiresAtMs;
    }
  }

  /** The client of signed tokens has refreshed them. */
  extend(id: string): void {
    const entry = this.#index.get(id);
    if (entry?.form === 'signed' && this.#alive(entry) !== undefined)
      entry.expiresAtMs = this.#leases.nowMs() + SIGNED_LIFETIME_MS;
  }

  /**
   * Uses the refresh token of a session, which may be repeated shortly. Returns the id for the next one, or undefined if it was
   * used before: the session then ends, because one of the two clients is not the one that logged in.
   */
  async useRefresh(id: string, usedId: string, isReplaced: boolean): Promise<string | undefined> {
    const { store, clock } = this.#options;
    const nowMs = clock.nowMs();
    const nextId = isReplaced
      ? await replaceRefresh(store.db, id, { usedId, nextId: randomUUID(), nowMs })
      : await currentRefresh(store.db, id, usedId, nowMs);
    if (nextId === undefined) await this.remove(id);
    return nextId;
  }

  /** Returns a pending session as one of signed tokens. Of several calls, also elsewhere, one gets it. */
  async activate(id: string): Promise<LiveSession | undefined> {
    const { store, clock } = this.#options;
    const nowMs = clock.nowMs();
    const expiresAtMs = nowMs + SIGNED_LIFETIME_MS;
    if (!(await activateRow(store, id, nowMs, expiresAtMs))) return undefined;
    // Another control plane may have opened it.
    if (this.#index.get(id) === undefined) await this.#rows.reread([id]);
    const entry = this.#index.get(id);
    if (entry === undefined) return undefined;
    entry.form = 'signed';
    entry.expiresAtMs = expiresAtMs - this.#leases.aheadMs;
    entry.storedExpiresAtMs = expiresAtMs;
    return entry;
  }

  /**
   * Logs an identity in. The session is durable when the promise resolves. If the identity has too many sessions,
   * its oldest is removed. `also` runs in the same transaction. `fingerprint` is '' for a log-in without certificate.
   */
  async create(
    identityId: string,
    fingerprint: string,
    configTypes: readonly string[],
    form: Exclude<SessionForm, 'signed'> = 'opaque',
    also?: (trx: StoreTransaction, touch: Touch, sessionId: string) => Promise<void>,
    { method = 'cert', id = randomUUID(), token = randomUUID(), ...signers }: SessionStart = {},
  ): Promise<LiveSession> {
    const { store, secrets, clock, model } = this.#options;
    const nowMs = clock.nowMs();
    const session: StoredSession = {
      id,
      token,
      identityId,
      method,
      ...signers,
      ownFingerprint: fingerprint,
      certificates: [],
      posture: undefined,
      configTypes,
      form,
      createdAtMs: nowMs,
      expiresAtMs: nowMs + (form === 'pending' ? PENDING_LIFETIME_MS : SESSION_IDLE_MS),
    };
    await this.#rows.write(session.id, () =>
      store.transaction(async (trx, touch) => {
        await trx.insertInto('api_session').values(rowOf(session, secrets)).execute();
        touch('api-session', session.id);
        await also?.(trx, touch, session.id);
      }),
    );
    const entry = this.#index.insert(session, session.expiresAtMs - this.#leases.aheadMs);
    // The identity may have been deleted while the row was written.
    if (model.identity(identityId) === undefined) await this.remove(entry.id);
    const others = this.#index.ofIdentity(identityId);
    if (others !== undefined && others.size > MAX_SESSIONS_PER_IDENTITY) {
      const oldest = [...others].reduce((a, b) => (a.expiresAtMs <= b.expiresAtMs ? a : b));
      await this.remove(oldest.id);
    }
    return entry;
  }

  /** Replaces the certificates of a session, as the function of the rows of the same name. */
  async changeCertificates(
    id: string,
    change: (present: readonly SessionCertificate[]) => readonly SessionCertificate[] | undefined,
  ): Promise<readonly SessionCertificate[] | undefined> {
    const changed = await changeCertificates(this.#options.store, id, change);
    const entry = this.#index.get(id);
    if (changed !== undefined && entry !== undefined) this.#index.setCertificates(entry, changed);
    return changed;
  }

  /** Changes the posture of a session, as the function of the rows of the same name. Returns the reason of a refusal. */
  async changePosture(
    id: string,
    change: (posture: SessionPosture) => string | undefined,
  ): Promise<string | undefined> {
    const changed = await changePosture(this.#options.store, id, change);
    if (typeof changed === 'string') return changed;
    const entry = this.#index.get(id);
    if (changed !== undefined && entry !== undefined) this.#index.setPosture(entry, changed);
    return undefined;
  }

  /** The identity no longer has one-time passwords, so that no session has passed one. */
  async forgetMfa(identityId: string): Promise<void> {
    for (const { id, posture } of [...(this.#index.ofIdentity(identityId) ?? [])])
      if (posture?.passedMfaMs !== undefined)
        await this.changePosture(id, (present) => {
          present.onMfaRemoved();
          return undefined;
        });
  }

  /** Ends a session at once. The row is deleted before the promise resolves. */
  async remove(id: string): Promise<void> {
    this.#index.drop(id);
    const { store, clock } = this.#options;
    await this.#rows.write(id, () => endRow(store, id, clock.nowMs()));
  }

  /** Ends expired sessions and writes new expiry times. Runs every 30 s by itself. */
  async tick(): Promise<void> {
    const { store } = this.#options;
    const nowMs = this.#leases.nowMs();
    const { aheadMs } = this.#leases;
    const moved = [...this.#index.all()].filter(
      (entry) => entry.expiresAtMs + aheadMs > entry.storedExpiresAtMs + TICK_MS,
    );
    // Sessions of signed tokens last longer, so the two kinds share no statement.
    for (const isSigned of [false, true]) {
      const alike = moved.filter((entry) => entry.isSigned === isSigned);
      if (alike.length === 0) continue;
      const expiresAtMs = alike.reduce((latest, entry) => Math.max(latest, entry.expiresAtMs), 0) + aheadMs;
      await extendRows(store.db, idsOf(alike), expiresAtMs);
      for (const entry of alike) entry.storedExpiresAtMs = expiresAtMs;
    }
    if (store.isShared) await this.#rows.reread(idsOf(this.#endingBy(nowMs + OTHERS_LAG_MS + TICK_MS)));
    const dead = this.#endingBy(nowMs - this.#lagMs);
    if (!store.isShared) for (const { id } of dead) this.#index.drop(id);
    // Checked against the row again, because another control plane may have extended it, whose clock was perhaps not set.
    const endedByMs = store.isShared ? nowMs + Math.min(aheadMs, 0) - this.#lagMs : Number.MAX_SAFE_INTEGER;
    const ended = await deleteEndedRows(store, idsOf(dead), endedByMs);
    for (const id of ended) this.#index.drop(id);
  }

  /** Writes pending changes. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.tick();
  }

  get #lagMs(): number {
    return this.#options.store.isShared ? OTHERS_LAG_MS : 0;
  }

  get size(): number {
    return this.#index.size;
  }

  #endingBy(ms: number): SessionEntry[] {
    return [...this.#index.all()].filter((entry) => entry.expiresAtMs <= ms);
  }

  #entryOf(token: string): SessionEntry | undefined {
    if (!token.startsWith('ey')) return this.#index.byToken(token);
    const named = this.#options.verifyAccess(token);
    const entry = named === undefined ? undefined : this.#index.get(named.sessionId);
    return entry?.form === 'signed' && entry.identityId === named?.identityId ? entry : undefined;
  }

  #alive(entry: SessionEntry | undefined): LiveSession | undefined {
    if (entry === undefined || entry.expiresAtMs > this.#leases.nowMs()) return entry;
    return undefined;
  }
}
