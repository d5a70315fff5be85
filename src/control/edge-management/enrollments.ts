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
}

type Kind = 'edge' | 'router';

/** The open enrollments of a kind by identity; of several, the newest. */
export async function openEnrollments(
  { store, clock }: ManagementParts,
  kind: Kind,
): Promise<ReadonlyMap<string, OpenEnrollment>> {
  const rows = await store.db
    .selectFrom('enrollment')
    .select(['id', 'identity_id', 'expires_at', 'created_at'])
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
      },
    ]),
  );
}

/** Replaces the open enrollments of the identity. */
export async function enrollAnew(
  { secrets, clock }: ManagementParts,
  trx: Queries,
  kind: Kind,
  identityId: string,
  ttlMs: number = ENROLLMENT_TTL_MS,
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
    method: kind === 'router' ? 'erott' : 'ott',
    expiresAtMs,
    controlAddresses: [controlAddress()],
  });
  return { token, jwt };
}

export function ottView(parts: ManagementParts, enrollment: OpenEnrollment): JsonObject {
  const { id, expiresAtMs } = enrollment;
  return { id, expiresAt: isoTime(expiresAtMs), ...tokenOf(parts, 'edge', enrollment) };
}
