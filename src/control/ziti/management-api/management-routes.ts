/**
 * The edge management API below `/edge/management/v1`. Everything besides version, authorities and log-in needs the
 * session of an administrator, which is checked before a body is read.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { TokenBuckets } from '#base';
import type { WebSocketUpgrades } from '#net/http';
import { addNetworkTokens, addVersionRoutes, MANAGEMENT_PATH } from '../client-api/information-routes.ts';
import { bodyRule, limited, sendData } from '../../overlay/clients/mod.ts';
import type { EdgeContext } from '../client-api/edge-context.ts';
import { Administrators } from './administrators.ts';
import { addAuthenticatorRoutes } from './authenticator-routes.ts';
import { authPolicyResource } from './auth-policy-resource.ts';
import { authorityResource } from './authority-resource.ts';
import { addAuthorityRoutes } from './authority-routes.ts';
import { edgeRouterResource } from './edge-router-resource.ts';
import { ENTITY_FORMS } from './plain-entity-forms.ts';
import {
  plainResource,
  type EntityResource,
  type ManagedOverlay,
  type ManagementParts,
} from './entity-resource.ts';
import { addEnrollmentRoutes } from './enrollment-routes.ts';
import { addEntityRoutes } from './entity-routes.ts';
import { addFabricEventRoutes } from './fabric-event-routes.ts';
import { FabricInspection } from './fabric-inspection.ts';
import { addFabricInspectionRoutes } from './fabric-inspection-routes.ts';
import { externalJwtSignerResource } from './external-jwt-signer-resource.ts';
import { identityResource } from './identity-resource.ts';
import { addIdentityTotpRoutes } from './identity-totp-routes.ts';
import { addManagementLists } from './management-lists.ts';
import { postureCheckResource } from './posture-check-form.ts';
import { addRelatedEntities } from './related-entities.ts';
import { terminatorResource } from './terminator-resource.ts';
import { transitRouterResource } from './transit-router-resource.ts';

const MAX_BODY_BYTES = 262_144;
/** Calls of one administrator. */
const CALLS = { perSecond: 200, burst: 2_000 };
const OPEN: ReadonlySet<string> = new Set([
  '/',
  '/version',
  '/authenticate',
  '/.well-known/est/cacerts',
  '/network-jwts',
]);

const RESOURCES: readonly EntityResource[] = [
  identityResource,
  edgeRouterResource,
  transitRouterResource,
  authorityResource,
  authPolicyResource,
  externalJwtSignerResource,
  postureCheckResource,
  terminatorResource,
  ...ENTITY_FORMS.map(plainResource),
];

export async function addManagementRoutes(
  app: FastifyInstance,
  context: EdgeContext,
  webSockets: WebSocketUpgrades,
  overlay: ManagedOverlay,
): Promise<void> {
  const { store, secrets, model, clock, log, pki, mesh, addresses, signIn } = context;
  const { sessions } = signIn;
  const parts: ManagementParts = {
    store,
    secrets,
    model,
    clock,
    log,
    pki,
    sessions,
    mesh,
    addresses,
    overlay,
  };
  const administrators = new Administrators(context);
  const calls = new TokenBuckets(CALLS, clock);
  const inspection = new FabricInspection(parts);
  addFabricEventRoutes(app, parts, { webSockets, administrators, inspection });
  addFabricInspectionRoutes(app, administrators, inspection);
  await app.register(
    (scope, _options, done) => {
      scope.addHook('onRoute', (route) => {
        route.config = {
          ...bodyRule({ maxBytes: MAX_BODY_BYTES, maxUnprovenBytes: MAX_BODY_BYTES }),
          ...route.config,
        };
      });
      scope.addHook('onRequest', async (request, reply) => {
        if (OPEN.has(pathOf(request))) return;
        await administrators.prove(request, reply);
        const waitMs = calls.take(administrators.of(request).identity.id);
        if (waitMs > 0) throw limited(waitMs);
      });
      addVersionRoutes(scope, context, true);
      addNetworkTokens(scope, context);
      administrators.addRoutes(scope);
      addManagementLists(scope, parts);
      for (const resource of RESOURCES) addEntityRoutes(scope, parts, administrators, resource, RESOURCES);
      addRelatedEntities(scope, parts, RESOURCES);
      addEnrollmentRoutes(scope, parts, administrators);
      addAuthorityRoutes(scope, parts, administrators);
      addAuthenticatorRoutes(scope, parts, administrators);
      addIdentityTotpRoutes(scope, parts, administrators);
      scope.get('/current-identity', async (request, reply) => {
        const { identity } = administrators.of(request);
        return sendData(reply, (await identityResource.viewer(parts))(identity));
      });
      done();
    },
    { prefix: MANAGEMENT_PATH },
  );
}

/** The pattern of the route without the prefix. */
function pathOf(request: FastifyRequest): string {
  const path = (request.routeOptions.url ?? '').slice(MANAGEMENT_PATH.length);
  return path === '' ? '/' : path;
}
