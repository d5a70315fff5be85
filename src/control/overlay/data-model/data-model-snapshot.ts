/**
 * The entities and relations of a full state, all as of one moment, although a state is sent in turns of the loop. A state
 * whose parts had different ages could refer to entities that the router does not have.
 */
import type { Identity, OverlayModel } from '../model/overlay-model.ts';
import type { ProjectedService } from '../model/service.ts';
import {
  configEntities,
  grantEntities,
  hostingRelations,
  identityEntities,
  keyEntity,
  PUBLIC_SHARES_POLICY,
  publicRelations,
  revocationEntity,
  serviceEntity,
  type IsKnown,
  type ServiceKey,
} from './data-model-events.ts';
import type { DataEntity } from './data-model-diff.ts';
import { edgeDataModel } from './edge-data-model.ts';

export interface DataModelSources {
  readonly model: OverlayModel;
  /** The identities that are not routers'. */
  readonly identities: ReadonlyMap<string, Identity>;
  readonly keys: readonly ServiceKey[];
  readonly revocations: ReadonlyMap<string, number>;
  /** Undefined: routers intercept no hosted services. */
  readonly interceptDomain: string | undefined;
}

/** The model as of the call, in the order that routers require: an entity comes before those that refer to it. */
export function dataModelSnapshot(sources: DataModelSources): Generator<DataEntity, void> {
  const { model, interceptDomain } = sources;
  const routerIds = new Set(Array.from(model.routers(), ({ id }) => id));
  const services = [...model.hostedServices()];
  const identities = [...sources.identities.values()];
  const edge = edgeDataModel(model.edge, (id) => sources.identities.has(id));
  const keys = [...sources.keys];
  const revocations = [...sources.revocations];
  const domain = (service: ProjectedService): string | undefined =>
    domainOf(service, interceptDomain, (id) => routerIds.has(id));

  return (function* () {
    yield* edge.configs;
    for (const service of services) yield* configEntities(service, domain(service));
    const sent = new Set<string>();
    for (const identity of identities) {
      sent.add(identity.id);
      yield* identityEntities(identity).slice(0, 1);
    }
    for (const identity of edge.identities) {
      if (identity.case === 'identity' && identity.value.id !== undefined) sent.add(identity.value.id);
      yield identity;
    }
    const hosted = new Map<string, string[]>();
    const publicIds: string[] = [];
    for (const service of services) {
      yield serviceEntity(service, domain(service));
      const { id, hostId, openTo } = service;
      if (openTo === 'gateways') publicIds.push(id);
      const others = hosted.get(hostId);
      if (others === undefined) hosted.set(hostId, [id]);
      else others.push(id);
    }
    yield* edge.services;
    yield* edge.postureChecks;
    yield* edge.policies;
    yield PUBLIC_SHARES_POLICY;
    yield* publicRelations(publicIds);
    for (const identity of identities) {
      yield* identityEntities(identity).slice(1);
      if (identity.kind === 'environment')
        yield* hostingRelations(identity.id, hosted.get(identity.id) ?? []);
    }
    const isSent: IsKnown = (id) => sent.has(id);
    for (const service of services) yield* grantEntities(service, isSent);
    for (const key of keys) yield keyEntity(key);
    for (const [id, untilMs] of revocations) yield revocationEntity(id, untilMs);
  })();
}

/** Returns the domain of the service's address if a router may intercept it. */
export function domainOf(
  { openTo, grants }: ProjectedService,
  interceptDomain: string | undefined,
  isRouter: (identityId: string) => boolean,
): string | undefined {
  return openTo === 'grants' && grants.some(isRouter) ? interceptDomain : undefined;
}
