/** Sessions that permit dialing or binding a service. They are not stored: each permission of the client is one. */
import type { FastifyInstance } from 'fastify';
import type { EdgeRouter, Service, ServiceGrant } from '../../overlay/model/mod.ts';
import {
  type EdgeCaller,
  couldNotValidate,
  notFound,
  sendData,
  type CallerContext,
  jsonBody,
  queryOf,
} from '../../overlay/clients/mod.ts';
import type { EdgeContext } from './edge-context.ts';
import { sendPage } from './list-answer.ts';
import { serviceSessionSymbols } from './entity-symbols.ts';
import { postureRefusal } from './posture-queries.ts';
import { sessionIdOf } from './service-tokens.ts';
import { serviceSessionView } from './service-view.ts';

export type ServiceContext = CallerContext & Pick<EdgeContext, 'edgeTokens' | 'mesh' | 'addresses'>;

interface ById {
  Params: { id: string };
}

export function addServiceSessionRoutes(app: FastifyInstance, context: ServiceContext): void {
  const { model } = context;

  const viewOf = (grant: ServiceGrant): Record<string, unknown> => {
    const service = permitted(context, grant);
    const routers = routersFor(context, grant.identityId, service);
    return serviceSessionView(grant, context.edgeTokens.tokens.mint(grant), service, routers);
  };

  app.post('/sessions', (request, reply) => {
    const caller = context.callers.callerOf(request);
    const { serviceId, type } = jsonBody(request);
    if (typeof serviceId !== 'string' || serviceId === '') throw couldNotValidate('serviceId is missing');
    const wanted = type === undefined ? 'Dial' : type;
    if (wanted !== 'Dial' && wanted !== 'Bind') throw couldNotValidate('type is neither Dial nor Bind');
    const grant = grantOf(caller, serviceId, wanted);
    permitted(context, grant);
    const failed = failedPolicies(caller, grant);
    if (failed !== undefined) throw postureRefusal(failed);
    const { isSigned } = caller.session;
    const sessionId = sessionIdOf(grant);
    context.mesh.events.emit('session', { ...grant, sessionId, sessionType: grant.type, isSigned });
    return sendData(reply, viewOf(grant), 201);
  });

  /** Routers judge sessions of signed tokens themselves. */
  const failedPolicies = ({ session }: EdgeCaller, { type, identityId, serviceId }: ServiceGrant) => {
    if (session.isSigned) return undefined;
    const policies = model.edge.grantingPolicies(type, identityId, serviceId);
    return model.edge.postureChecks.failuresOf(policies, session.posture, context.clock.nowMs());
  };

  // Their ids are derived from the permission.
  const sessionsOf = (caller: EdgeCaller): ServiceGrant[] => {
    const { identityId } = caller.session;
    return model
      .servicesOf(identityId)
      .flatMap((service) => [
        ...(model.mayDial(identityId, service) ? [grantOf(caller, service.id, 'Dial')] : []),
        ...(model.mayBind(identityId, service) ? [grantOf(caller, service.id, 'Bind')] : []),
      ])
      .filter((grant) => failedPolicies(caller, grant) === undefined);
  };
  app.get('/sessions', (request, reply) => {
    const grants = sessionsOf(context.callers.callerOf(request));
    return sendPage(reply, queryOf(request), grants, serviceSessionSymbols, viewOf);
  });

  app.get<ById>('/sessions/:id', (request, reply) => {
    const grants = sessionsOf(context.callers.callerOf(request));
    const grant = grants.find((one) => sessionIdOf(one) === request.params.id);
    if (grant === undefined) throw notFound();
    return sendData(reply, viewOf(grant));
  });
}

function grantOf(caller: EdgeCaller, serviceId: string, type: 'Dial' | 'Bind'): ServiceGrant {
  return { serviceId, identityId: caller.session.identityId, apiSessionId: caller.session.id, type };
}

/** A service that the caller may not use is indistinguishable from one that does not exist. */
function permitted(context: ServiceContext, grant: ServiceGrant): Service {
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

/** The routers through which the identity may use the service. */
export function routersFor(
  { model, mesh }: ServiceContext,
  identityId: string,
  service: Service,
): EdgeRouter[] {
  return mesh
    .routers()
    .filter(({ id }) => model.mayUseRouter(identityId, service, id))
    .map((router) => ({ ...router, traits: model.edge.routerTraits(router.id) }));
}
