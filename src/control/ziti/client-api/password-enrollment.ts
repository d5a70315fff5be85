/** Enrollment by password (OpenZiti's updb): a one-time token is exchanged for the password of a given user name. */
import type { FastifyRequest } from 'fastify';
import { appendMachineAudit } from '../../audit/mod.ts';
import { authPolicyOf, passwordProblem } from '../../overlay/model/mod.ts';
import { hashPassword } from '../../credentials/passwords/mod.ts';
import { findIdentity } from '../../overlay/records/mod.ts';
import { claimEnrollment } from '../../overlay/enrollments/mod.ts';
import { putIdentityPassword } from '../../credentials/identities/mod.ts';
import { endPasswordLogIns, couldNotValidate, jsonBody } from '../../overlay/clients/mod.ts';
import type { EnrollmentContext } from './edge-context.ts';
import { KINDS, openEnrollment, refused } from './enrollment-token.ts';
import { isPassword } from './password-log-in.ts';

/** The claim, the password and the audit event are one transaction. Throws if the token or the password is refused. */
export async function enrollPassword(
  context: EnrollmentContext,
  request: FastifyRequest,
  token: string,
): Promise<{ readonly username: string }> {
  const { store, secrets, clock, log, model } = context;
  const { id, username } = await openEnrollment(context, request, token, 'updb');
  const { password, username: named } = jsonBody(request);
  if (!isPassword(password)) throw couldNotValidate('password is missing, too short or too long');
  const problem = passwordProblem(authPolicyOf(model.edge, id), password);
  if (problem !== undefined) throw couldNotValidate(problem);
  if (username === null) throw refused(context, request, 'wrong-method');
  if (named !== undefined && named !== '' && named !== username)
    throw couldNotValidate('username is not the one of the enrollment');
  const wanted = { identityId: id, username, passwordHash: await hashPassword(password) };
  const nowMs = clock.nowMs();
  const claimed = await store.transaction(async (trx, touch) => {
    const result = await claimEnrollment(trx, secrets, token, nowMs, KINDS.updb);
    if (!result.ok) return result;
    const known = await findIdentity(trx, id);
    if (known === undefined) return { ok: false, reason: 'identity-gone' } as const;
    await putIdentityPassword(trx, wanted, nowMs);
    await endPasswordLogIns(trx, touch, id, nowMs);
    touch('identity', id);
    await appendMachineAudit(trx, touch, context, {
      ownerId: null,
      actor: { kind: 'enrollment', id: result.enrollment.id },
      action: 'enroll',
      target: { kind: known.kind, id },
      after: { username },
      address: request.ip,
    });
    return result;
  });
  if (!claimed.ok) throw refused(context, request, claimed.reason);
  log.info({ identity: id, address: request.ip }, 'enrolled with a password');
  return { username };
}
