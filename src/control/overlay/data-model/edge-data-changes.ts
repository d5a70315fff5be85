/**
 * What changed of the edge management API's entities in the router data model. A policy may select by attributes, so that
 * a change of one entity can concern any policy. The whole is therefore projected again and compared with the last
 * projection, at most as often as its cost permits.
 */
import { DataState_Action, DataState_RelatedEntityType, type CtrlInit } from '#wire/ctrl';
import type { OverlayModel } from '../model/overlay-model.ts';
import type { DataEntity, DataEvent, IsKnown } from './data-model-events.ts';
import { edgeDataModel } from './edge-data-model.ts';

type RelationValue = Extract<DataEntity, { case: 'servicePolicyChange' }>['value'];
type Entity = Exclude<DataEntity, { case: 'servicePolicyChange' } | { case: undefined }>;

interface Projection {
  /** Entities with their JSON, by kind and id, in the order of a state. */
  readonly entities: Map<string, { readonly model: Entity; readonly json: string }>;
  /** Related ids by policy and kind. */
  readonly relations: Map<string, { readonly value: RelationValue; readonly ids: Set<string> }>;
}

const { RELATED_IDENTITY, RELATED_POSTURE_CHECK } = DataState_RelatedEntityType;

/** A projection may use this share of the time. */
const MAX_LOAD = 0.05;

export class EdgeDataChanges {
  readonly #edge: OverlayModel['edge'];
  readonly #isKnown: IsKnown;
  #last: Projection;
  #isChanged = false;
  #notBeforeMs = 0;

  /** `isKnown` as in `edgeDataModel`. */
  constructor(edge: OverlayModel['edge'], isKnown: IsKnown) {
    this.#edge = edge;
    this.#isKnown = isKnown;
    this.#last = projectionOf(edge, isKnown);
  }

  /** Whether the last projection contains the identity of a tunnel router. */
  hasTunnelIdentity(id: string): boolean {
    return this.#last.entities.has(entityKey('identity', id));
  }

  /** Returns what ends the identity's relations to policies, because its removal is not delayed until the next projection. */
  endRelations(identityId: string): DataEvent[] {
    const events: DataEvent[] = [];
    for (const { value, ids } of this.#last.relations.values())
      if (value.relatedEntityType === RELATED_IDENTITY && ids.delete(identityId))
        events.push(relationEvent(value, [identityId], false));
    return events;
  }

  onChange(): void {
    this.#isChanged = true;
  }

  /** Returns the events of what changed since the last call, or none while it is too early. */
  take(isUrgent: boolean): DataEvent[] {
    const startMs = performance.now();
    if (!this.#isChanged || (!isUrgent && startMs < this.#notBeforeMs)) return [];
    this.#isChanged = false;
    const next = projectionOf(this.#edge, this.#isKnown);
    const events = differencesOf(this.#last, next);
    this.#last = next;
    const endMs = performance.now();
    this.#notBeforeMs = endMs + (endMs - startMs) / MAX_LOAD;
    return events;
  }
}

function projectionOf(edge: OverlayModel['edge'], isKnown: IsKnown): Projection {
  const { configs, identities, services, postureChecks, policies } = edgeDataModel(edge, isKnown);
  const projection: Projection = { entities: new Map(), relations: new Map() };
  for (const model of [...configs, ...identities, ...services, ...postureChecks, ...policies]) {
    if (model.case === undefined) continue;
    if (model.case === 'servicePolicyChange') {
      const { value } = model;
      const key = `${value.policyId ?? ''} ${String(value.relatedEntityType)}`;
      projection.relations.set(key, { value, ids: new Set(value.relatedEntityIds) });
    } else {
      projection.entities.set(keyOf(model), { model, json: JSON.stringify(model.value, plainNumbers) });
    }
  }
  return projection;
}

/**
 * An entity exists as long as another refers to it. No policy grants more in between than before or after: it loses
 * services and identities first, and gains them after its posture checks.
 */
function differencesOf(before: Projection, after: Projection): DataEvent[] {
  const lost = relationEvents(before, after, false);
  const gained = relationEvents(after, before, true);
  const updated: DataEvent[] = [];
  for (const [key, { model, json }] of after.entities)
    if (before.entities.get(key)?.json !== json) updated.push({ action: DataState_Action.UPDATE, model });
  const removed: DataEvent[] = [];
  for (const [key, { model }] of [...before.entities].reverse())
    if (!after.entities.has(key)) removed.push({ action: DataState_Action.DELETE, model });
  return [...lost.access, ...updated, ...gained.checks, ...lost.checks, ...gained.access, ...removed];
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
    if (some.length === 0) continue;
    const kind = value.relatedEntityType === RELATED_POSTURE_CHECK ? 'checks' : 'access';
    events[kind].push(relationEvent(value, some, add));
  }
  return events;
}

/** JSON has no 64-bit integers. */
function plainNumbers(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

function relationEvent(value: RelationValue, relatedEntityIds: string[], add: boolean): DataEvent {
  const { policyId, relatedEntityType } = value as Required<RelationValue>;
  const change: CtrlInit<'dataStateChangeSet'>['changes'] = [
    { model: { case: 'servicePolicyChange', value: { policyId, relatedEntityType, relatedEntityIds, add } } },
  ];
  return change[0]!;
}

function keyOf(model: Entity): string {
  return entityKey(model.case, (model.case === 'publicKey' ? model.value.kid : model.value.id) ?? '');
}

function entityKey(kind: Entity['case'], id: string): string {
  return `${kind} ${id}`;
}
