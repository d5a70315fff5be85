/**
 * Limits for bodies of the edge API, depending on the peer. The certificate is known before the first byte of a
 * body: a peer without a certificate that proves an identity may send only a certificate request to an
 * enrollment. Its other requests are answered without reading their body, and the route refuses the peer.
 */
import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { checkStatedLength, type BodyAllowance, type BodyIntake } from '#net/http';
import type { Identity } from '../model/overlay-model.ts';
import { tokenOf, type Callers } from './callers.ts';

/** Limits of a route, in bytes. */
export interface BodyRule {
  /** For an authenticated peer; 256 KiB by default. */
  readonly maxBytes?: number;
  /** For an unauthenticated peer; if absent, its body is not read. */
  readonly maxUnprovenBytes?: number;
  /** Identities of other kinds are answered without reading their body; any kind by default. */
  readonly kind?: Identity['kind'];
}

/** For reports of gateways. */
export const MAX_BODY_BYTES = 1_048_576;
/** One request for each of a router's two certificates, in JSON, with many names. */
export const MAX_CSR_BYTES = 65_536;
const USUAL_BYTES = 262_144;
/** Limit for a body that is not read: a longer one is refused, a shorter one gets the route's own response. */
const MAX_IGNORED_BYTES = 16_384;

/** Route option with the rule: `{ config: bodyRule({ … }) }`. */
export function bodyRule(rule: BodyRule): { readonly body: BodyRule } {
  return { body: rule };
}

export function addBodySteps(app: FastifyInstance, callers: Callers, intake: BodyIntake): void {
  /** Returns undefined if the body must not be read. */
  const allowanceOf = (request: FastifyRequest): BodyAllowance | undefined => {
    const { body: rule = {} } = request.routeOptions.config as { body?: BodyRule };
    const { maxBytes = USUAL_BYTES, maxUnprovenBytes, kind } = rule;
    const proof = callers.peers.of(request.raw.socket);
    if ('problem' in proof) {
      const session = kind === undefined ? callers.bearerSessionOf(tokenOf(request)) : undefined;
      if (session !== undefined) return { peer: session.identityId, maxBytes };
      return maxUnprovenBytes === undefined ? undefined : { peer: undefined, maxBytes: maxUnprovenBytes };
    }
    const { identity } = proof.peer;
    return kind === undefined || identity.kind === kind ? { peer: identity.id, maxBytes } : undefined;
  };

  const responses = new WeakMap<FastifyRequest, ServerResponse>();
  app.addHook('onRequest', (request, reply, done) => {
    responses.set(request, reply.raw);
    checkStatedLength(request.raw, allowanceOf(request)?.maxBytes ?? MAX_IGNORED_BYTES);
    done();
  });
  // Bodies are text whatever their content type: the C SDK sends its request as text/plain, Go as x-pem-file.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', async (request: FastifyRequest) => {
    const allowance = allowanceOf(request);
    if (allowance === undefined) return undefined;
    const response = responses.get(request)!;
    return (await intake.read(request.raw, response, allowance)).toString('utf8');
  });
  app.addHook('onSend', (request, reply, _payload, done) => {
    intake.endIfUnread(request.raw, reply.raw, !('problem' in callers.peers.of(request.raw.socket)));
    done();
  });
}
