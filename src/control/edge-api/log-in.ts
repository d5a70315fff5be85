/** The log-in of an identity by its certificate, which both kinds of API sessions begin with. */
import type { FastifyRequest } from 'fastify';
import type { LiveSession } from './api-session-store.ts';
import type { SessionForm } from './api-session-rows.ts';
import { couldNotValidate, EdgeApiRefusal, limited } from './edge-answer.ts';
import { appendPeerAudit } from './edge-audit.ts';
import type { EdgeApiContext } from './edge-context.ts';
import type { StoreTransaction, Touch } from '../store/mod.ts';
import type { ProvenPeer } from './peer-identity.ts';

const MAX_CONFIG_TYPES = 100;
const MAX_CONFIG_TYPE_CHARS = 200;

/** Returns the peer if its identity may log in. `isMethod` is false if the client asks for another method. */
export function provenForLogIn(
  context: EdgeApiContext,
  request: FastifyRequest,
  isMethod = true,
): ProvenPeer {
  const proof = context.peers.of(request.raw.socket);
  if (isMethod && !('problem' in proof) && proof.peer.identity.kind !== 'router') return proof.peer;
  const problem = 'problem' in proof ? proof.problem : 'not a method or an identity that logs in here';
  const leaf = 'problem' in proof ? proof.signed : proof.peer.leaf;
  context.log.info({ identity: leaf?.id, address: request.ip, problem }, 'edge API: log-in refused');
  const cause = leaf === undefined ? '' : `: ${problem}`;
  throw new EdgeApiRefusal('unauthenticated', 'INVALID_AUTH', `The authentication request failed${cause}`);
}

/** Opens a session, with its audit event. Throws if the identity logs in too often. */
export async function loggedIn(
  context: EdgeApiContext,
  request: FastifyRequest,
  peer: ProvenPeer,
  configTypes: readonly string[],
  form: Exclude<SessionForm, 'signed'>,
): Promise<LiveSession> {
  const { identity, leaf } = peer;
  const waitMs = context.logInLimit.take(identity.id);
  if (waitMs > 0) throw limited(waitMs);
  context.sawPeer(peer);
  const told = context.logIns.due(identity.id, request.ip);
  const { fingerprint } = leaf;
  const record = async (trx: StoreTransaction, touch: Touch, sessionId: string): Promise<void> => {
    if (told === 0) return;
    await appendPeerAudit(trx, touch, context, request, peer, {
      action: 'logIn',
      target: { kind: 'api-session', id: sessionId },
      after: { fingerprint },
      occurrences: told,
    });
  };
  const session = await context.sessions.create(identity.id, fingerprint, configTypes, form, record);
  context.logIns.done(identity.id, request.ip, told);
  const fields = { identity: identity.id, apiSession: session.id, address: request.ip };
  context.log.info(fields, 'edge API: logged in');
  return session;
}

/** Reads `configTypes` of a log-in. An empty body is a log-in without configs. */
export function configTypesOf(body: unknown): string[] {
  if (body === undefined || body === null) return [];
  const { configTypes } = body as { configTypes?: unknown };
  if (configTypes === undefined || configTypes === null) return [];
  const texts = Array.isArray(configTypes) && configTypes.every((one) => typeof one === 'string');
  if (!texts || configTypes.length > MAX_CONFIG_TYPES)
    throw couldNotValidate('configTypes is not a list of texts');
  if (configTypes.some((one: string) => one.length > MAX_CONFIG_TYPE_CHARS))
    throw couldNotValidate('a config type is too long');
  return configTypes;
}
