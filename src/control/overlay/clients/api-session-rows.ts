/** The stored part of API sessions: rows with encrypted tokens, in batches of one statement each. */
import { jsonReader, Part, Type, type ShapeOf } from '#base/shapes';
import { SessionPosture } from '#domain/posture';
import type { Secrets } from '../../secrets/mod.ts';
import { lockedForUpdate, type ApiSessionTable, type Queries, type Store } from '../../store/mod.ts';

/**
 * `opaque`: the client has the session's own token. `pending`: opened through OpenID Connect, its code not exchanged
 * yet. `signed`: the client has signed tokens, which name the session.
 */
export type SessionForm = 'opaque' | 'pending' | 'signed';

/** `cert`: each call needs a certificate of the identity. Otherwise the token is enough. */
export const LOG_IN_METHODS = ['cert', 'password', 'ext-jwt'] as const;
export type LogInMethod = (typeof LOG_IN_METHODS)[number];

/** A certificate that is issued to a session, for channels to routers. */
const certificateSchema = Type.Object({
  id: Part.text(),
  fingerprint: Part.text(),
  createdAtMs: Type.Number(),
  untilMs: Type.Number(),
});
export type SessionCertificate = ShapeOf<typeof certificateSchema>;
const readCertificates = jsonReader(Type.Array(certificateSchema));
const readTexts = jsonReader(Part.texts());

/** By what a session was opened. */
export interface SessionWay {
  readonly method: LogInMethod;
  /** The signer of another party whose token logged in, or the authority that named the identity in its certificate. */
  readonly signerId?: string | undefined;
  /** The one whose token was the second factor. */
  readonly secondSignerId?: string | undefined;
  /** The end of the certificate that logged in. */
  readonly certificateEndsAtMs?: number | undefined;
}

