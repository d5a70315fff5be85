/** The services that a client may use, and sessions that permit dialing or binding one. */
import type { FastifyInstance } from 'fastify';
import type { Service, ServiceGrant } from '../model/mod.ts';
import { couldNotValidate, notFound, sendData } from './edge-answer.ts';
import { callerOf, queryOf, type EdgeCaller, type EdgeApiContext } from './edge-context.ts';
import { jsonBody, sendPage } from './edge-request.ts';
import { serviceSessionSymbols, serviceSymbols, terminatorSymbols } from './entity-symbols.ts';
import {
  onlineRouterViews,
  rightsOf,
  serviceSessionView,
  serviceView,
  type ServiceViewOptions,
} from './service-view.ts';
import { sessionIdOf } from './service-tokens.ts';
import { shareConfigIds, type ShareRights } from './share-configs.ts';

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
    const rights = (service: Service): ShareRights => rightsOf(model, identityId, service);
    const symbols = serviceSymbols((service) =>
      shareConfigIds(service, rights(service), context.interceptDomain),
    );
    return sendPage(reply, query, model.servicesOf(identityId), symbols, (service) =>
      serviceView(service, rightsOf(model, identityId, service), viewOptions(context, service, configTypes)),
    );
  });

  app.get<ById>('/services/:id', (request, reply) => {
    const caller = callerOf(context, request);
    const { identityId, configTypes } = caller.session;
    const service = visible(context, caller, request.params.id);
    return sendData(
      reply,
      serviceView(service, rightsOf(model, identityId, service), viewOptions(context, service, configTypes)),
    );
  });

  app.get<ById>('/services/:id/edge-routers', (request, reply) => {
    const caller = callerOf(context, request);
    visible(context, caller, request.params.id);
    const token = queryOf(request).get('session-token');
    if (token !== null) {
      const grant = context.tokens.verify(token);
      if (grant?.serviceId !== request.params.id || grant.identityId !== caller.session.identityId)
        throw notFound();
    }
    return sendData(reply, { edgeRouters: onlineRouterViews(context.routers()) });
  });

  app.get<ById>('/services/:id/terminators', async (request, reply) => {
    const caller = callerOf(context, request);
    const service = visible(context, caller, request.params.id);
    const rows = await context.store.db
      .selectFrom('terminator')
      .select(['id', 'instance_id', 'router_id', 'share_id'])
      .where('share_id', '=', service.id)
      .orderBy('id')
      .execute();
    return sendPage(reply, queryOf(request), rows, terminatorSymbols, (row) => ({
      id: row.id,
      identity: row.instance_id,
      routerId: row.router_id,
      serviceId: row.share_id,
      service: { id: service.id, name: service.name, entity: 'services' },
    }));
  });

  app.post('/sessions', (request, reply) => {
    const caller = callerOf(context, request);
    const { serviceId, type } = (jsonBody(request) ?? {}) as { serviceId?: unknown; type?: unknown };
    if (typeof serviceId !== 'string' || serviceId === '') throw couldNotValidate('serviceId is missing');
    const wanted = type === undefined ? 'Dial' : type;
    if (wanted !== 'Dial' && wanted !== 'Bind') throw couldNotValidate('type is neither Dial nor Bind');
    const grant = grantOf(caller, serviceId, wanted);
    const service = permitted(context, grant);
    return sendData(
      reply,
      serviceSessionView(grant, context.tokens.mint(grant), service, context.routers()),
      201,
    );
  });

  // Sessions are not stored: each permission of the client is one, with an id that is derived from it.
  const sessionsOf = (caller: EdgeCaller): ServiceGrant[] => {
    const { identityId } = caller.session;
    return model
      .servicesOf(identityId)
      .flatMap((service) => [
        ...(model.mayDial(identityId, service) ? [grantOf(caller, service.id, 'Dial')] : []),
        ...(model.mayBind(identityId, service) ? [grantOf(caller, service.id, 'Bind')] : []),
      ]);
  };
  const viewOf = (grant: ServiceGrant): Record<string, unknown> =>
    serviceSessionView(grant, context.tokens.mint(grant), permitted(context, grant), context.routers());

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

function viewOptions(
  { interceptDomain, hasKeylessHost }: EdgeApiContext,
  { id }: Service,
  configTypes: readonly string[],
): ServiceViewOptions {
  return { configTypes, interceptDomain, hasKeylessHost: hasKeylessHost(id) };
}

function grantOf(caller: EdgeCaller, serviceId: string, type: 'Dial' | 'Bind'): ServiceGrant {
  return { serviceId, identityId: caller.session.identityId, apiSessionId: caller.session.id, type };
}

/** A service that the caller may not use is indistinguishable from one that does not exist. */
function permitted(context: EdgeApiContext, grant: ServiceGrant): Service {
  const { model } = context;
  const service = model.service(grant.serviceId);
  const allowed =
    service !== undefined &&
    (grant.type === 'Bind'
      ? model.mayBind(grant.identityId, service)
      : model.mayDial(grant.identityId, service));
  if (!allowed) throw notFound();
  return service;
}

function visible(context: EdgeApiContext, caller: EdgeCaller, serviceId: string): Service {
  const { identityId } = caller.session;
  const service = context.model.service(serviceId);
  if (
    service === undefined ||
    !(context.model.mayBind(identityId, service) || context.model.mayDial(identityId, service))
  ) {
    throw notFound();
  }
  return service;
}
