/** The token of an enrollment: who may try one, what it claims, and one refusal for every reason. */
import type { FastifyRequest } from 'fastify';
import { addressKey } from '#base';
import { MAX_EDGE_ENTITIES } from '../../overlay/records/mod.ts';
import { findByToken, type EnrollmentKind } from '../../overlay/enrollments/mod.ts';
import { EdgeApiRefusal, limited } from '../../overlay/clients/mod.ts';
import type { EnrollmentContext } from './edge-context.ts';

export type EnrollmentMethod = 'ott' | 'ottca' | 'erott' | 'trott' | 'updb';

/** The enrollments that each method claims. */
export const KINDS: Readonly<Record<EnrollmentMethod, readonly EnrollmentKind[]>> = {
  ott: ['environment', 'gateway', 'edge'],
  ottca: ['edge-authority'],
  erott: ['router'],
  trott: ['transit-router'],
  updb: ['edge-password'],
};

/** Refuses early, before a certificate is signed or a password hashed. Only the claim decides about concurrent requests. */
export async function openEnrollment(
  context: EnrollmentContext,
  request: FastifyRequest,
  token: string,
  method: EnrollmentMethod,
): Promise<{ readonly id: string; readonly username: string | null; readonly authorityId: string | null }> {
  const { store, secrets, clock } = context;
  const found = await findByToken(store.db, secrets, token, clock.nowMs(), KINDS[method]);
  if (!found.ok) throw refused(context, request, found.reason);
  const { identityId: id, username, authorityId } = found.enrollment;
  return { id, username, authorityId };
}

/** One response for every reason; only the log has the reason. The token itself is never logged. */
export function refused(context: EnrollmentContext, request: FastifyRequest, reason: string): EdgeApiRefusal {
  context.log.warn({ address: request.ip, reason }, 'enrollment refused');
  const refusal = invalidToken();
  refusal.reason = `ENROLLMENT_${reason.toUpperCase().replaceAll('-', '_')}`;
  return refusal;
}

export function invalidToken(): EdgeApiRefusal {
  return new EdgeApiRefusal('invalid', 'INVALID_ENROLLMENT_TOKEN', 'The supplied token is not valid');
}

/** Refuses an enrollment that creates an identity when there are too many. */
export function admitIdentity({ model }: EnrollmentContext): void {
  if (model.edge.count('identity') >= MAX_EDGE_ENTITIES)
    throw new EdgeApiRefusal('limited', 'RATE_LIMITED', `There are ${MAX_EDGE_ENTITIES} identities already`);
}

export function admitAddress(context: EnrollmentContext, request: FastifyRequest): void {
  const waitMs = context.enrollments.limit.take(addressKey(request.ip));
  if (waitMs > 0) throw limited(waitMs);
}
