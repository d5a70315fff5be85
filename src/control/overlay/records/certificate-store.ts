/** Certificates of identities: added at enrollment and renewal, removed once a newer one was used. */
import { sql } from 'kysely';
import { lockedForUpdate, type IdentityTable, type Queries, type Touch } from '../../store/mod.ts';

/** The stored data of an issued certificate. */
export interface NewCertificate {
  /** SHA-1 of the DER leaf in lower-case hex. */
  readonly fingerprint: string;
  /** SHA-256 of the subject public key info in lower-case hex. */
  readonly spkiSha256: string;
  readonly notAfterMs: number;
  /** The name of our intermediate that issued it; undefined for one of another party. */
  readonly issuer?: string | undefined;
  /** The authority of another party that issued it; ours by default. */
  readonly authorityId?: string | undefined;
}

/** Must be called inside the caller's transaction, which touches the identity. */
export async function insertCertificate(
  trx: Queries,
  identityId: string,
  issued: NewCertificate,
  nowMs: number,
): Promise<void> {
  await trx
    .insertInto('certificate')
    .values({
      fingerprint: issued.fingerprint,
      identity_id: identityId,
      spki_sha256: issued.spkiSha256,
      authority_id: issued.authorityId ?? null,
      issuer: issued.issuer ?? null,
      not_after: issued.notAfterMs,
      created_at: nowMs,
    })
    .execute();
}

/**
 * Adds a renewed certificate beside the one in use, and removes that of an earlier, unfinished renewal. Returns
 * false if the one in use is no longer valid, and adds nothing.
 */
export async function addRenewedCertificate(
  trx: Queries,
  touch: Touch,
  identityId: string,
  usedFingerprint: string,
  issued: NewCertificate,
  nowMs: number,
): Promise<boolean> {
  const used = await lockedForUpdate(
    trx,
    trx
      .selectFrom('certificate')
      .select('fingerprint')
      .where('identity_id', '=', identityId)
      .where('fingerprint', '=', usedFingerprint),
  ).executeTakeFirst();
  if (used === undefined) return false;
  await trx
    .deleteFrom('certificate')
    .where('identity_id', '=', identityId)
    .where('fingerprint', '!=', usedFingerprint)
    .execute();
  await insertCertificate(trx, identityId, issued, nowMs);
  touch('identity', identityId);
  return true;
}

/**
 * Removes the certificates that `usedFingerprint` replaced and returns their fingerprints; none if it is the
 * oldest.
 */
export async function dropOlderCertificates(
  trx: Queries,
  touch: Touch,
  identityId: string,
  usedFingerprint: string,
): Promise<readonly string[]> {
  const rows = await lockedForUpdate(
    trx,
    trx
      .selectFrom('certificate')
      .select(['fingerprint', 'created_at', 'not_after'])
      .where('identity_id', '=', identityId),
  ).execute();
  const used = rows.find((row) => row.fingerprint === usedFingerprint);
  if (used === undefined) return [];
  const older = rows
    .filter((row) => row !== used && row.created_at <= used.created_at && row.not_after <= used.not_after)
    .map((row) => row.fingerprint);
  if (older.length === 0) return [];
  await trx.deleteFrom('certificate').where('fingerprint', 'in', older).execute();
  touch('identity', identityId);
  return older;
}

/** A certificate is renewed after two thirds of its lifetime. If less than this part is left, renewal fails. */
const OVERDUE_PARTS = 4;

/** Identities of the edge management API renew when their SDKs want, or never. */
type OverdueKind = Exclude<IdentityTable['kind'], 'edge'>;

export interface OverdueCertificate {
  readonly kind: OverdueKind;
  readonly name: string;
  readonly notAfterMs: number;
}

/** Returns identities whose newest certificate is overdue for renewal or expired, ordered by expiry. */
export async function overdueCertificates(
  db: Queries,
  nowMs: number,
  limit: number,
): Promise<OverdueCertificate[]> {
  const rows = await db
    .selectFrom('certificate')
    .innerJoin('identity', 'identity.id', 'certificate.identity_id')
    .where('identity.kind', '!=', 'edge')
    .select(['identity.name'])
    .select((eb) => eb.ref('identity.kind').$castTo<OverdueKind>().as('kind'))
    .select(sql<number>`max(certificate.not_after)`.as('not_after'))
    .groupBy(['identity.id', 'identity.kind', 'identity.name', 'identity.frontdoor_id'])
    .having(
      sql<boolean>`(max(certificate.not_after) - ${nowMs}) * ${sql.lit(OVERDUE_PARTS)} < max(certificate.not_after - certificate.created_at)`,
    )
    .orderBy('not_after')
    .orderBy('identity.id')
    .limit(limit)
    .execute();
  return rows.map(({ kind, name, not_after: notAfterMs }) => ({
    kind,
    name,
    notAfterMs: Number(notAfterMs),
  }));
}

export interface MachineExpiry {
  readonly kind: OverdueKind;
  readonly id: string;
  readonly name: string;
  /** In its front door; null for those of the installation. */
  readonly ownerId: string | null;
  readonly notAfterMs: number;
}

