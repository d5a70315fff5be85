/**
 * One-time enrollments: codes (160 bits, stored as HMACs) and the one-time tokens (`jti`) of the JWTs that are
 * minted for them. A `jti` needs no row: it contains the enrollment's id and our tag. One conditional update
 * claims an enrollment, by code or JWT, inside the transaction that also stores the certificate.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { randomEnrollmentCode, type Secrets } from '../../secrets/mod.ts';
import type { Queries, EnrollmentKind } from '../../store/mod.ts';

export type { EnrollmentKind } from '../../store/mod.ts';

export interface Enrollment {
  readonly id: string;
  readonly kind: EnrollmentKind;
  /** The owner of the new environment; null for other kinds. */
  readonly ownerId: string | null;
  /**
   * The identity that enrolls. Other rows exist; an environment's row is created, with this id,
   * when the enrollment is claimed.
   */
  readonly identityId: string;
  /** For an environment whose agent brings no name; null if there is none. */
  readonly name: string | null;
  readonly expiresAtMs: number;
  /** For a password; null for a certificate. */
  readonly username: string | null;
  /** The authority of another party, for `edge-authority`. */
  readonly authorityId: string | null;
}

/** Why an enrollment is refused, for the log only. Callers of the API get the same refusal for all reasons. */
export type EnrollmentRefusal = 'unknown' | 'used' | 'expired' | 'killed' | 'wrong-method';

export type EnrollmentClaim =
  | { readonly ok: true; readonly enrollment: Enrollment }
  | { readonly ok: false; readonly reason: EnrollmentRefusal };

export interface NewEnrollment {
  readonly kind: EnrollmentKind;
  readonly ownerId: string | null;
  /** Null for a new identity id, for environments. */
  readonly identityId: string | null;
  readonly name?: string | undefined;
  readonly ttlMs: number;
  readonly nowMs: number;
  /** For `edge-password`. */
  readonly username?: string | undefined;
  /** For `edge-authority`. */
  readonly authorityId?: string | undefined;
}

/** After this many refused CSRs the enrollment is killed. */
export const MAX_REFUSED_CSRS = 5;

const DAY_MS = 86_400_000;
const USED_KEPT_DAYS = 30;
const JTI_PURPOSE = 'enrollment jti';
const ID_BYTES = 16;
const NONCE_BYTES = 8;
const TAG_BYTES = 16;
const JTI_LENGTH = Math.ceil(((ID_BYTES + NONCE_BYTES + TAG_BYTES) * 4) / 3);

/** Stores an enrollment. Only the result contains its code. */
export async function createEnrollment(
  db: Queries,
  secrets: Secrets,
  wanted: NewEnrollment,
): Promise<{ readonly enrollment: Enrollment; readonly code: string }> {
  const code = randomEnrollmentCode();
  const enrollment: Enrollment = {
    id: randomUUID(),
    kind: wanted.kind,
    ownerId: wanted.ownerId,
    identityId: wanted.identityId ?? randomUUID(),
    name: wanted.name ?? null,
    expiresAtMs: wanted.nowMs + wanted.ttlMs,
    username: wanted.username ?? null,
    authorityId: wanted.authorityId ?? null,
  };
  await db
    .insertInto('enrollment')
    .values({
      id: enrollment.id,
      kind: enrollment.kind,
      frontdoor_id: enrollment.ownerId,
      identity_id: enrollment.identityId,
      name: enrollment.name,
      code_hmac: secrets.hmac(code),
      username: enrollment.username,
      authority_id: enrollment.authorityId,
      expires_at: enrollment.expiresAtMs,
      claimed_at: null,
      created_at: wanted.nowMs,
    })
    .execute();
  return { enrollment, code };
}

/** Returns the open enrollment of a code, or undefined for unknown, used, expired and killed codes. */
export async function findByCode(
  db: Queries,
  secrets: Secrets,
  code: string,
  nowMs: number,
): Promise<Enrollment | undefined> {
  const row = await db
    .selectFrom('enrollment')
    .selectAll()
    .where('code_hmac', '=', secrets.hmac(canonicalCode(code)))
    .where('claimed_at', 'is', null)
    .where('expires_at', '>', nowMs)
    .where('refused_csr_count', '<', MAX_REFUSED_CSRS)
    .executeTakeFirst();
  return row === undefined ? undefined : enrollmentOf(row);
}

