/**
 * `/gateway/v1/logins`, `/sessions`, `/providers` and `/usage`: gateways pass on requests of browsers and report
 * the use of keys and sessions. A refused log-in is a normal response, which the gateway shows to the person.
 * Nothing of a body is logged.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import type { Shape, ShapeOf } from '#base/shapes';
import {
  gatewayUsageShape,
  loginCallbackShape,
  loginRedeemedShape,
  loginRedemptionShape,
  loginReturnedShape,
  loginStartedShape,
  loginStartShape,
  providerQueryShape,
  sessionFoundShape,
  sessionQueryShape,
  signInPageQueryShape,
  signInPageShape,
} from '#domain/gateway-shapes';
import { takeGatewayUsage } from '../logins/gateway-usage.ts';
import type { LoginParts } from '../logins/login-parts.ts';
import { takeDomainCertificates } from '../records/domain-certificate-store.ts';
import { takePortRange } from '../records/ingress-port-store.ts';
import { bodyRule, type CallerContext, readBody, readReport, sendShape } from '../../overlay/clients/mod.ts';

/** So many entries of each kind as a usage report may have, with the longest names that are usual. */
const MAX_USAGE_BYTES = 4 * 1_048_576;

export function addGatewayLoginRoutes(
  app: FastifyInstance,
  context: CallerContext,
  { logins, issuers, signInPages }: Pick<LoginParts, 'logins' | 'issuers' | 'signInPages'>,
): void {
  const { store, clock, log } = context;

  const read = <S extends TSchema>(request: FastifyRequest, shape: Shape<S>): ShapeOf<S> => {
    context.callers.peerOfKind(request, 'gateway');
    return readBody(request, shape).value;
  };

  app.post('/gateway/v1/logins/start', async (request, reply) =>
    sendShape(reply, loginStartedShape, await logins.start(read(request, loginStartShape))),
  );
  app.post('/gateway/v1/logins/callback', async (request, reply) =>
    sendShape(reply, loginReturnedShape, await logins.finish(read(request, loginCallbackShape))),
  );
  app.post('/gateway/v1/logins/redeem', async (request, reply) =>
    sendShape(reply, loginRedeemedShape, await logins.redeem(read(request, loginRedemptionShape))),
  );
  app.post('/gateway/v1/logins/page', async (request, reply) =>
    sendShape(reply, signInPageShape, await signInPages.of(read(request, signInPageQueryShape).shareId)),
  );
  app.post('/gateway/v1/sessions/find', async (request, reply) => {
    const { token } = read(request, sessionQueryShape);
    return sendShape(reply, sessionFoundShape, { session: await logins.find(token) });
  });
  app.post('/gateway/v1/sessions/end', async (request, reply) => {
    await logins.end(read(request, sessionQueryShape).token);
    return reply.code(204).send();
  });
  app.post('/gateway/v1/providers/refresh', async (request, reply) => {
    await issuers.refresh(read(request, providerQueryShape).providerId);
    return reply.code(204).send();
  });
  app.post(
    '/gateway/v1/usage',
    { config: bodyRule({ kind: 'gateway', maxBytes: MAX_USAGE_BYTES }) },
    async (request, reply) => {
      const { identity } = context.callers.peerOfKind(request, 'gateway');
      const usage = readReport(
        request,
        gatewayUsageShape,
        ({ keys, sessions, certifiedZones, domains }) =>
          keys.length + sessions.length + certifiedZones.length + domains.length,
        { gateway: identity.id, log },
      );
      const nowMs = clock.nowMs();
      await takeGatewayUsage(store, usage, nowMs);
      await takeDomainCertificates(store, identity.id, usage.domains, nowMs);
      await takePortRange(store, identity.id, 'tcp', usage.tcpPorts);
      await takePortRange(store, identity.id, 'udp', usage.udpPorts);
      return reply.code(204).send();
    },
  );
}
