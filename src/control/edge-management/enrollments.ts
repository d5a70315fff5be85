/** Open enrollments of identities and routers, with the token that clients enroll with. */
import { isoTime } from '../edge-api/mod.ts';
import type { JsonObject } from '../model/mod.ts';
import { createEnrollment, mintJti, type Queries } from '../store/mod.ts';
import type { ManagementParts } from './entity-resource.ts';

export const ENROLLMENT_TTL_MS = 10_800_000;

export interface OpenEnrollment {
  readonly id: string;
  readonly identityId: string;
  readonly expiresAtMs: number;
  readonly createdAtMs: number;
  /** For a password; null for a certificate. */
  readonly username: string | null;
}

type Kind = 'edge' | 'edge-password' | 'router';

const METHODS = { edge: 'ott', 'edge-password': 'updb', router: 'erott' } as const;

/** The open enrollments of a kind by identity; of several, the newest. */
export async function openEnrollments(
  { store, clock }: ManagementParts,
  kind: Kind,
): Promise<ReadonlyMap<string, OpenEnrollment>> {
  const rows = await store.db
    .selectFrom('enrollment')
    .select(['id', 'identity_id', 'expires_at', 'created_at', 'username'])
    .where('kind', '=', kind)
    .where('claimed_at', 'is', null)
    .where('expires_at', '>', clock.nowMs())
    .orderBy('created_at')
    .execute();
  return new Map(
    rows.map((row) => [
      row.identity_id,
      {
        id: row.id,
        identityId: row.identity_id,
        expiresAtMs: Number(row.expires_at),
        createdAtMs: Number(row.created_at),
        username: row.username,
      },
    ]),
  );
}

export interface NewEnrollmentOptions {
  readonly ttlMs?: number | undefined;
  /** For a password. */
  readonly username?: string | undefined;
}

/** Replaces the open enrollments of the identity. */
export async function enrollAnew(
  { secrets, clock }: ManagementParts,
  trx: Queries,
  kind: Kind,
  identityId: string,
  { ttlMs = ENROLLMENT_TTL_MS, username }: NewEnrollmentOptions = {},
): Promise<void> {
  await trx
    .deleteFrom('enrollment')
    .where('identity_id', '=', identityId)
    .where('claimed_at', 'is', null)
    .execute();
  const nowMs = clock.nowMs();
  await createEnrollment(trx, secrets, {
    kind,
    frontdoorId: null,
    identityId,
    ttlMs,
    nowMs,
    username,
  });
}

/** Each call makes another token; any of them can be used, and once. */
export function tokenOf(
  { pki, secrets, apiUrl, controlAddress }: ManagementParts,
  kind: Kind,
  { id, identityId, expiresAtMs }: OpenEnrollment,
): { readonly token: string; readonly jwt: string } {
  const token = mintJti(secrets, id);
  const jwt = pki.mintEnrollmentJwt({
    issuer: apiUrl(),
    subject: identityId,
    jti: token,
    method: METHODS[kind],
    expiresAtMs,
    controlAddresses: [controlAddress()],
  });
  return { token, jwt };
}

export function enrollmentView(parts: ManagementParts, kind: Kind, enrollment: OpenEnrollment): JsonObject {
  const { id, expiresAtMs, username } = enrollment;
  const view = { id, expiresAt: isoTime(expiresAtMs), ...tokenOf(parts, kind, enrollment) };
  return username === null ? view : { ...view, username };
}
