/**
 * Enrollment by a token of another party, whose signer administrators permit it to: the token creates an identity with the name and
 * roles of its claims, which logs in by such tokens, or by a certificate that it requests at once.
 */
import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { appendMachineAudit } from '../../audit/mod.ts';
import { DEFAULT_AUTH_POLICY_ID, permitsLogIn, type EdgeEntityRecord } from '../../overlay/model/mod.ts';
import { FOREIGN_LIFETIME_DAYS } from '../../pki/mod.ts';
import {
  findEdgeIdentityByExternalId,
  insertCertificate,
  insertEdgeIdentity,
  isEdgeNameTaken,
  lockEdgeEntities,
} from '../../overlay/records/mod.ts';
import {
  badCsr,
  couldNotValidate,
  EdgeApiRefusal,
  jsonBody,
  bearerTokensOf,
} from '../../overlay/clients/mod.ts';
import type { EnrollmentContext } from './edge-context.ts';
import { admitIdentity, invalidToken } from './enrollment-token.ts';
import { enrolledIdentity, identityNameOf } from './enrolled-identity.ts';

/** Returns the chain of the certificate and the authorities, or nothing for an identity that logs in by tokens. */
export async function enrollByToken(
  context: EnrollmentContext,
  request: FastifyRequest,
): Promise<{ readonly cert?: string; readonly ca?: string }> {
  const { store, clock, pki, log } = context;
  const { clientCsr = '' } = jsonBody(request);
  if (typeof clientCsr !== 'string') throw couldNotValidate('clientCsr is not a text');
  const { signer, claims } = await signedClaims(context, request);
  const policyId = permittedPolicy(context, signer, clientCsr === '' ? 'ext-jwt' : 'cert');
  admitIdentity(context);
  if (context.enrollments.externalIds.isKnown(claims.externalId)) throw alreadyEnrolled();
  const nowMs = clock.nowMs();
  const id = randomUUID();
  const issuing =
    clientCsr === ''
      ? undefined
      : await pki.issueClient(clientCsr, { id, lifetimeDays: FOREIGN_LIFETIME_DAYS });
  if (issuing !== undefined && 'problem' in issuing) throw badCsr(issuing.problem);
  await store.transaction(async (trx, touch) => {
    await lockEdgeEntities(trx);
    if ((await findEdgeIdentityByExternalId(trx, claims.externalId)) !== undefined) throw alreadyEnrolled();
    const wanted = identityNameOf('[name]', { name: claims.name });
    const name = (await isEdgeNameTaken(trx, 'identity', wanted)) ? `${wanted}-${id}` : wanted;
    const { externalId, roleAttributes } = claims;
    const identity = { id, name, roleAttributes, externalId, authPolicyId: policyId, nowMs };
    await insertEdgeIdentity(trx, touch, enrolledIdentity(identity));
    if (issuing !== undefined) await insertCertificate(trx, id, issuing.issued, nowMs);
    await appendMachineAudit(trx, touch, context, {
      ownerId: null,
      actor: { kind: 'edge', id },
      action: 'enroll',
      address: request.ip,
      target: { kind: 'edge', id },
      after: { name, signer: signer.id, externalId, fingerprint: issuing?.issued.fingerprint },
    });
  });
  log.info({ identity: id, signer: signer.id, address: request.ip }, 'enrolled by a token of another party');
  return issuing === undefined ? {} : { cert: issuing.issued.chainPem, ca: pki.caBundlePem };
}

/** Callers get one answer for every token that is not accepted. */
async function signedClaims(context: EnrollmentContext, request: FastifyRequest) {
  const { ['ziti-token-issuer-id']: signerId } = request.headers;
  let problem = 'no token of another party';
  for (const token of bearerTokensOf(request)) {
    const read = await context.enrollments.externalSigners.enrolling(token);
    if ('problem' in read) ({ problem } = read);
    else if (signerId === undefined || signerId === read.signer.id) return read;
  }
  context.log.warn({ address: request.ip, problem }, 'enrollment by a token of another party refused');
  throw invalidToken();
}

/** Returns the policy of the new identity, if the signer and that policy permit the way in which it will log in. */
function permittedPolicy(
  { model }: EnrollmentContext,
  { id: signerId, data }: EdgeEntityRecord,
  method: 'cert' | 'ext-jwt',
): string {
  const { enrollAuthPolicyId } = data;
  const policyId = typeof enrollAuthPolicyId === 'string' ? enrollAuthPolicyId : DEFAULT_AUTH_POLICY_ID;
  const policy = model.edge.get('auth-policy', policyId);
  const isEnabled = data[method === 'cert' ? 'enrollToCertEnabled' : 'enrollToTokenEnabled'] === true;
  if (!isEnabled || policy === undefined || !permitsLogIn(policy, { method, signerId }))
    throw new EdgeApiRefusal(
      'conflict',
      'INVALID_ENROLLMENT_NOT_ALLOWED',
      'The configuration does not allow this enrollment',
    );
  return policyId;
}

function alreadyEnrolled(): EdgeApiRefusal {
  return new EdgeApiRefusal(
    'conflict',
    'ENROLLMENT_IDENTITY_ALREADY_ENROLLED',
    'The token supplied for this enrollment already has a matching identity, cannot enroll a new identity',
  );
}