/** Returns a new one-time token for an enrollment: its id, a nonce, and our tag over both, in base64url. */
export function mintJti(secrets: Secrets, enrollmentId: string): string {
  const id = Buffer.from(enrollmentId.replaceAll('-', ''), 'hex');
  if (id.length !== ID_BYTES) throw new RangeError('an enrollment id is a UUID');
  const body = Buffer.concat([id, randomBytes(NONCE_BYTES)]);
  return Buffer.concat([body, secrets.tag(JTI_PURPOSE, body, TAG_BYTES)]).toString('base64url');
}

/** Whether an enrollment could be claimed now, for early refusals. Only `claimEnrollment` decides. */
export async function findByToken(
  db: Queries,
  secrets: Secrets,
  jtiOrCode: string,
  nowMs: number,
  kinds: readonly EnrollmentKind[],
): Promise<EnrollmentClaim> {
  const row = await rowOf(db, secrets, jtiOrCode);
  const reason = row === undefined ? 'unknown' : refusalOf(row, nowMs, kinds);
  return reason === undefined ? { ok: true, enrollment: enrollmentOf(row!) } : { ok: false, reason };
}

/**
 * Claims the enrollment of a `jti` (or a code) if it is one of `kinds`, unclaimed, alive and not expired, with
 * one conditional update. Must be the first call in the transaction that stores the identity and its certificate,
 * so that both or neither happen.
 */
export async function claimEnrollment(
  trx: Queries,
  secrets: Secrets,
  jtiOrCode: string,
  nowMs: number,
  kinds: readonly EnrollmentKind[],
): Promise<EnrollmentClaim> {
  const key = keyOf(secrets, jtiOrCode);
  if (key === undefined) return { ok: false, reason: 'unknown' };
  const row = await trx
    .updateTable('enrollment')
    .set({ claimed_at: nowMs })
    .where(key.column, '=', key.value)
    .where('kind', 'in', kinds)
    .where('claimed_at', 'is', null)
    .where('expires_at', '>', nowMs)
    .where('refused_csr_count', '<', MAX_REFUSED_CSRS)
    .returningAll()
    .executeTakeFirst();
  if (row !== undefined) return { ok: true, enrollment: enrollmentOf(row) };
  const refused = await rowOf(trx, secrets, jtiOrCode);
  const reason = refused === undefined ? 'unknown' : (refusalOf(refused, nowMs, kinds) ?? 'used');
  return { ok: false, reason };
}

/** Counts a refused CSR; the fifth kills the enrollment. Must not be called inside a transaction that rolls back. */
export async function refuseCsr(db: Queries, secrets: Secrets, jtiOrCode: string): Promise<void> {
  const key = keyOf(secrets, jtiOrCode);
  if (key === undefined) return;
  await db
    .updateTable('enrollment')
    .set((eb) => ({ refused_csr_count: eb('refused_csr_count', '+', 1) }))
    .where(key.column, '=', key.value)
    .where('claimed_at', 'is', null)
    .execute();
}

/**
 * Removes enrollments that ended more than a day ago: until then, the log can state the reason of a late refusal. Those of
 * agents that were used stay for 30 days, so that the list shows which agent came of them.
 */
export async function pruneEnrollments(db: Queries, nowMs: number): Promise<void> {
  await db
    .deleteFrom('enrollment')
    .where('expires_at', '<', nowMs - DAY_MS)
    .where(({ or, eb }) =>
      or([
        eb('claimed_at', 'is', null),
        eb('kind', '!=', 'environment'),
        eb('claimed_at', '<', nowMs - USED_KEPT_DAYS * DAY_MS),
      ]),
    )
    .execute();
}

/** An enrollment that nobody has used yet. */
export interface OpenEnrollment {
  readonly id: string;
  readonly kind: EnrollmentKind;
  readonly identityId: string;
  readonly username: string | null;
  readonly authorityId: string | null;
  readonly expiresAtMs: number;
  readonly createdAtMs: number;
}

/** Returns the open enrollments of these kinds, the oldest first. */
export async function openEnrollmentsOf(
  db: Queries,
  kinds: readonly EnrollmentKind[],
  nowMs: number,
): Promise<OpenEnrollment[]> {
  const rows = await openRows(db, kinds, nowMs)
    .select(['id', 'kind', 'identity_id', 'expires_at', 'created_at', 'username', 'authority_id'])
    .orderBy('created_at')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    kind: row.kind,
    identityId: row.identity_id,
    username: row.username,
    authorityId: row.authority_id,
    expiresAtMs: Number(row.expires_at),
    createdAtMs: Number(row.created_at),
  }));
}

