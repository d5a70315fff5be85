/** Open enrollments of identities and routers, with the token that clients enroll with. */
import { isoTime } from '../client-api/service-view.ts';
import type { JsonObject } from '../../overlay/model/mod.ts';
import { createEnrollment, mintJti } from '../../overlay/records/mod.ts';
import type { Queries } from '../../store/mod.ts';
import { referenceView } from './entity-form.ts';
import type { ManagementParts } from './entity-resource.ts';

export const ENROLLMENT_TTL_MS = 10_800_000;

type Kind = 'edge' | 'edge-password' | 'edge-authority' | 'router' | 'transit-router';

export interface OpenEnrollment {
  readonly id: string;
  readonly kind: Kind;
  readonly identityId: string;
  readonly expiresAtMs: number;
  readonly createdAtMs: number;
  /** For a password; null for a certificate. */
  readonly username: string | null;
  /** The authority of another party that issues the certificate; null for ours. */
  readonly authorityId: string | null;
}

const METHODS = {
  edge: 'ott',
  'edge-password': 'updb',
  'edge-authority': 'ottca',
  router: 'erott',
  'transit-router': 'trott',
} as const;

const KINDS_OF = {
  identity: ['edge', 'edge-password', 'edge-authority'],
  router: ['router', 'transit-router'],
} as const satisfies Record<string, readonly Kind[]>;

/** The open enrollments of identities or routers by their id; of several, the newest. */
export async function openEnrollments(
  { store, clock }: ManagementParts,
  of: keyof typeof KINDS_OF,
): Promise<ReadonlyMap<string, OpenEnrollment>> {
  const rows = await store.db
    .selectFrom('enrollment')
    .select(['id', 'identity_id', 'expires_at', 'created_at', 'username', 'authority_id'])
    .select((eb) => eb.ref('kind').$castTo<Kind>().as('kind'))
    .where('kind', 'in', KINDS_OF[of])
    .where('claimed_at', 'is', null)
    .where('expires_at', '>', clock.nowMs())
    .orderBy('created_at')
    .execute();
  return new Map(
    rows.map((row) => [
      row.identity_id,
      {
        ...{ id: row.id, kind: row.kind, identityId: row.identity_id },
        ...{ username: row.username, authorityId: row.authority_id },
        expiresAtMs: Number(row.expires_at),
        createdAtMs: Number(row.created_at),
      },
    ]),
  );
}

export interface NewEnrollmentOptions {
  readonly ttlMs?: number | undefined;
  /** For a password. */
  readonly username?: string | undefined;
  /** For a certificate that another party issued. */
  readonly authorityId?: string | undefined;
}

/** Replaces the open enrollments of the identity. */
export async function enrollAnew(
  { secrets, clock }: ManagementParts,
  trx: Queries,
  identityKind: 'edge' | 'router' | 'transit-router',
  identityId: string,
  { ttlMs = ENROLLMENT_TTL_MS, username, authorityId }: NewEnrollmentOptions = {},
): Promise<void> {
  await trx
    .deleteFrom('enrollment')
    .where('identity_id', '=', identityId)
    .where('claimed_at', 'is', null)
    .execute();
  const ofIdentity =
    username !== undefined ? 'edge-password' : authorityId !== undefined ? 'edge-authority' : 'edge';
  await createEnrollment(trx, secrets, {
    kind: identityKind === 'edge' ? ofIdentity : identityKind,
    frontdoorId: null,
    identityId,
    ttlMs,
    nowMs: clock.nowMs(),
    username,
    authorityId,
  });
}

/** Each call makes another token; any of them can be used, and once. */
export function tokenOf(
  { pki, secrets, addresses, overlay }: ManagementParts,
  { id, kind, identityId, expiresAtMs }: OpenEnrollment,
): { readonly token: string; readonly jwt: string } {
  const token = mintJti(secrets, id);
  const jwt = pki.mintEnrollmentJwt({
    issuer: addresses.apiUrl(),
    subject: identityId,
    jti: token,
    method: METHODS[kind],
    expiresAtMs,
    controlAddresses: [overlay.ctrlAddress],
  });
  return { token, jwt };
}

export function methodOf({ kind }: OpenEnrollment): string {
  return METHODS[kind];
}

/** The open enrollment in the view of its identity, by method. */
export function enrollmentsView(parts: ManagementParts, enrollment: OpenEnrollment | undefined): JsonObject {
  if (enrollment === undefined) return {};
  const { id, expiresAtMs } = enrollment;
  const view = { id, expiresAt: isoTime(expiresAtMs), ...tokenOf(parts, enrollment) };
  return { [methodOf(enrollment)]: { ...view, ...particulars(parts, enrollment) } };
}

/** The fields that only some methods have. */
export function particulars({ model }: ManagementParts, enrollment: OpenEnrollment): JsonObject {
  const { username, authorityId } = enrollment;
  if (username !== null) return { username };
  if (authorityId === null) return {};
  const name = model.edge.get('ca', authorityId)?.name ?? '';
  return { caId: authorityId, ca: referenceView('cas', authorityId, name) };
}
