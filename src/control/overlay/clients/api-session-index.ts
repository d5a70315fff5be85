/** The API sessions in memory: by id, token and identity, with the certificates that may use each, and their followers. */
import type { ApiSession } from '../model/api-sessions.ts';
import type { OverlayModel } from '../model/overlay-model.ts';
import { fingerprintsOf, type SessionForm, type StoredSession } from './api-session-rows.ts';

export interface SessionEntry extends StoredSession {
  form: SessionForm;
  readonly isSigned: boolean;
  expiresAtMs: number;
  fingerprints: readonly string[];
  certificates: StoredSession['certificates'];
  posture: StoredSession['posture'];
  /** The expiry in the store. */
  storedExpiresAtMs: number;
}

type Listener = (session: ApiSession) => void;

export class ApiSessionIndex {
  readonly #model: OverlayModel;
  readonly #byId = new Map<string, SessionEntry>();
  readonly #byToken = new Map<string, SessionEntry>();
  readonly #byIdentity = new Map<string, Set<SessionEntry>>();
  readonly #added: Listener[] = [];
  readonly #updated: Listener[] = [];
  readonly #removed: Listener[] = [];
  readonly #postureChanged: Listener[] = [];

  /** Follows the certificates of identities. */
  constructor(model: OverlayModel) {
    this.#model = model;
    model.onChange((change) => {
      if (change.type === 'identity') this.#follow(change.id);
    });
  }

  get size(): number {
    return this.#byId.size;
  }

  get(id: string): SessionEntry | undefined {
    return this.#byId.get(id);
  }

  byToken(token: string): SessionEntry | undefined {
    return this.#byToken.get(token);
  }

  ofIdentity(identityId: string): ReadonlySet<SessionEntry> | undefined {
    return this.#byIdentity.get(identityId);
  }

  all(): IterableIterator<SessionEntry> {
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

  onPostureChanged(listener: Listener): void {
    this.#postureChanged.push(listener);
  }

  insert(session: StoredSession, expiresAtMs = session.expiresAtMs): SessionEntry {
    const entry: SessionEntry = {
      ...session,
      fingerprints: fingerprintsOf(session, this.#presentOf(session.identityId)),
      isSigned: session.form !== 'opaque',
      expiresAtMs,
      storedExpiresAtMs: session.expiresAtMs,
    };
    this.#byId.set(entry.id, entry);
    if (!entry.isSigned) this.#byToken.set(entry.token, entry);
    const others = this.#byIdentity.get(entry.identityId);
    if (others === undefined) this.#byIdentity.set(entry.identityId, new Set([entry]));
    else others.add(entry);
    for (const listener of this.#added) listener(entry);
    return entry;
  }

  drop(id: string): void {
    const entry = this.#byId.get(id);
    if (entry === undefined) return;
    this.#byId.delete(id);
    this.#byToken.delete(entry.token);
    const others = this.#byIdentity.get(entry.identityId);
    if (others?.delete(entry) === true && others.size === 0) this.#byIdentity.delete(entry.identityId);
    for (const listener of this.#removed) listener(entry);
  }

  /** The certificates of the session itself are others now. */
  setCertificates(entry: SessionEntry, certificates: StoredSession['certificates']): void {
    entry.certificates = certificates;
    this.#update(entry, this.#presentOf(entry.identityId));
  }

  /** The device of the session has reported something else than before. */
  setPosture(entry: SessionEntry, posture: StoredSession['posture']): void {
    if (entry.posture?.text() === posture?.text()) return;
    entry.posture = posture;
    for (const listener of this.#postureChanged) listener(entry);
  }

  /**
   * A session's token is usable with the certificate that logged in (its channels outlive a renewal), with those of
   * the session, and with every current certificate of the identity.
   */
  #follow(identityId: string): void {
    const entries = this.#byIdentity.get(identityId);
    if (entries === undefined) return;
    const identity = this.#model.identity(identityId);
    for (const entry of entries) {
      if (identity === undefined) this.drop(entry.id);
      else this.#update(entry, identity.fingerprints);
    }
  }

  #update(entry: SessionEntry, present: readonly string[]): void {
    const fingerprints = fingerprintsOf(entry, present);
    if (entry.fingerprints.join() === fingerprints.join()) return;
    entry.fingerprints = fingerprints;
    for (const listener of this.#updated) listener(entry);
  }

  #presentOf(identityId: string): readonly string[] {
    return this.#model.identity(identityId)?.fingerprints ?? [];
  }
}
