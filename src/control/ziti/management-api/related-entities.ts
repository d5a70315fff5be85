/** What an entity reaches through policies: lists below its own path. */
import type { FastifyInstance } from 'fastify';
import { notFound, queryOf } from '../../overlay/clients/mod.ts';
import { sendPage } from '../client-api/list-answer.ts';
import { entitySet, type QuerySymbols } from '../query/query-symbol.ts';
import type { EdgeEntityKind, EdgeEntityRecord, EdgePolicy, OverlayModel } from '../../overlay/model/mod.ts';
import type { EntityForm } from './entity-form.ts';
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
    path: 'service-policies/:id/posture-checks',
    of: 'service-policy',
    to: 'posture-check',
    ids: ofPolicy((edge, policy) => edge.postureChecks.of(policy).map(({ record }) => record)),
  },
  {
    path: 'posture-checks/:id/service-policies',
    of: 'posture-check',
    to: 'service-policy',
    ids: ({ edge }, id) =>
      [...edge.policies()]
        .filter((policy) => edge.postureChecks.of(policy).some(({ record }) => record.id === id))
        .map((policy) => policy.id),
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

const POLICY_KINDS: readonly EdgeEntityKind[] = [
  ...(['service-policy', 'edge-router-policy', 'service-edge-router-policy'] as const),
];

export function addRelatedEntities(
  app: FastifyInstance,
  parts: ManagementParts,
  resources: readonly EntityResource[],
): void {
  for (const relation of RELATIONS) {
    const { path, of, to } = relation;
    const resource = resources.find(({ form }) => form.kind === to)!;
    app.get<{ Params: { id: string } }>(`/${path}`, async (request, reply) => {
      const { model } = parts;
      const { id } = request.params;
      if (entityOf(model, of, id) === undefined) throw notFound();
      const found = relatedTo(model, relation, id);
      const symbols = querySymbolsOf(model, resource.form, resources);
      return sendPage(reply, queryOf(request), found, symbols, await resource.viewer(parts));
    });
  }
}

/** The fields of a kind that queries may name: its own ones, and the entities related to it (`services`, `identities`). */
export function querySymbolsOf(
  model: OverlayModel,
  { kind, symbols }: EntityForm,
  resources: readonly EntityResource[],
): QuerySymbols<EdgeEntityRecord> {
  const related = RELATIONS.filter(({ of }) => of === kind).map((relation) => {
    const { form } = resources.find((resource) => resource.form.kind === relation.to)!;
    const set = entitySet<EdgeEntityRecord, EdgeEntityRecord>({
      read: ({ id }) => relatedTo(model, relation, id),
      idOf: ({ id }) => id,
      cost: () => lookedThrough(model, relation),
      symbols: () => querySymbolsOf(model, form, resources),
    });
    return [symbolNameOf(relation), set] as const;
  });
  return { ...symbols, ...Object.fromEntries(related) };
}

/** What reading a relation costs: policies are looked through to find what they select, and often every entity of the kind. */
function lookedThrough({ edge }: OverlayModel, { of, to }: Relation): number {
  const policies = POLICY_KINDS.reduce((sum, kind) => sum + edge.count(kind), 0);
  if (to === 'config') return of === 'service' ? 1 : edge.count(to);
  if (POLICY_KINDS.includes(to)) return policies;
  return edge.count(to) + (POLICY_KINDS.includes(of) ? 0 : policies);
}

/** `services/:id/service-policies` as `servicePolicies`. */
function symbolNameOf({ path }: Relation): string {
  const last = path.slice(path.lastIndexOf('/') + 1);
  return last.replaceAll(/-([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}

function relatedTo(model: OverlayModel, { ids, to }: Relation, id: string): EdgeEntityRecord[] {
  return [...ids(model, id)].flatMap((one) => entityOf(model, to, one) ?? []);
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
