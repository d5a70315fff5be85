/** The services that a client may use. */
import type { FastifyInstance } from 'fastify';
import { terminatorsOfService } from '../../overlay/records/mod.ts';
import { isHostedService, type Service } from '../../overlay/model/mod.ts';
import { notFound, sendData, type EdgeCaller, queryOf } from '../../overlay/clients/mod.ts';
import { sendPage } from './list-answer.ts';
import { serviceSymbols, terminatorSymbols } from './entity-symbols.ts';
import { anyConfigIds, anyServiceView } from './managed-service-view.ts';
import { routersFor, type ServiceContext } from './service-session-routes.ts';
import { onlineRouterViews } from './service-view.ts';

interface ById {
  Params: { id: string };
}

export function addServiceRoutes(app: FastifyInstance, context: ServiceContext): void {
  const { model } = context;

  app.get('/services', (request, reply) => {
    const { session } = context.callers.callerOf(request);
    const { identityId } = session;
    const query = queryOf(request);
    const asked = query.getAll('configTypes').flatMap((one) => one.split(','));
    const configTypes = asked.length === 0 ? session.configTypes : asked;
    const symbols = serviceSymbols((service) =>
      anyConfigIds(context, identityId, service).map((id) => ({
        id,
        name: model.edge.get('config', id)?.name ?? id,
      })),
    );
    return sendPage(reply, query, model.servicesOf(identityId), symbols, (service) =>
      anyServiceView(context, session, service, configTypes),
    );
  });

  app.get<ById>('/services/:id', (request, reply) => {
    const caller = context.callers.callerOf(request);
    const service = visible(context, caller, request.params.id);
    return sendData(reply, anyServiceView(context, caller.session, service, caller.session.configTypes));
  });

  app.get<ById>('/services/:id/edge-routers', (request, reply) => {
    const caller = context.callers.callerOf(request);
    const service = visible(context, caller, request.params.id);
    const token = queryOf(request).get('session-token');
    if (token !== null) {
      const grant = context.edgeTokens.tokens.verify(token);
      if (grant?.serviceId !== request.params.id || grant.identityId !== caller.session.identityId)
        throw notFound();
    }
    const routers = routersFor(context, caller.session.identityId, service);
    return sendData(reply, { edgeRouters: onlineRouterViews(routers) });
  });

  app.get<ById>('/services/:id/terminators', async (request, reply) => {
    const caller = context.callers.callerOf(request);
    const service = visible(context, caller, request.params.id);
    const rows = await terminatorsOfService(context.store.db, service.id, isHostedService(service));
    return sendPage(reply, queryOf(request), rows, terminatorSymbols, (row) => ({
      id: row.id,
      identity: row.instanceId,
      routerId: row.routerId,
      serviceId: row.serviceId,
      service: { id: service.id, name: service.name, entity: 'services' },
    }));
  });
}

function visible(context: ServiceContext, caller: EdgeCaller, serviceId: string): Service {
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
