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
    .groupBy(['identity.id', 'identity.kind', 'identity.name'])
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
