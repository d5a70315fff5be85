/**
 * A part of the router data model as entities and relations, and the events that make one of another. Every change of the
 * data model is the difference of two projections: of a share, of an identity, or of all entities of the edge management API.
 */
import { DataState_Action, DataState_RelatedEntityType, type CtrlInit } from '#wire/ctrl';

export type DataEvent = NonNullable<NonNullable<CtrlInit<'dataState'>['events']>[number]>;
export type DataEntity = NonNullable<DataEvent['model']>;
type RelationEntity = Extract<DataEntity, { case: 'servicePolicyChange' }>;
export type RelationValue = RelationEntity['value'];
type Entity = Exclude<DataEntity, { case: 'servicePolicyChange' } | { case: undefined }>;

export interface Projection {
  /** Entities with their JSON, by kind and id, in the order of a state. */
  readonly entities: Map<string, { readonly model: Entity; readonly json: string }>;
  /** Related ids by policy and kind. */
  readonly relations: Map<string, { readonly value: RelationValue; readonly ids: Set<string> }>;
}

const { UPDATE, DELETE } = DataState_Action;
/** Ids of one event that relates entities to a policy. */
const MAX_RELATED_IDS = 500;

export function projectionOf(models: Iterable<DataEntity>): Projection {
  const projection: Projection = { entities: new Map(), relations: new Map() };
  for (const model of models) {
    if (model.case === undefined) continue;
    if (model.case === 'servicePolicyChange') {
      const { value } = model;
      const key = `${value.policyId ?? ''} ${String(value.relatedEntityType)}`;
      const known = projection.relations.get(key);
      if (known === undefined) projection.relations.set(key, { value, ids: new Set(value.relatedEntityIds) });
      else for (const id of value.relatedEntityIds ?? []) known.ids.add(id);
    } else {
      projection.entities.set(keyOf(model), { model, json: JSON.stringify(model.value, plainNumbers) });
    }
  }
  return projection;
}

export const NOTHING = projectionOf([]);

/**
 * An entity exists as long as another refers to it. No policy grants more in between than before or after: it loses
 * identities and services first, and gains them after its posture checks. OpenZiti's routers keep their relation to a removed
 * policy, and to the next one of this id. `isSent` returns whether an entity that both have is sent although it is the same.
 */
export function differencesOf(
  before: Projection,
  after: Projection,
  isSent: (model: Entity) => boolean = () => false,
): DataEvent[] {
  const lost = relationEvents(before, after, false);
  const gained = relationEvents(after, before, true);
  const updated: DataEvent[] = [];
  for (const [key, { model, json }] of after.entities)
    if (before.entities.get(key)?.json !== json || isSent(model)) updated.push({ action: UPDATE, model });
  const removed: DataEvent[] = [];
  for (const [key, { model }] of [...before.entities].reverse())
    if (!after.entities.has(key)) removed.push({ action: DELETE, model });
  return [
    ...lost.access.reverse(),
    ...updated,
    ...gained.checks,
    ...lost.checks,
    ...gained.access,
    ...removed,
  ];
}

export function* relations(
  policyId: string,
  type: DataState_RelatedEntityType,
  ids: Iterable<string>,
  add = true,
): Generator<RelationEntity> {
  let some: string[] = [];
  for (const id of ids) {
    some.push(id);
    if (some.length < MAX_RELATED_IDS) continue;
    yield relation(policyId, type, some, add);
    some = [];
  }
  if (some.length > 0) yield relation(policyId, type, some, add);
}

export function relation(
  policyId: string,
  relatedEntityType: DataState_RelatedEntityType,
  relatedEntityIds: string[],
  add = true,
): RelationEntity {
  return { case: 'servicePolicyChange', value: { policyId, relatedEntityIds, relatedEntityType, add } };
}

/** The key of an entity in a projection. */
export function entityKey(kind: Entity['case'], id: string): string {
  return `${kind} ${id}`;
}

function keyOf(model: Entity): string {
  return entityKey(model.case, (model.case === 'publicKey' ? model.value.kid : model.value.id) ?? '');
}

/** The relations that `all` has and `other` does not: those to services and identities apart from those to checks. */
function relationEvents(
  all: Projection,
  other: Projection,
  add: boolean,
): { readonly access: DataEvent[]; readonly checks: DataEvent[] } {
  const events = { access: [] as DataEvent[], checks: [] as DataEvent[] };
  for (const [key, { value, ids }] of all.relations) {
    const others = other.relations.get(key)?.ids;
    const some = [...ids].filter((id) => others?.has(id) !== true);
    const { policyId, relatedEntityType } = value as Required<RelationValue>;
    const isCheck = relatedEntityType === DataState_RelatedEntityType.RELATED_POSTURE_CHECK;
    const into = isCheck ? events.checks : events.access;
    for (const model of relations(policyId, relatedEntityType, some, add)) into.push({ model });
  }
  return events;
}

/** JSON has no 64-bit integers. */
function plainNumbers(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
