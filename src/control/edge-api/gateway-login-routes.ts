/**
 * `/gateway/v1/logins`, `/sessions`, `/providers` and `/usage`: gateways pass on requests of browsers and report
 * the use of keys and sessions. A refused log-in is a normal response, which the gateway shows to the person.
 * Nothing of a body is logged.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  MAX_USAGE_ENTRIES,
  type GatewayUsage,
  type LoginCallback,
  type LoginRedemption,
  type LoginStart,
  type SessionQuery,
} from '#domain';
import { BodyChecks, type BodyCheck } from '../checks/mod.ts';
import { takeGatewayUsage } from '../login/mod.ts';
import { sendData } from './edge-answer.ts';
import { bodyRule } from './edge-body.ts';
import { peerOfKind, type EdgeApiContext } from './edge-context.ts';
import { jsonBody } from './edge-request.ts';

const MAX_PARAMETERS = 32;
/** Room for the maximum number of entries with long names. */
const MAX_USAGE_BYTES = 4 * 1_048_576;

const text = (maxLength: number, pattern?: string) => ({
  type: 'string',
  maxLength,
  ...(pattern === undefined ? {} : { pattern }),
});
const id = text(100, '^[0-9A-Za-z-]+$');
const host = text(253, '^[a-z0-9-]+(?:[.][a-z0-9-]+)+$');
/** 32 bytes in base64url. */
const digest = text(43, '^[A-Za-z0-9_-]{43}$');
const time = { type: 'integer', minimum: 0 };
const some = (items: object) => ({ type: 'array', maxItems: MAX_USAGE_ENTRIES, items });
const whole = (properties: Readonly<Record<string, object>>) => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
});

const checks = new BodyChecks();
const isLoginStart = checks.compile(
  whole({
    shareId: id,
    host,
    port: { type: 'integer', minimum: 1, maximum: 65_535 },
    providerId: id,
    // Excludes `//elsewhere` and what browsers treat like it.
    returnTo: text(8_192, '^/(?![/\\\\])[\\x21-\\x5b\\x5d-\\x7e]*$'),
    browser: digest,
    address: text(64),
  }),
);
const isLoginCallback = checks.compile(
  whole({
    host,
    providerId: id,
    parameters: { type: 'object', maxProperties: MAX_PARAMETERS, additionalProperties: text(8_192) },
    address: text(64),
  }),
);
const isLoginRedemption = checks.compile(whole({ shareId: id, host, code: text(100), browser: digest }));
const isSessionQuery = checks.compile(whole({ token: text(100) }));
const isProviderQuery = checks.compile(whole({ providerId: id }));
const isUsage = checks.compile(
  whole({
    keys: some(whole({ providerId: id, name: text(400), lastUsedAtMs: time })),
    sessions: some(whole({ id, lastUsedAtMs: time })),
    certifiedZones: some(host),
  }),
);

export function addGatewayLoginRoutes(app: FastifyInstance, context: EdgeApiContext): void {
  const { store, clock } = context;
  const { logins, issuers } = context.login;

  const read = <T>(request: FastifyRequest, check: BodyCheck): T => {
    peerOfKind(context, request, 'gateway');
    const body = jsonBody(request);
    check(body);
    return body as T;
  };

  app.post('/gateway/v1/logins/start', async (request, reply) =>
    sendData(reply, await logins.start(read<LoginStart>(request, isLoginStart))),
  );
  app.post('/gateway/v1/logins/callback', async (request, reply) =>
    sendData(reply, await logins.finish(read<LoginCallback>(request, isLoginCallback))),
  );
  app.post('/gateway/v1/logins/redeem', async (request, reply) =>
    sendData(reply, await logins.redeem(read<LoginRedemption>(request, isLoginRedemption))),
  );
  app.post('/gateway/v1/sessions/find', async (request, reply) => {
    const { token } = read<SessionQuery>(request, isSessionQuery);
    return sendData(reply, { session: await logins.find(token) });
  });
  app.post('/gateway/v1/sessions/end', async (request, reply) => {
    await logins.end(read<SessionQuery>(request, isSessionQuery).token);
    return reply.code(204).send();
  });
  app.post('/gateway/v1/providers/refresh', async (request, reply) => {
    await issuers.refresh(read<{ providerId: string }>(request, isProviderQuery).providerId);
    return reply.code(204).send();
  });
  app.post(
    '/gateway/v1/usage',
    { config: bodyRule({ kind: 'gateway', maxBytes: MAX_USAGE_BYTES }) },
    async (request, reply) => {
      await takeGatewayUsage(store, read<GatewayUsage>(request, isUsage), clock.nowMs());
      return reply.code(204).send();
    },
  );
}
