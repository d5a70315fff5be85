/**
 * Selects the refusals of the Management API for the audit trail: those of a credential, a permission, an
 * enrollment code, and rate limits. Refusals of a request's form or of a state (400, 404, 409…) are not recorded,
 * because they do not concern access.
 */
import type { FastifyRequest } from 'fastify';
import { FrontdoorError } from '#base';
import type { Operation } from '#contract';
import { apiSpelling, isUuid } from '#domain';
import { UNPROVEN, type RefusalRecorder } from '../../audit/mod.ts';
import type { Principal } from '../../credentials/oauth/mod.ts';
import type { ApiRefusal } from './api-errors.ts';

const STATUSES: ReadonlySet<number> = new Set([401, 403, 429]);
/** Refusals of credentials with other statuses. */
const CREDENTIAL_CODES: ReadonlySet<string> = new Set(['malformed_authorization', 'invalid_scope']);

/** Records an operation's refusal with the thrown value; undefined if the response was not thrown. */
export function recordRefusal(
  recorder: Pick<RefusalRecorder, 'record'>,
  operation: Operation,
  request: FastifyRequest,
  caller: Principal | undefined,
  refusal: Pick<ApiRefusal, 'status' | 'body'>,
  error?: unknown,
): void {
  const reason = error instanceof FrontdoorError ? apiSpelling(error.code) : refusal.body.error;
  const isUnknownCode = operation.id === 'getBootstrapToken' && refusal.status === 404;
  if (!STATUSES.has(refusal.status) && !CREDENTIAL_CODES.has(reason) && !isUnknownCode) return;
  const { frontdoorId } = request.params as Readonly<Record<string, string>>;
  const isFrontdoor = frontdoorId !== undefined && isUuid(frontdoorId);
  recorder.record({
    ...(caller === undefined
      ? UNPROVEN
      : {
          owner: { organizationId: caller.organizationId },
          actor: { kind: caller.kind, id: caller.id },
        }),
    action: operation.id,
    target: isFrontdoor ? { kind: 'frontdoor', id: frontdoorId.toLowerCase() } : undefined,
    address: request.ip,
    reason,
  });
}
