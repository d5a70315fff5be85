/**
 * The refresh of a session's signed tokens: the authentication policy of its identity has to permit the way by which it logged
 * in, now. Changes of a policy end sessions, but a certificate expires without one.
 */
import { authPolicyOf, permitsExpired, permitsLogIn } from '../model/mod.ts';
import type { LiveSession } from './api-session-store.ts';
import type { EdgeApiContext } from './edge-context.ts';

/** Returns the reason for which the session may not go on; undefined if it may. */
export async function refreshProblem(
  { model, secondFactors, store, clock }: EdgeApiContext,
  { identityId, method }: Pick<LiveSession, 'identityId' | 'method'>,
): Promise<string | undefined> {
  const policy = authPolicyOf(model.edge, identityId);
  // The signer of a token is not known any more; a change of the signers that a policy lists ends sessions by tokens.
  if (method !== 'ext-jwt' && !permitsLogIn(policy, { method }))
    return 'the authentication policy does not permit the method';
  if ((await secondFactors.needOf(identityId)) === 'enrollment')
    return 'the authentication policy requires a one-time password';
  if (method !== 'cert' || permitsExpired(policy)) return undefined;
  const valid = await store.db
    .selectFrom('certificate')
    .select('fingerprint')
    .where('identity_id', '=', identityId)
    .where('not_after', '>', clock.nowMs())
    .executeTakeFirst();
  return valid === undefined ? 'every certificate of the identity has expired' : undefined;
}
