/** What an entity reaches through policies: lists below its own path. */
import type { FastifyInstance } from 'fastify';
import { notFound, queryOf, sendPage } from '../edge-api/mod.ts';
import type { EdgeEntityKind, EdgeEntityRecord, EdgePolicy, OverlayModel } from '../model/mod.ts';
import type { EntityResource, ManagementParts } from './entity-resource.ts';

type Related = (model: OverlayModel, id: string) => Iterable<string>;

interface Relation {
  readonly path: string;
  readonly of: EdgeEntityKind;
  readonly to: EdgeEntityKind;
  readonly ids: Related;
}

const RELATIONS: readonly Relation[] = [
  {
    path: 'identities/:id/services',
    of: 'identity',
    to: 'service',
    ids: ({ edge }, id) => edge.servicesOf(id).map((service) => service.id),
  },
  { path: 'identities/:id/service-policies', of: 'identity', to: 'service-policy', ids: policiesOf },
  { path: 'identities/:id/edge-router-policies', of: 'identity', to: 'edge-router-policy', ids: policiesOf },
  {
    path: 'services/:id/configs',
    of: 'service',
    to: 'config',
    ids: ({ edge }, id) => edge.service(id)?.configs ?? [],
  },
  {
    path: 'services/:id/identities',
    of: 'service',
    to: 'identity',
    ids: ({ edge }, id) =>
      [...edge.identities()].flatMap((identity) =>
        edge.permits('Dial', identity.id, id) || edge.permits('Bind', identity.id, id) ? identity.id : [],
      ),
  },
  { path: 'services/:id/service-policies', of: 'service', to: 'service-policy', ids: policiesOf },
  {
    path: 'services/:id/service-edge-router-policies',
    of: 'service',
    to: 'service-edge-router-policy',
    ids: policiesOf,
  },
  {
    path: 'service-policies/:id/identities',
    of: 'service-policy',
    to: 'identity',
    ids: ofPolicy((edge, policy) => edge.selectedIdentities(policy)),
  },
  {
    path: 'service-policies/:id/services',
    of: 'service-policy',
    to: 'service',
    ids: ofPolicy((edge, policy) => edge.selectedServices(policy)),
  },
  {
    path: 'edge-router-policies/:id/identities',
    of: 'edge-router-policy',
    to: 'identity',
    ids: ofPolicy((edge, policy) => edge.selectedIdentities(policy)),
  },
  {
    path: 'service-edge-router-policies/:id/services',
    of: 'service-edge-router-policy',
    to: 'service',
    ids: ofPolicy((edge, policy) => edge.selectedServices(policy)),
  },
  {
    path: 'config-types/:id/configs',
    of: 'config-type',
    to: 'config',
    ids: ({ edge }, id) =>
      [...edge.all('config')].filter(({ data }) => data['configTypeId'] === id).map((config) => config.id),
  },
];

export function addRelatedEntities(
  app: FastifyInstance,
  parts: ManagementParts,
  resources: readonly EntityResource[],
): void {
  for (const { path, of, to, ids } of RELATIONS) {
    const resource = resources.find(({ form }) => form.kind === to)!;
    app.get<{ Params: { id: string } }>(`/${path}`, async (request, reply) => {
      const { model } = parts;
      const { id } = request.params;
      if (entityOf(model, of, id) === undefined) throw notFound();
      const found = [...ids(model, id)].flatMap((one): EdgeEntityRecord[] => {
        const entity = entityOf(model, to, one);
        return entity === undefined ? [] : [entity];
      });
      return sendPage(reply, queryOf(request), found, resource.form.symbols, await resource.viewer(parts));
    });
  }
}

/** Finds the identity of a router with a tunnel listener, too. */
function entityOf({ edge }: OverlayModel, kind: EdgeEntityKind, id: string): EdgeEntityRecord | undefined {
  const entity = edge.get(kind, id);
  if (entity !== undefined || kind !== 'identity' || !edge.hasIdentity(id)) return entity;
  return edge.tunnelIdentities().find((identity) => identity.id === id);
}

type Edge = OverlayModel['edge'];

function ofPolicy(select: (edge: Edge, policy: EdgePolicy) => readonly { readonly id: string }[]): Related {
  return ({ edge }, id) => {
    const policy = edge.policy(id);
    return policy === undefined ? [] : select(edge, policy).map((entity) => entity.id);
  };
}

/** Policies of every kind that select the entity. The route keeps those of its own kind. */
function policiesOf({ edge }: OverlayModel, id: string): string[] {
  return edge.policiesSelecting(id).map((policy) => policy.id);
}
