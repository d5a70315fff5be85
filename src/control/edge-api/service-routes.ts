/** The services that a client may use, and sessions that permit dialing or binding one. */
import type { FastifyInstance } from 'fastify';
import {
  isShare,
  type AnyService,
  type EdgeRouter,
  type OverlayService,
  type ServiceGrant,
} from '../model/mod.ts';
import { couldNotValidate, notFound, sendData } from './edge-answer.ts';
import { callerOf, queryOf, type EdgeCaller, type EdgeApiContext } from './edge-context.ts';
import { jsonBody, sendPage } from './edge-request.ts';
import { serviceSessionSymbols, serviceSymbols, terminatorSymbols } from './entity-symbols.ts';
import { anyConfigIds, anyServiceView } from './managed-service-view.ts';
import { postureRefusal } from './posture-queries.ts';
import { onlineRouterViews, serviceSessionView } from './service-view.ts';
import { sessionIdOf } from './service-tokens.ts';

interface ById {
  Params: { id: string };
}

export function addServiceRoutes(app: FastifyInstance, context: EdgeApiContext): void {
  const { model } = context;

  app.get('/services', (request, reply) => {
    const { session } = callerOf(context, request);
    const { identityId } = session;
    const query = queryOf(request);
    const asked = query.getAll('configTypes').flatMap((one) => one.split(','));
    const configTypes = asked.length === 0 ? session.configTypes : asked;
    const symbols = serviceSymbols((service) =>
      anyConfigIds(context, identityId, service).map((id) => ({
        ...{ id, name: model.edge.get('config', id)?.name ?? id },
      })),
    );
    return sendPage(reply, query, model.anyServicesOf(identityId), symbols, (service) =>
      anyServiceView(context, session, service, configTypes),
    );
  });

  app.get<ById>('/services/:id', (request, reply) => {
    const caller = callerOf(context, request);
    const service = visible(context, caller, request.params.id);
    return sendData(reply, anyServiceView(context, caller.session, service, caller.session.configTypes));
  });

  app.get<ById>('/services/:id/edge-routers', (request, reply) => {
    const caller = callerOf(context, request);
    const service = visible(context, caller, request.params.id);
    const token = queryOf(request).get('session-token');
    if (token !== null) {
      const grant = context.tokens.verify(token);
      if (grant?.serviceId !== request.params.id || grant.identityId !== caller.session.identityId)
        throw notFound();
    }
    const routers = routersFor(context, caller.session.identityId, service);
    return sendData(reply, { edgeRouters: onlineRouterViews(routers) });
  });

  app.get<ById>('/services/:id/terminators', async (request, reply) => {
    const caller = callerOf(context, request);
    const service = visible(context, caller, request.params.id);
    const { db } = context.store;
    const rows = isShare(service)
      ? await db
          .selectFrom('terminator')
          .select(['id', 'instance_id', 'router_id', 'share_id as service_id'])
          .where('share_id', '=', service.id)
          .orderBy('id')
          .execute()
      : await db
          .selectFrom('edge_terminator')
          .select(['id', 'instance_id', 'router_id', 'service_id'])
          .where('service_id', '=', service.id)
          .unionAll(
            db
              .selectFrom('managed_terminator')
              .select(['id', 'instance_id', 'router_id', 'service_id'])
              .where('service_id', '=', service.id),
          )
          .orderBy('id')
          .execute();
    return sendPage(reply, queryOf(request), rows, terminatorSymbols, (row) => ({
      id: row.id,
      identity: row.instance_id,
      routerId: row.router_id,
      serviceId: row.service_id,
      service: { id: service.id, name: service.name, entity: 'services' },
    }));
  });

  const viewOf = (grant: ServiceGrant): Record<string, unknown> => {
    const service = permitted(context, grant);
    const routers = routersFor(context, grant.identityId, service);
    return serviceSessionView(grant, context.tokens.mint(grant), service, routers);
  };

  app.post('/sessions', (request, reply) => {
    const caller = callerOf(context, request);
    const { serviceId, type } = (jsonBody(request) ?? {}) as { serviceId?: unknown; type?: unknown };
    if (typeof serviceId !== 'string' || serviceId === '') throw couldNotValidate('serviceId is missing');
    const wanted = type === undefined ? 'Dial' : type;
    if (wanted !== 'Dial' && wanted !== 'Bind') throw couldNotValidate('type is neither Dial nor Bind');
    const grant = grantOf(caller, serviceId, wanted);
    permitted(context, grant);
    const failed = failedPolicies(caller, grant);
    if (failed !== undefined) throw postureRefusal(failed);
    const { isSigned } = caller.session;
    const sessionId = sessionIdOf(grant);
    context.events.emit('session', { ...grant, sessionId, sessionType: grant.type, isSigned });
    return sendData(reply, viewOf(grant), 201);
  });

  /** Routers judge sessions of signed tokens themselves. */
  const failedPolicies = ({ session }: EdgeCaller, { type, identityId, serviceId }: ServiceGrant) => {
    if (session.isSigned) return undefined;
    const policies = model.edge.grantingPolicies(type, identityId, serviceId);
    return model.edge.postureChecks.failuresOf(policies, session.posture, context.clock.nowMs());
  };

  // Sessions are not stored: each permission of the client is one, with an id that is derived from it.
  const sessionsOf = (caller: EdgeCaller): ServiceGrant[] => {
    const { identityId } = caller.session;
    return model
      .anyServicesOf(identityId)
      .flatMap((service) => [
        ...(model.mayDial(identityId, service) ? [grantOf(caller, service.id, 'Dial')] : []),
        ...(model.mayBind(identityId, service) ? [grantOf(caller, service.id, 'Bind')] : []),
      ])
      .filter((grant) => failedPolicies(caller, grant) === undefined);
  };
  app.get('/sessions', (request, reply) => {
    const grants = sessionsOf(callerOf(context, request));
    return sendPage(reply, queryOf(request), grants, serviceSessionSymbols, viewOf);
  });

  app.get<ById>('/sessions/:id', (request, reply) => {
    const grants = sessionsOf(callerOf(context, request));
    const grant = grants.find((one) => sessionIdOf(one) === request.params.id);
    if (grant === undefined) throw notFound();
    return sendData(reply, viewOf(grant));
  });
}

function grantOf(caller: EdgeCaller, serviceId: string, type: 'Dial' | 'Bind'): ServiceGrant {
  return { serviceId, identityId: caller.session.identityId, apiSessionId: caller.session.id, type };
}

/** A service that the caller may not use is indistinguishable from one that does not exist. */
function permitted(context: EdgeApiContext, grant: ServiceGrant): OverlayService {
  const { model } = context;
  const service = model.anyService(grant.serviceId);
  const allowed =
    service !== undefined &&
    (grant.type === 'Bind'
      ? model.mayBind(grant.identityId, service)
      : model.mayDial(grant.identityId, service));
  if (!allowed) throw notFound();
  return service;
}

function visible(context: EdgeApiContext, caller: EdgeCaller, serviceId: string): AnyService {
  const { identityId } = caller.session;
  const service = context.model.anyService(serviceId);
  if (
    service === undefined ||
    !(context.model.mayBind(identityId, service) || context.model.mayDial(identityId, service))
  ) {
    throw notFound();
  }
  return service;
}

function routersFor(
  { model, routers }: EdgeApiContext,
  identityId: string,
  service: OverlayService,
): EdgeRouter[] {
  return routers()
    .filter(({ id }) => model.mayUseRouter(identityId, service, id))
    .map((router) => ({ ...router, traits: model.edge.routerTraits(router.id) }));
}
