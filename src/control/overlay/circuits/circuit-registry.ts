/**
 * The established circuits. A circuit ends when a router reports its end, when its service, identity or log-in is
 * removed, when no path is left, or when an operator ends it. The table is bounded. Circuits of a router that was
 * disconnected are kept, but are removed first for lack of room.
 */
import { ShortLivedMap } from '#base';
import { ctrlMessages } from '#wire/ctrl';
import type { RouterRegistry } from '../mesh/connected-router.ts';
import type { CircuitPath } from '../mesh/path-policy.ts';
import type { TerminatorCosts } from '../terminators/terminator-costs.ts';

/** Mutable on purpose: one per circuit, and its path changes. */
export interface EstablishedCircuit {
  readonly id: string;
  readonly serviceId: string;
  /** The dialing identity; undefined for a circuit of a router itself. */
  readonly identityId: string | undefined;
  readonly sessionId: string | undefined;
  readonly terminatorId: string;
  /** The dialed address; '' for none. */
  readonly instanceId: string;
  /** The hosting identity; undefined for a fabric service. */
  readonly hostId: string | undefined;
  path: CircuitPath;
  /** While it is moved to `path`: routers that may still have entries of an earlier one. */
  earlierRouterIds: Set<string> | undefined;
  readonly ingressAddress: string;
  readonly egressAddress: string;
  readonly createdAtMs: number;
}

export interface CircuitLimits {
  readonly maxCircuits: number;
  /** Also limits the circuits of a router that dials by itself. */
  readonly maxCircuitsPerIdentity: number;
}

export const CIRCUIT_LIMITS: CircuitLimits = { maxCircuits: 100_000, maxCircuitsPerIdentity: 50_000 };

export class CircuitRegistry {
  readonly #routers: RouterRegistry;
  readonly #costs: TerminatorCosts;
  readonly #limits: CircuitLimits;
  readonly #circuits = new ShortLivedMap<string, EstablishedCircuit>();
  readonly #perOwner = new Map<string, number>();
  /** Circuits whose router was disconnected since, and may have lost them. */
  readonly #suspects = new Set<EstablishedCircuit>();
  #onEnded: (circuit: EstablishedCircuit) => void = () => {};

  constructor(routers: RouterRegistry, costs: TerminatorCosts, limits: CircuitLimits = CIRCUIT_LIMITS) {
    this.#routers = routers;
    this.#costs = costs;
    this.#limits = limits;
  }

  /** The listener is called for each circuit that was removed. */
  onEnded(listener: (circuit: EstablishedCircuit) => void): void {
    this.#onEnded = listener;
  }

  get size(): number {
    return this.#circuits.size;
  }

  get(id: string): EstablishedCircuit | undefined {
    return this.#circuits.get(id);
  }

  all(): IterableIterator<EstablishedCircuit> {
    return this.#circuits.values();
  }

  hasRoomFor(ownerId: string): boolean {
    return (
      (this.#circuits.size < this.#limits.maxCircuits || this.#suspects.size > 0) &&
      (this.#perOwner.get(ownerId) ?? 0) < this.#limits.maxCircuitsPerIdentity
    );
  }

  add(circuit: EstablishedCircuit): void {
    if (this.#circuits.size >= this.#limits.maxCircuits) {
      const oldest = this.#suspects.values().next();
      if (oldest.done !== true) this.end(oldest.value, true);
    }
    this.#circuits.set(circuit.id, circuit);
    const ownerId = ownerOf(circuit);
    this.#perOwner.set(ownerId, (this.#perOwner.get(ownerId) ?? 0) + 1);
  }

  /** Removes the circuit and notifies every router on its path. `now` false: they drop it once it is idle. */
  end(circuit: EstablishedCircuit, now: boolean): void {
    if (!this.#circuits.delete(circuit.id)) return;
    this.#suspects.delete(circuit);
    const ownerId = ownerOf(circuit);
    const left = (this.#perOwner.get(ownerId) ?? 1) - 1;
    if (left === 0) this.#perOwner.delete(ownerId);
    else this.#perOwner.set(ownerId, left);
    this.#costs.onCircuitEnded(circuit.terminatorId);
    const { earlierRouterIds, path } = circuit;
    if (earlierRouterIds !== undefined) {
      for (const id of path.routerIds) earlierRouterIds.add(id);
    }
    this.unroute(circuit.id, earlierRouterIds ?? path.routerIds, now);
    this.#onEnded(circuit);
  }

  /** Ends every circuit that `isOver` selects, at once, and returns their number. */
  endWhere(isOver: (circuit: EstablishedCircuit) => boolean): number {
    let count = 0;
    for (const circuit of this.#circuits.values()) {
      if (!isOver(circuit)) continue;
      this.end(circuit, true);
      count += 1;
    }
    return count;
  }

  /** Returns the suspect circuits of this router. */
  suspectOf(routerId: string): EstablishedCircuit[] {
    const found = [...this.#circuits.values()].filter(({ path }) => path.routerIds.includes(routerId));
    for (const circuit of found) this.#suspects.add(circuit);
    return found;
  }

  /** The circuit still exists. */
  trust(circuit: EstablishedCircuit): void {
    this.#suspects.delete(circuit);
  }

  unroute(circuitId: string, routerIds: Iterable<string>, now: boolean): void {
    for (const routerId of routerIds) {
      this.#routers.get(routerId)?.send(ctrlMessages.unroute.passedFrame({ circuitId, now }));
    }
  }
}

/** Whether the router is on its path, or recently was. */
export function isOnPath({ path, earlierRouterIds }: EstablishedCircuit, routerId: string): boolean {
  return path.routerIds.includes(routerId) || earlierRouterIds?.has(routerId) === true;
}

/** Whether the circuit begins or ends at the router. */
export function isAtEnd({ path }: EstablishedCircuit, routerId: string): boolean {
  return path.routerIds[0] === routerId || path.routerIds.at(-1) === routerId;
}

function ownerOf({ identityId, path }: EstablishedCircuit): string {
  return identityId ?? path.routerIds[0]!;
}
