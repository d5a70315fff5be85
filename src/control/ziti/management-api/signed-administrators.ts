/**
 * Administrators that call with the access token of a log-in through OpenID Connect, as OpenZiti permits it: the token needs
 * what it needs at the client API, such as the certificate of its identity. A log-in by password with a second factor, which
 * the management API itself does not have, is complete this way.
 */
import type { FastifyRequest } from 'fastify';
import { bearerTokensOf } from '../../overlay/clients/mod.ts';
import type { EdgeContext } from '../client-api/edge-context.ts';
import { findEdgeEntity } from '../../overlay/records/mod.ts';
import type { Administrator } from './administrator.ts';

/** Returns undefined for a request without such a token. Throws a refusal for a token that does not count here. */
export async function signedAdministratorOf(
  context: EdgeContext,
  request: FastifyRequest,
): Promise<Administrator | undefined> {
  const isSigned = bearerTokensOf(request).some(
    (token) => context.edgeTokens.sessionTokens.verifyAccess(token) !== undefined,
  );
  if (!isSigned) return undefined;
  const { session } = context.callers.callerOf(request);
  const identity = await findEdgeEntity(context.store.db, 'identity', session.identityId);
  return identity?.data['isAdmin'] === true ? { session, identity, isSigned } : undefined;
}

/** Whether the session of an earlier `signedAdministratorOf` continues, and is an administrator's. */
export async function isStillSigned(
  { signIn, store }: EdgeContext,
  { session }: Administrator,
): Promise<boolean> {
  if (signIn.sessions.byId(session.id) === undefined) return false;
  const identity = await findEdgeEntity(store.db, 'identity', session.identityId);
  return identity?.data['isAdmin'] === true;
}

export async function endSigned({ signIn }: EdgeContext, sessionId: string): Promise<void> {
  await signIn.sessions.remove(sessionId);
}
