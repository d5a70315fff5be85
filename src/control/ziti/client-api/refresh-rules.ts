/**
 * The rules for new tokens of a session, at its log-in and at each refresh: the authentication policy of its identity has to
 * permit the way by which it logged in, now. Changes of a policy end sessions, but a certificate expires without one.
 */
import { authPolicyOf, permitsExpired, permitsLogIn, requiredSignerOf } from '../../overlay/model/mod.ts';
import type { LiveSession } from '../../overlay/clients/mod.ts';
import { hasValidCertificate } from '../../overlay/records/mod.ts';
import type { SignInContext } from './edge-context.ts';

/** Returns the reason for which the session may not continue; undefined if it may. */
export async function refreshProblem(
  { model, signIn, store, clock }: SignInContext,
  session: LiveSession,
): Promise<string | undefined> {
  const { identityId, method } = session;
  const policy = authPolicyOf(model.edge, identityId);
  if (!permitsLogIn(policy, session)) return 'the authentication policy does not permit the method';
  if (requiredSignerOf(policy) !== undefined && requiredSignerOf(policy) !== session.secondSignerId)
    return 'the authentication policy requires a token of another signer';
  if ((await signIn.secondFactors.needOf(identityId)) === 'enrollment')
    return 'the authentication policy requires a one-time password';
  const nowMs = clock.nowMs();
  if (method !== 'cert' || permitsExpired(policy) || nowMs < (session.certificateEndsAtMs ?? 0))
    return undefined;
  const isValid = await hasValidCertificate(store.db, identityId, nowMs);
  return isValid ? undefined : 'every certificate of the identity has expired';
}
