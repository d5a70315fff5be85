/**
 * The router data model: which identities may dial and host which services. Controllers send it as complete states and
 * as change sets, and it is saved in `edge.db`. Entities are kept as received, including unknown fields, so that the
 * file loses nothing.
 */
import {
  DataState_Action,
  DataState_RelatedEntityType,
  type CtrlBody,
  type CtrlInit,
  type DataState_Event,
} from '#wire/ctrl';
import { contain, failAlone } from '#net';

export type DataState = CtrlBody<'dataState'>;
export type ChangeSet = CtrlBody<'dataStateChangeSet'>;
type Model = DataState_Event['model'];
export type Entity = Exclude<Model, { case: 'servicePolicyChange' } | { case: undefined }>;
export type EntityKind = Entity['case'];
type EventInit = NonNullable<NonNullable<CtrlInit<'dataState'>['events']>[number]>;
type PolicyChange = Extract<Model, { case: 'servicePolicyChange' }>['value'];

/** The ids that a service policy relates, by kind. */
export interface PolicyRelations {
  readonly service: Set<string>;
  readonly postureCheck: Set<string>;
  readonly identity: Set<string>;
}

/** The kinds in the order of a state: entities come before the entities that refer to them. */
export const ENTITY_KINDS: readonly EntityKind[] = [
  'configType',
  'config',
  'identity',
  'service',
  'router',
  'postureCheck',
  'servicePolicy',
  'publicKey',
  'revocation',
];

const RELATED = {
  service: DataState_RelatedEntityType.RELATED_SERVICE,
  postureCheck: DataState_RelatedEntityType.RELATED_POSTURE_CHECK,
  identity: DataState_RelatedEntityType.RELATED_IDENTITY,
} as const;
const RELATED_KINDS = ['service', 'postureCheck', 'identity'] as const;
export type RelatedKind = (typeof RELATED_KINDS)[number];

/** Ids of one event of a state that relates entities to a policy. */
const MAX_EVENT_IDS = 500;
/** Related ids that take as long to encode as an entity. */
const IDS_PER_WEIGHT = 20;

const NO_IDS: readonly string[] = [];

const CACHE_TYPE = 'ziti.edge_ctrl.pb.DataState.Cache';

export class DataModel {
  #entities = emptyEntities();
  /** Relations by policy id. */
  #relations = new Map<string, PolicyRelations>();
  /** Ids of policies by the id of an entity that they relate. Lists, because most are short. */
  #policies = noPolicies();
  readonly #listeners = new Set<() => void>();
  readonly #keptListeners = new Set<() => void>();
  #caches: DataState['caches'] = {};
  #generation = 0;
  #keptChanges = 0;
  #index = 0n;
  #timelineId = '';

  /** 0 before the first state. */
  get index(): bigint {
    return this.#index;
  }

  get timelineId(): string {
    return this.#timelineId;
  }

  /** Increases whenever another model took the place of this one. */
  get generation(): number {
    return this.#generation;
  }

  entities(kind: EntityKind): ReadonlyMap<string, Entity> {
    return this.#entities.get(kind)!;
  }

  relationsOf(policyId: string): PolicyRelations | undefined {
    return this.#relations.get(policyId);
  }

  /** Returns the ids of the service policies that relate an entity. */
  policiesOf(kind: RelatedKind, id: string): readonly string[] {
    return this.#policies[kind].get(id) ?? NO_IDS;
  }

