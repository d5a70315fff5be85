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

const NO_IDS: ReadonlySet<string> = new Set();

export class DataModel {
  #entities = emptyEntities();
  /** Relations by policy id. */
  #relations = new Map<string, PolicyRelations>();
  /** Ids of policies by the id of an identity that they relate. */
  #policies = new Map<string, Set<string>>();
  readonly #listeners = new Set<() => void>();
  #caches: DataState['caches'] = {};
  #index = 0n;
  #timelineId = '';

  /** 0 before the first state. */
  get index(): bigint {
    return this.#index;
  }

  get timelineId(): string {
    return this.#timelineId;
  }

  entities(kind: EntityKind): ReadonlyMap<string, Entity> {
    return this.#entities.get(kind)!;
  }

  relationsOf(policyId: string): PolicyRelations | undefined {
    return this.#relations.get(policyId);
  }

  /** Returns the ids of the service policies that relate an identity. */
  policiesOf(identityId: string): ReadonlySet<string> {
    return this.#policies.get(identityId) ?? NO_IDS;
  }

  /** Calls `listener` after each change, until the returned function is called. */
  onChanged(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Replaces the whole model, except data that only this router has. Returns true if the new index is lower. */
  replace(state: DataState): boolean {
    const isLower = state.endIndex < this.#index;
    this.#entities = emptyEntities();
    this.#relations = new Map();
    this.#policies = new Map();
    for (const event of state.events) this.#apply(event);
    this.#index = state.endIndex;
    this.#timelineId = state.timelineId;
    if (Object.keys(state.caches).length > 0) this.#caches = state.caches;
    this.#notify();
    return isLower;
  }

  /** `gap`: earlier changes are missing, so none was applied. */
  change(set: ChangeSet): 'applied' | 'stale' | 'gap' {
    if (set.isSynthetic) {
      for (const event of set.changes) this.#apply(event);
      this.#notify();
      return 'applied';
    }
    if (this.#index > 0n && set.index <= this.#index) return 'stale';
    if (set.previousIndex > 0n && set.previousIndex !== this.#index) return 'gap';
    for (const event of set.changes) this.#apply(event);
    this.#index = set.index;
    this.#notify();
    return 'applied';
  }

  /** Returns a state that produces the same model. */
  state(): CtrlInit<'dataState'> {
    const events: EventInit[] = [];
    for (const kind of ENTITY_KINDS) {
      for (const [id, entity] of this.entities(kind)) {
        events.push({ model: entity, isSynthetic: kind === 'publicKey' });
        if (kind === 'servicePolicy') events.push(...this.#relationEvents(id));
      }
    }
    return { events, endIndex: this.#index, timelineId: this.#timelineId, caches: this.#caches };
  }

  #relationEvents(policyId: string): EventInit[] {
    const relations = this.#relations.get(policyId)!;
    return RELATED_KINDS.filter((kind) => relations[kind].size > 0).map((kind) => ({
      model: {
        case: 'servicePolicyChange',
        value: {
          policyId,
          relatedEntityIds: [...relations[kind]],
          relatedEntityType: RELATED[kind],
          add: true,
        },
      },
    }));
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
    if (model.case === 'identity') this.#policies.delete(id);
    const related = RELATED_KINDS.find((kind) => kind === model.case);
    if (related === undefined) return;
    for (const relations of this.#relations.values()) relations[related].delete(id);
  }

  #relate({ policyId, relatedEntityIds, relatedEntityType, add }: PolicyChange): void {
    const relations = this.#relations.get(policyId);
    const kind = RELATED_KINDS.find((it) => RELATED[it] === relatedEntityType);
    if (relations === undefined || kind === undefined) return;
    for (const id of relatedEntityIds) {
      if (!add) relations[kind].delete(id);
      // Services and checks can arrive after the policy that refers to them.
      else if (kind !== 'identity' || this.entities('identity').has(id)) relations[kind].add(id);
      if (kind === 'identity') this.#indexPolicy(id, policyId, relations.identity.has(id));
    }
  }

  #indexPolicy(identityId: string, policyId: string, isRelated: boolean): void {
    const policies = this.#policies.get(identityId) ?? new Set();
    if (isRelated) policies.add(policyId);
    else policies.delete(policyId);
    if (policies.size > 0) this.#policies.set(identityId, policies);
    else this.#policies.delete(identityId);
  }

  #removePolicy(policyId: string): void {
    for (const identityId of this.#relations.get(policyId)?.identity ?? [])
      this.#indexPolicy(identityId, policyId, false);
    this.#relations.delete(policyId);
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
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