/** Returns machines, of an owner or all, whose latest certificate expires before then, the first one to expire first. */
export async function expiringCertificates(
  db: Queries,
  ownerId: string | undefined,
  {
    afterMs = 0,
    beforeMs,
    limit,
  }: { readonly afterMs?: number; readonly beforeMs: number; readonly limit: number },
): Promise<MachineExpiry[]> {
  // Few certificates expire soon, so that these are selected first and not the latest one of each of many machines.
  let query = db
    .selectFrom('certificate')
    .innerJoin('identity', 'identity.id', 'certificate.identity_id')
    .where('identity.kind', '!=', 'edge')
    .where('certificate.not_after', '<', beforeMs)
    .where(({ eb, not, exists }) =>
      not(
        exists(
          eb
            .selectFrom('certificate as later')
            .select('later.fingerprint')
            .whereRef('later.identity_id', '=', 'certificate.identity_id')
            .where('later.not_after', '>=', beforeMs),
        ),
      ),
    );
  if (ownerId !== undefined) query = query.where('identity.frontdoor_id', '=', ownerId);
  const rows = await query
    .select(['identity.id', 'identity.name', 'identity.frontdoor_id'])
    .select((eb) => eb.ref('identity.kind').$castTo<OverdueKind>().as('kind'))
    .select(sql<number>`max(certificate.not_after)`.as('not_after'))
    .groupBy(['identity.id', 'identity.kind', 'identity.name'])
    .having(({ fn }) => fn.max('certificate.not_after'), '>', afterMs)
    .orderBy('not_after')
    .orderBy('identity.id')
    .limit(limit)
    .execute();
  return rows.map(({ kind, id, name, frontdoor_id: ownerId, not_after: notAfterMs }) => ({
    kind,
    id,
    name,
    ownerId,
    notAfterMs: Number(notAfterMs),
  }));
}

export interface CertificateRecord {
  readonly fingerprint: string;
  readonly identityId: string;
  /** The authority of another party that issued it; null for ours. */
  readonly authorityId: string | null;
  /** The name of our intermediate that issued it; null for the first one, and for other parties. */
  readonly issuer: string | null;
  readonly createdAtMs: number;
}

/** Returns the certificates of an identity, the oldest first. */
export async function certificatesOf(db: Queries, identityId: string): Promise<CertificateRecord[]> {
  const rows = await certificateRows(db)
    .where('identity_id', '=', identityId)
    .orderBy('created_at')
    .orderBy('fingerprint')
    .execute();
  return rows.map(recordOf);
}

/** Returns the certificates of all identities of the edge management API. */
export async function certificatesOfEdgeIdentities(db: Queries): Promise<CertificateRecord[]> {
  const ids = db.selectFrom('identity').select('id').where('kind', '=', 'edge');
  const rows = await certificateRows(db).where('identity_id', 'in', ids).orderBy('fingerprint').execute();
  return rows.map(recordOf);
}

export async function certificatesOfAuthority(
  db: Queries,
  authorityId: string,
): Promise<CertificateRecord[]> {
  return (await certificateRows(db).where('authority_id', '=', authorityId).execute()).map(recordOf);
}

export async function isCertificateKnown(db: Queries, fingerprint: string): Promise<boolean> {
  const query = db.selectFrom('certificate').select('identity_id').where('fingerprint', '=', fingerprint);
  return (await query.executeTakeFirst()) !== undefined;
}

/** Whether the identity has a certificate that has not expired. */
export async function hasValidCertificate(db: Queries, identityId: string, nowMs: number): Promise<boolean> {
  const row = await db
    .selectFrom('certificate')
    .select('fingerprint')
    .where('identity_id', '=', identityId)
    .where('not_after', '>', nowMs)
    .executeTakeFirst();
  return row !== undefined;
}

/** Returns the certificates of all identities that have expired. */
export async function expiredCertificates(db: Queries, nowMs: number): Promise<CertificateRecord[]> {
  return (await certificateRows(db).where('not_after', '<=', nowMs).execute()).map(recordOf);
}

export async function deleteCertificate(trx: Queries, fingerprint: string): Promise<void> {
  await trx.deleteFrom('certificate').where('fingerprint', '=', fingerprint).execute();
}

export async function deleteCertificatesOfAuthority(trx: Queries, authorityId: string): Promise<void> {
  await trx.deleteFrom('certificate').where('authority_id', '=', authorityId).execute();
}

function certificateRows(db: Queries) {
  return db
    .selectFrom('certificate')
    .select(['fingerprint', 'identity_id', 'authority_id', 'issuer', 'created_at']);
}

function recordOf(
  row: Awaited<ReturnType<ReturnType<typeof certificateRows>['execute']>>[number],
): CertificateRecord {
  return {
    fingerprint: row.fingerprint,
    identityId: row.identity_id,
    authorityId: row.authority_id,
    issuer: row.issuer,
    createdAtMs: Number(row.created_at),
  };
}