  /** Calls `listener` after each change, until the returned function is called. */
  onChanged(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Replaces the whole model, except data that only this router has. Returns true if the new index is lower. */
  replace(state: DataState): boolean {
    const whole = new DataModel();
    whole.#applyAll(state.events);
    whole.#index = state.endIndex;
    whole.#timelineId = state.timelineId;
    whole.#caches = state.caches;
    return this.takeOver(whole);
  }

  /** Replaces this model by another, which must no longer be used. Returns true if the new index is lower. */
  takeOver(other: DataModel): boolean {
    const isLower = other.#index < this.#index;
    this.#entities = other.#entities;
    this.#relations = other.#relations;
    this.#policies = other.#policies;
    this.#index = other.#index;
    this.#timelineId = other.#timelineId;
    if (Object.keys(other.#caches).length > 0) this.#caches = other.#caches;
    this.#generation += 1;
    this.#notify();
    return isLower;
  }

  /** `gap`: earlier changes are missing, so none was applied. */
  change(set: ChangeSet): 'applied' | 'stale' | 'gap' {
    if (set.isSynthetic) {
      this.#applyAll(set.changes);
      this.#notify();
      return 'applied';
    }
    if (this.#index > 0n && set.index <= this.#index) return 'stale';
    if (set.previousIndex > 0n && set.previousIndex !== this.#index) return 'gap';
    this.#applyAll(set.changes);
    this.#index = set.index;
    this.#notify();
    return 'applied';
  }

  /** Returns a state that produces the same model. */
  state(): CtrlInit<'dataState'> {
    return { events: [...this.events()], ...this.origin() };
  }

  /** Returns a value that this router keeps with the model, by a name and a key. */
  kept(name: string, key: string): Uint8Array | undefined {
    return this.#caches[name]?.data[key];
  }

  /** Returns all keys and values under a name. */
  keptEntries(name: string): readonly [key: string, value: Uint8Array][] {
    return Object.entries(this.#caches[name]?.data ?? {});
  }

  /**
   * Sets a value that this router keeps with the model; `undefined` removes it. It is saved with the model, and stays when
   * a controller replaces that.
   */
  keep(name: string, key: string, value: Uint8Array | undefined): void {
    const { data } = (this.#caches[name] ??= { $typeName: CACHE_TYPE, data: {} });
    if (value === undefined) delete data[key];
    else data[key] = value;
    this.#keptChanges += 1;
    for (const listener of this.#keptListeners) listener();
  }

  /** Calls `listener` after each `keep`, until the returned function is called. */
  onKept(listener: () => void): () => void {
    this.#keptListeners.add(listener);
    return () => void this.#keptListeners.delete(listener);
  }

  /** Increases with each `keep`. */
  get keptChanges(): number {
    return this.#keptChanges;
  }

  /** Returns the fields of a state other than its events. */
  origin(): Omit<CtrlInit<'dataState'>, 'events' | '$typeName'> {
    return { endIndex: this.#index, timelineId: this.#timelineId, caches: this.#caches };
  }

  /** The events of a state, in the order that routers require. Change sets may be applied between two of them. */
  *events(): Generator<EventInit, void> {
    for (const kind of ENTITY_KINDS) {
      for (const [id, entity] of this.entities(kind)) {
        yield { model: entity, isSynthetic: kind === 'publicKey' };
        if (kind === 'servicePolicy') yield* this.#relationEvents(id);
      }
    }
  }

  *#relationEvents(policyId: string): Generator<EventInit, void> {
    const relations = this.#relations.get(policyId);
    if (relations === undefined) return;
    for (const kind of RELATED_KINDS) {
      let some: string[] = [];
      for (const id of relations[kind]) {
        some.push(id);
        if (some.length < MAX_EVENT_IDS) continue;
        yield relationEvent(policyId, kind, some);
        some = [];
      }
      if (some.length > 0) yield relationEvent(policyId, kind, some);
    }
  }

  #applyAll(events: readonly DataState_Event[]): void {
    for (const event of events) {
      try {
        this.#apply(event);
      } catch (error) {
        failAlone({ kind: 'record', id: `an event of the data model: ${event.model.case}` }, error);
      }
    }
  }

  #apply({ action, model }: DataState_Event): void {
    if (model.case === undefined) return;
    if (model.case === 'servicePolicyChange') {
      this.#relate(model.value);
      return;
    }
    const id = entityId(model);
    const entities = this.#entities.get(model.case)!;
    if (action !== DataState_Action.DELETE) {
      entities.set(id, model);
      if (model.case === 'servicePolicy' && !this.#relations.has(id)) this.#relations.set(id, noRelations());
      return;
    }
    entities.delete(id);
    if (model.case === 'servicePolicy') this.#removePolicy(id);
    const related = RELATED_KINDS.find((kind) => kind === model.case);
    if (related === undefined) return;
    for (const policyId of this.policiesOf(related, id)) this.#relations.get(policyId)?.[related].delete(id);
    this.#policies[related].delete(id);
  }

  #relate({ policyId, relatedEntityIds, relatedEntityType, add }: PolicyChange): void {
    const relations = this.#relations.get(policyId);
    const kind = RELATED_KINDS.find((it) => RELATED[it] === relatedEntityType);
    if (relations === undefined || kind === undefined) return;
    const related = relations[kind];
    for (const id of relatedEntityIds) {
      if (!add) {
        if (related.delete(id)) this.#forgetPolicy(kind, id, policyId);
        continue;
      }
      // Services and checks can arrive after the policy that refers to them.
      if (related.has(id) || (kind === 'identity' && !this.entities('identity').has(id))) continue;
      related.add(id);
      const policies = this.#policies[kind].get(id);
      if (policies === undefined) this.#policies[kind].set(id, [policyId]);
      else policies.push(policyId);
    }
  }

  #forgetPolicy(kind: RelatedKind, id: string, policyId: string): void {
    const left = this.policiesOf(kind, id).filter((other) => other !== policyId);
    if (left.length > 0) this.#policies[kind].set(id, left);
    else this.#policies[kind].delete(id);
  }

  #removePolicy(policyId: string): void {
    const relations = this.#relations.get(policyId);
    if (relations === undefined) return;
    this.#relations.delete(policyId);
    for (const kind of RELATED_KINDS)
      for (const id of relations[kind]) this.#forgetPolicy(kind, id, policyId);
  }

  #notify(): void {
    for (const listener of this.#listeners)
      contain({ kind: 'process', id: 'a follower of the data model' }, listener);
  }
}

/** Returns how long an event takes to encode, in entities. */
export function weightOf({ model }: EventInit): number {
  if (model?.case !== 'servicePolicyChange') return 1;
  return 1 + (model.value.relatedEntityIds?.length ?? 0) / IDS_PER_WEIGHT;
}

export function entityId(entity: Entity): string {
  return entity.case === 'publicKey' ? entity.value.kid : entity.value.id;
}

function emptyEntities(): Map<EntityKind, Map<string, Entity>> {
  return new Map(ENTITY_KINDS.map((kind) => [kind, new Map()]));
}

function noRelations(): PolicyRelations {
  return { service: new Set(), postureCheck: new Set(), identity: new Set() };
}

function noPolicies(): Record<RelatedKind, Map<string, string[]>> {
  return { service: new Map(), postureCheck: new Map(), identity: new Map() };
}

function relationEvent(policyId: string, kind: RelatedKind, relatedEntityIds: string[]): EventInit {
  const value = { policyId, relatedEntityIds, relatedEntityType: RELATED[kind], add: true };
  return { model: { case: 'servicePolicyChange', value } };
}
