/** Open enrollments of identities and routers, with the token that clients enroll with. */
import { isoTime } from '../client-api/service-view.ts';
import type { JsonObject } from '../../overlay/model/mod.ts';
import {
  createEnrollment,
  deleteOpenEnrollments,
  mintJti,
  openEnrollmentsOf,
  type OpenEnrollment,
} from '../../overlay/enrollments/mod.ts';
import type { Queries } from '../../store/mod.ts';
import { referenceView } from './entity-form.ts';
import type { ManagementParts } from './entity-resource.ts';

export const ENROLLMENT_TTL_MS = 10_800_000;

type Kind = 'edge' | 'edge-password' | 'edge-authority' | 'router' | 'transit-router';

export interface EdgeEnrollment extends OpenEnrollment {
  readonly kind: Kind;
}

const METHODS = {
  edge: 'ott',
  'edge-password': 'updb',
  'edge-authority': 'ottca',
  router: 'erott',
  'transit-router': 'trott',
} as const;

export const KINDS_OF = {
  identity: ['edge', 'edge-password', 'edge-authority'],
  router: ['router', 'transit-router'],
} as const satisfies Record<string, readonly Kind[]>;

/** The open enrollments of identities or routers by their id; of several, the newest. */
export async function openEnrollments(
  { store, clock }: ManagementParts,
  of: keyof typeof KINDS_OF,
): Promise<ReadonlyMap<string, EdgeEnrollment>> {
  const found = await openEnrollmentsOf(store.db, KINDS_OF[of], clock.nowMs());
  return new Map(found.map((one) => [one.identityId, one as EdgeEnrollment]));
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
  await deleteOpenEnrollments(trx, identityId);
  const ofIdentity =
    username !== undefined ? 'edge-password' : authorityId !== undefined ? 'edge-authority' : 'edge';
  await createEnrollment(trx, secrets, {
    kind: identityKind === 'edge' ? ofIdentity : identityKind,
    ownerId: null,
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
  { id, kind, identityId, expiresAtMs }: EdgeEnrollment,
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

export function methodOf({ kind }: EdgeEnrollment): string {
  return METHODS[kind];
}

/** The open enrollment in the view of its identity, by method. */
export function enrollmentsView(parts: ManagementParts, enrollment: EdgeEnrollment | undefined): JsonObject {
  if (enrollment === undefined) return {};
  const { id, expiresAtMs } = enrollment;
  const view = { id, expiresAt: isoTime(expiresAtMs), ...tokenOf(parts, enrollment) };
  return { [methodOf(enrollment)]: { ...view, ...particulars(parts, enrollment) } };
}

/** The fields that only some methods have. */
export function particulars({ model }: ManagementParts, enrollment: EdgeEnrollment): JsonObject {
  const { username, authorityId } = enrollment;
  if (username !== null) return { username };
  if (authorityId === null) return {};
  const name = model.edge.get('ca', authorityId)?.name ?? '';
  return { caId: authorityId, ca: referenceView('cas', authorityId, name) };
}
