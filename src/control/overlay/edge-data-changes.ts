/**
 * What changed of the edge management API's entities in the router data model. A policy may select by attributes, so that
 * a change of one entity can concern any policy. The whole is therefore projected again and compared with the last
 * projection, at most as often as its cost permits.
 */
import { DataState_Action, type CtrlInit } from '#wire/ctrl';
import type { OverlayModel } from '../model/mod.ts';
import type { DataEntity, DataEvent } from './data-model-events.ts';
import { edgeDataModel } from './edge-data-model.ts';

type RelationValue = Extract<DataEntity, { case: 'servicePolicyChange' }>['value'];
type Entity = Exclude<DataEntity, { case: 'servicePolicyChange' } | { case: undefined }>;

interface Projection {
  /** Entities with their JSON, by kind and id, in the order of a state. */
  readonly entities: Map<string, { readonly model: Entity; readonly json: string }>;
  /** Related ids by policy and kind. */
  readonly relations: Map<string, { readonly value: RelationValue; readonly ids: ReadonlySet<string> }>;
}

/** A projection may use this share of the time. */
const MAX_LOAD = 0.05;

export class EdgeDataChanges {
  readonly #edge: OverlayModel['edge'];
  #last: Projection;
  #isChanged = false;
  #notBeforeMs = 0;

  constructor(edge: OverlayModel['edge']) {
    this.#edge = edge;
    this.#last = projectionOf(edge);
  }

  onChange(): void {
    this.#isChanged = true;
  }

  /** Returns the events of what changed since the last call, or none while it is too early. */
  take(isUrgent: boolean): DataEvent[] {
    const startMs = performance.now();
    if (!this.#isChanged || (!isUrgent && startMs < this.#notBeforeMs)) return [];
    this.#isChanged = false;
    const next = projectionOf(this.#edge);
    const events = differencesOf(this.#last, next);
    this.#last = next;
    const endMs = performance.now();
    this.#notBeforeMs = endMs + (endMs - startMs) / MAX_LOAD;
    return events;
  }
}

function projectionOf(edge: OverlayModel['edge']): Projection {
  const { configs, identities, services, postureChecks, policies } = edgeDataModel(edge);
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

function differencesOf(before: Projection, after: Projection): DataEvent[] {
  const events: DataEvent[] = [];
  for (const [key, { model, json }] of after.entities)
    if (before.entities.get(key)?.json !== json) events.push({ action: DataState_Action.UPDATE, model });
  for (const [key, { value, ids }] of after.relations) {
    const former = before.relations.get(key)?.ids ?? new Set();
    const lost = [...former].filter((id) => !ids.has(id));
    const gained = [...ids].filter((id) => !former.has(id));
    if (lost.length > 0) events.push(relationEvent(value, lost, false));
    if (gained.length > 0) events.push(relationEvent(value, gained, true));
  }
  // Policies are removed before what they name.
  for (const [key, { model }] of [...before.entities].reverse())
    if (!after.entities.has(key)) events.push({ action: DataState_Action.DELETE, model });
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
  const id = model.case === 'publicKey' ? model.value.kid : model.value.id;
  return `${model.case} ${id ?? ''}`;
}
