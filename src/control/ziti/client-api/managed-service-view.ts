/** Services of the edge management API in the shape of OpenZiti's client API, with their configs. */
import {
  isHostedService,
  type Service,
  type ApiSession,
  type ManagedService,
  type OverlayModel,
  serviceConfigIds,
} from '../../overlay/model/mod.ts';
import type { EdgeContext } from './edge-context.ts';
import { postureQueriesOf } from './posture-queries.ts';
import { isoTime, rightsOf, serviceView, TERMINATOR_STRATEGY } from './service-view.ts';

export type ServiceViewContext = Pick<EdgeContext, 'model' | 'clock' | 'mesh' | 'addresses'>;

/** `configTypes` are the requested types by name or id, or `all`. */
export function anyServiceView(
  { model, mesh, addresses, clock }: ServiceViewContext,
  session: ApiSession,
  service: Service,
  configTypes: readonly string[],
): Record<string, unknown> {
  const { identityId } = session;
  if (!isHostedService(service))
    return managedServiceView(model, session, service, configTypes, clock.nowMs());
  const { interceptDomain } = addresses;
  const options = { configTypes, interceptDomain, hasKeylessHost: mesh.hasKeylessHost(service.id) };
  return serviceView(service, rightsOf(model, identityId, service), options);
}

/** Ids of the configs that the identity sees. */
export function anyConfigIds(
  { model, addresses }: ServiceViewContext,
  identityId: string,
  service: Service,
): readonly string[] {
  if (!isHostedService(service)) return service.configs;
  return serviceConfigIds(service, rightsOf(model, identityId, service), addresses.interceptDomain);
}

function managedServiceView(
  model: OverlayModel,
  session: ApiSession,
  service: ManagedService,
  configTypes: readonly string[],
  nowMs: number,
): Record<string, unknown> {
  const { edge } = model;
  const { id, name } = service;
  const { identityId } = session;
  const permissions = (['Bind', 'Dial'] as const).filter((type) => edge.permits(type, identityId, id));
  return {
    _links: { self: { href: `./services/${id}` } },
    id,
    name,
    createdAt: isoTime(service.createdAtMs),
    updatedAt: isoTime(service.updatedAtMs),
    tags: service.tags,
    encryptionRequired: service.encryptionRequired,
    permissions,
    config: configsByType(model, service, configTypes),
    configs: service.configs,
    maxIdleTimeMillis: 0,
    postureQueries: postureQueriesOf(edge, session, id, nowMs),
    posturePolicies: {},
    roleAttributes: [...service.roleAttributes],
    terminatorStrategy: TERMINATOR_STRATEGY,
  };
}

function configsByType(
  { edge }: OverlayModel,
  { configs }: ManagedService,
  wanted: readonly string[],
): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const id of configs) {
    const config = edge.get('config', id);
    const type = edge.get('config-type', String(config?.data['configTypeId']));
    if (config === undefined || type === undefined) continue;
    if (!wanted.some((one) => one === 'all' || one === type.id || one === type.name)) continue;
    found[type.name] = config.data['data'];
  }
  return found;
}