export interface StoredSession extends SessionWay {
  readonly id: string;
  readonly token: string;
  readonly identityId: string;
  /** Fingerprint of the certificate that logged in; '' for a log-in without one. */
  readonly ownFingerprint: string;
  readonly certificates: readonly SessionCertificate[];
  readonly posture: SessionPosture | undefined;
  readonly configTypes: readonly string[];
  readonly form: SessionForm;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

const BATCH = 500;

export function rowOf(session: StoredSession, secrets: Pick<Secrets, 'hmac' | 'seal'>): ApiSessionTable {
  return {
    id: session.id,
    identity_id: session.identityId,
    token_hmac: secrets.hmac(session.token),
    token_sealed: secrets.seal(session.token),
    fingerprint: session.ownFingerprint,
    config_types: JSON.stringify(session.configTypes),
    form: session.form,
    method: session.method,
    signer_id: session.signerId ?? null,
    second_signer_id: session.secondSignerId ?? null,
    certificate_ends_at: session.certificateEndsAtMs ?? null,
    certificates: JSON.stringify(session.certificates),
    posture: session.posture?.text() ?? null,
    refresh_id: null,
    refresh_before_id: null,
    refreshed_at: null,
    created_at: session.createdAtMs,
    expires_at: session.expiresAtMs,
  };
}

/** Throws if the row is damaged. */
export function sessionOf(row: ApiSessionTable, secrets: Pick<Secrets, 'unseal'>): StoredSession {
  return {
    id: row.id,
    token: secrets.unseal(row.token_sealed),
    identityId: row.identity_id,
    ownFingerprint: row.fingerprint,
    configTypes: readTexts(row.config_types),
    form: row.form,
    ...wayOf(row),
    certificateEndsAtMs: row.certificate_ends_at ?? undefined,
    certificates: certificatesOf(row),
    posture: postureOf(row),
    createdAtMs: row.created_at,
    expiresAtMs: row.expires_at,
  };
}

export function wayOf(row: Pick<ApiSessionTable, 'method' | 'signer_id' | 'second_signer_id'>): SessionWay {
  const { method, signer_id: signerId, second_signer_id: secondSignerId } = row;
  return { method, signerId: signerId ?? undefined, secondSignerId: secondSignerId ?? undefined };
}

/** Throws if the row is damaged. */
export function certificatesOf(row: Pick<ApiSessionTable, 'certificates'>): readonly SessionCertificate[] {
  return readCertificates(row.certificates);
}

/** Throws if the row is damaged. */
export function postureOf({ posture }: Pick<ApiSessionTable, 'posture'>): SessionPosture | undefined {
  return posture === null ? undefined : SessionPosture.parse(posture, true);
}

/**
 * Changes the posture of a session by a function, which may refuse with a reason. Returns that reason, or the posture;
 * undefined if the session has ended.
 */
export async function changePosture(
  store: Store,
  id: string,
  change: (posture: SessionPosture) => string | undefined,
): Promise<SessionPosture | string | undefined> {
  return store.transaction(async (trx, touch) => {
    const query = trx.selectFrom('api_session').select('posture').where('id', '=', id);
    const row = await lockedForUpdate(trx, query).executeTakeFirst();
    if (row === undefined) return undefined;
    const posture = postureOf(row) ?? new SessionPosture(true);
    const refusal = change(posture);
    if (refusal !== undefined) return refusal;
    const text = posture.text();
    if (text === row.posture) return posture;
    await trx.updateTable('api_session').set({ posture: text }).where('id', '=', id).execute();
    touch('api-session', id);
    return posture;
  });
}

/**
 * Replaces the certificates of a session by what `change` returns for the present ones. Returns undefined, and changes
 * nothing, if the session has ended or `change` returns undefined.
 */
export async function changeCertificates(
  store: Store,
  id: string,
  change: (present: readonly SessionCertificate[]) => readonly SessionCertificate[] | undefined,
): Promise<readonly SessionCertificate[] | undefined> {
  return store.transaction(async (trx, touch) => {
    const query = trx.selectFrom('api_session').select('certificates').where('id', '=', id);
    const row = await lockedForUpdate(trx, query).executeTakeFirst();
    const changed = row === undefined ? undefined : change(certificatesOf(row));
    if (changed === undefined) return undefined;
    await trx
      .updateTable('api_session')
      .set({ certificates: JSON.stringify(changed) })
      .where('id', '=', id)
      .execute();
    touch('api-session', id);
    return changed;
  });
}

/** Returns all rows, or the existing ones of `ids`. */
export async function readSessionRows(db: Queries, ids?: readonly string[]): Promise<ApiSessionTable[]> {
  const rows: ApiSessionTable[] = [];
  if (ids !== undefined) {
    for (const batch of batchesOf(ids)) {
      rows.push(...(await db.selectFrom('api_session').selectAll().where('id', 'in', batch).execute()));
    }
    return rows;
  }
  for (;;) {
    const after = rows.at(-1)?.id ?? '';
    const page = await db
      .selectFrom('api_session')
      .selectAll()
      .where('id', '>', after)
      .orderBy('id')
      .limit(BATCH)
      .execute();
    rows.push(...page);
    if (page.length < BATCH) return rows;
  }
}

/** Returns the row of the session with this token. */
export function sessionRowOf(
  db: Queries,
  token: string,
  secrets: Pick<Secrets, 'hmac'>,
): Promise<ApiSessionTable | undefined> {
  const hmac = secrets.hmac(token);
  return db.selectFrom('api_session').selectAll().where('token_hmac', '=', hmac).executeTakeFirst();
}

/** Deletes the sessions whose stored expiry is not after `endedByMs`, and returns their ids. */
export async function deleteEndedRows(
  store: Store,
  ids: readonly string[],
  endedByMs: number,
): Promise<string[]> {
  const ended: string[] = [];
  for (const batch of batchesOf(ids)) {
    const gone = await store.transaction(async (trx, touch) => {
      const deleted = await trx
        .deleteFrom('api_session')
        .where('id', 'in', batch)
        .where('expires_at', '<=', endedByMs)
        .returning('id')
        .execute();
      for (const { id } of deleted) touch('api-session', id);
      return deleted;
    });
    ended.push(...gone.map(({ id }) => id));
  }
  return ended;
}

/**
 * Turns a pending session into one with signed tokens. Returns false if it is not pending, at any control plane: of
 * several calls one succeeds.
 */
export async function activateRow(
  store: Store,
  id: string,
  nowMs: number,
  expiresAtMs: number,
): Promise<boolean> {
  return store.transaction(async (trx, touch) => {
    const rows = await trx
      .updateTable('api_session')
      .set({ form: 'signed', expires_at: expiresAtMs })
      .where('id', '=', id)
      .where('form', '=', 'pending')
      .where('expires_at', '>', nowMs)
      .returning('id')
      .execute();
    if (rows.length > 0) touch('api-session', id);
    return rows.length > 0;
  });
}

/** A client may repeat a refresh for this time, because the answer to the first may have been lost. */
const REPEATED_MS = 60_000;

/**
 * Replaces the refresh token of a session, which is used once, also by clients of other control planes. Returns the id of its
 * new one: `nextId`, or the id that the first of repeated calls got. Undefined: the token was used before.
 */
export async function replaceRefresh(
  db: Queries,
  id: string,
  { usedId, nextId, nowMs }: { readonly usedId: string; readonly nextId: string; readonly nowMs: number },
): Promise<string | undefined> {
  const replaced = await db
    .updateTable('api_session')
    .set({ refresh_id: nextId, refresh_before_id: usedId, refreshed_at: nowMs })
    .where('id', '=', id)
    .where((row) => row.or([row('refresh_id', '=', usedId), row('refresh_id', 'is', null)]))
    .returning('id')
    .execute();
  return replaced.length > 0 ? nextId : currentRefresh(db, id, usedId, nowMs);
}

/** Returns the id of the session's refresh token if `usedId` may be used: it is that one, or was replaced just now. */
export async function currentRefresh(
  db: Queries,
  id: string,
  usedId: string,
  nowMs: number,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('api_session')
    .select(['refresh_id', 'refresh_before_id', 'refreshed_at'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  if (row.refresh_id === null || row.refresh_id === usedId) return usedId;
  const isRepeated = row.refresh_before_id === usedId && nowMs - (row.refreshed_at ?? 0) < REPEATED_MS;
  return isRepeated ? row.refresh_id : undefined;
}

/**
 * Extends the expiry to `expiresAtMs`, but never shortens it, because another control plane may have stored a
 * later one.
 */
export async function extendRows(db: Queries, ids: readonly string[], expiresAtMs: number): Promise<void> {
  for (const batch of batchesOf(ids)) {
    await db
      .updateTable('api_session')
      .set({ expires_at: expiresAtMs })
      .where('id', 'in', batch)
      .where('expires_at', '<', expiresAtMs)
      .execute();
  }
}

export function* batchesOf(ids: readonly string[]): Generator<readonly string[]> {
  for (let from = 0; from < ids.length; from += BATCH) yield ids.slice(from, from + BATCH);
}

export function idsOf(entries: readonly { readonly id: string }[]): string[] {
  return entries.map(({ id }) => id);
}

/** Fingerprints that may use a session: the one that logged in, the session's own ones, and the identity's present ones. */
export function fingerprintsOf(
  { ownFingerprint, certificates }: Pick<StoredSession, 'ownFingerprint' | 'certificates'>,
  present: readonly string[],
): readonly string[] {
  const own = [ownFingerprint, ...certificates.map(({ fingerprint }) => fingerprint)];
  const others = own.filter((one) => one !== '' && !present.includes(one));
  return others.length === 0 ? present : [...others, ...present];
}