export async function countOpenEnrollments(
  db: Queries,
  kinds: readonly EnrollmentKind[],
  nowMs: number,
): Promise<number> {
  const { count } = await openRows(db, kinds, nowMs)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

function openRows(db: Queries, kinds: readonly EnrollmentKind[], nowMs: number) {
  return db
    .selectFrom('enrollment')
    .where('kind', 'in', kinds)
    .where('claimed_at', 'is', null)
    .where('expires_at', '>', nowMs);
}

/** Its code and its enrollment tokens are refused from then on. */
export async function deleteEnrollment(trx: Queries, id: string): Promise<void> {
  await trx.deleteFrom('enrollment').where('id', '=', id).execute();
}

/** Deletes an enrollment unless it was used. */
export async function deleteOpenEnrollment(trx: Queries, id: string): Promise<void> {
  await trx.deleteFrom('enrollment').where('id', '=', id).where('claimed_at', 'is', null).execute();
}

/** Deletes the enrollments of an identity that nobody has used. */
export async function deleteOpenEnrollments(trx: Queries, identityId: string): Promise<void> {
  await trx
    .deleteFrom('enrollment')
    .where('identity_id', '=', identityId)
    .where('claimed_at', 'is', null)
    .execute();
}

export async function deleteEnrollmentsOfAuthority(trx: Queries, authorityId: string): Promise<void> {
  await trx.deleteFrom('enrollment').where('authority_id', '=', authorityId).execute();
}

interface EnrollmentRow {
  readonly id: string;
  readonly kind: EnrollmentKind;
  readonly frontdoor_id: string | null;
  readonly identity_id: string;
  readonly name: string | null;
  readonly expires_at: number;
  readonly username: string | null;
  readonly authority_id: string | null;
  readonly refused_csr_count: number;
  readonly claimed_at: number | null;
}

function enrollmentOf(row: EnrollmentRow): Enrollment {
  return {
    id: row.id,
    kind: row.kind,
    ownerId: row.frontdoor_id,
    identityId: row.identity_id,
    name: row.name,
    expiresAtMs: row.expires_at,
    username: row.username,
    authorityId: row.authority_id,
  };
}

function refusalOf(
  row: EnrollmentRow,
  nowMs: number,
  kinds: readonly EnrollmentKind[],
): EnrollmentRefusal | undefined {
  if (!kinds.includes(row.kind)) return 'wrong-method';
  if (row.claimed_at !== null) return 'used';
  if (row.expires_at <= nowMs) return 'expired';
  return row.refused_csr_count >= MAX_REFUSED_CSRS ? 'killed' : undefined;
}

async function rowOf(db: Queries, secrets: Secrets, jtiOrCode: string): Promise<EnrollmentRow | undefined> {
  const key = keyOf(secrets, jtiOrCode);
  if (key === undefined) return undefined;
  return db.selectFrom('enrollment').selectAll().where(key.column, '=', key.value).executeTakeFirst();
}

type Key = { readonly column: 'id' | 'code_hmac'; readonly value: string };

function keyOf(secrets: Secrets, jtiOrCode: string): Key | undefined {
  const code = canonicalCode(jtiOrCode);
  if (/^[A-Z2-7]{32}$/.test(code)) return { column: 'code_hmac', value: secrets.hmac(code) };
  if (jtiOrCode.length !== JTI_LENGTH || !/^[A-Za-z0-9_-]+$/.test(jtiOrCode)) return undefined;
  const bytes = Buffer.from(jtiOrCode, 'base64url');
  const body = bytes.subarray(0, ID_BYTES + NONCE_BYTES);
  if (!secrets.isTag(JTI_PURPOSE, body, bytes.subarray(ID_BYTES + NONCE_BYTES))) return undefined;
  const hex = body.subarray(0, ID_BYTES).toString('hex');
  const id = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join(
    '-',
  );
  return { column: 'id', value: id };
}

/** Codes are read aloud and typed, so letter case is ignored. */
function canonicalCode(code: string): string {
  return code.length === 32 ? code.toUpperCase() : code;
}
