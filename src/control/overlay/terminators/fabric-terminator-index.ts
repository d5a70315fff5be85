/**
 * Terminators of fabric services, and those that administrators made for services of the edge management API, by service
 * and by router, as in the model. It adds only whether a router could
 * use one, because a terminator that the operator created is not deleted for a temporary configuration error of a
 * router.
 */
import type { OverlayModel } from '../model/overlay-model.ts';
import type { FabricTerminator } from './terminator-store.ts';
import type { HostTerminator } from './host-terminator.ts';

export interface IndexedTerminator extends HostTerminator {
  readonly identityId: undefined;
  cost: number;
  precedence: number;
  peerData: HostTerminator['peerData'];
  isHealthy: boolean;
}

export type FabricTerminatorListener = (terminator: IndexedTerminator, change: 'added' | 'removed') => void;

type Index = Map<string, Map<string, IndexedTerminator>>;

const NONE: ReadonlyMap<string, IndexedTerminator> = new Map();
/** Far from the markers of shares' terminators, so that responses are never confused. */
const FIRST_MARKER = 1n << 40n;

export class FabricTerminatorIndex {
  readonly #terminators = new Map<string, IndexedTerminator>();
  readonly #byService: Index = new Map();
  readonly #byRouter: Index = new Map();
  readonly #listeners: FabricTerminatorListener[] = [];
  #nextMarker = FIRST_MARKER;

  constructor(model: OverlayModel) {
    for (const terminator of model.fabricTerminators()) this.#put(terminator);
    model.onChange(({ type, id }) => {
      if (type !== 'fabric-terminator') return;
      const terminator = model.fabricTerminator(id);
      if (terminator !== undefined && this.#change(terminator)) return;
      this.#drop(id);
      if (terminator !== undefined) this.#put(terminator);
    });
  }

  /**
   * A terminator with a new destination is reported as removed and added, because its known state is no longer
   * valid.
   */
  onChange(listener: FabricTerminatorListener): void {
    this.#listeners.push(listener);
  }

  get size(): number {
    return this.#terminators.size;
  }

  get(id: string): IndexedTerminator | undefined {
    return this.#terminators.get(id);
  }

  all(): IterableIterator<IndexedTerminator> {
    return this.#terminators.values();
  }

  ofService(serviceId: string): ReadonlyMap<string, IndexedTerminator> {
    return this.#byService.get(serviceId) ?? NONE;
  }

  ofRouter(routerId: string): ReadonlyMap<string, IndexedTerminator> {
    return this.#byRouter.get(routerId) ?? NONE;
  }

  /** Returns false if the terminator is a different one now. */
  #change({ id, cost, precedence, peerData, ...place }: FabricTerminator): boolean {
    const known = this.#terminators.get(id);
    const isSame =
      known?.serviceId === place.serviceId &&
      known.routerId === place.routerId &&
      known.binding === place.binding &&
      known.address === place.address &&
      known.instanceId === place.instanceId;
    if (!isSame) return false;
    // The operator changed it, so it gets another chance.
    if (known.cost !== cost || known.precedence !== precedence) known.isHealthy = true;
    known.cost = cost;
    known.precedence = precedence;
    known.peerData = peerData;
    return true;
  }

  #put(terminator: FabricTerminator): void {
    const indexed = { ...terminator, identityId: undefined, marker: this.#nextMarker, isHealthy: true };
    this.#nextMarker += 1n;
    this.#terminators.set(indexed.id, indexed);
    into(this.#byService, indexed.serviceId).set(indexed.id, indexed);
    into(this.#byRouter, indexed.routerId).set(indexed.id, indexed);
    for (const listener of this.#listeners) listener(indexed, 'added');
  }

  #drop(id: string): void {
    const known = this.#terminators.get(id);
    if (known === undefined) return;
    this.#terminators.delete(id);
    outOf(this.#byService, known.serviceId, id);
    outOf(this.#byRouter, known.routerId, id);
    for (const listener of this.#listeners) listener(known, 'removed');
  }
}

function into(index: Index, key: string): Map<string, IndexedTerminator> {
  let found = index.get(key);
  if (found === undefined) index.set(key, (found = new Map()));
  return found;
}

function outOf(index: Index, key: string, id: string): void {
  const found = index.get(key);
  if (found?.delete(id) === true && found.size === 0) index.delete(key);
}
