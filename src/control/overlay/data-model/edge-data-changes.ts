/**
 * What changed of the edge management API's entities in the router data model. A policy may select by attributes, so that
 * a change of one entity can concern any policy. The whole is therefore projected again and compared with the last
 * projection, at most as often as its cost permits.
 */
import { DataState_RelatedEntityType } from '#wire/ctrl';
import type { OverlayModel } from '../model/overlay-model.ts';
import {
  differencesOf,
  entityKey,
  projectionOf,
  relation,
  type DataEvent,
  type Projection,
} from './data-model-diff.ts';
import type { IsKnown } from './data-model-events.ts';
import { edgeDataModel } from './edge-data-model.ts';

const { RELATED_IDENTITY } = DataState_RelatedEntityType;

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
    this.#last = edgeProjection(edge, isKnown);
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
        events.push({ model: relation(value.policyId ?? '', RELATED_IDENTITY, [identityId], false) });
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
    const next = edgeProjection(this.#edge, this.#isKnown);
    const events = differencesOf(this.#last, next);
    this.#last = next;
    const endMs = performance.now();
    this.#notBeforeMs = endMs + (endMs - startMs) / MAX_LOAD;
    return events;
  }
}

/** All entities of the edge management API. */
function edgeProjection(edge: OverlayModel['edge'], isKnown: IsKnown): Projection {
  const { configs, identities, services, postureChecks, policies } = edgeDataModel(edge, isKnown);
  return projectionOf([...configs, ...identities, ...services, ...postureChecks, ...policies]);
}
