/**
 * The circuits that stand. One ends when a router says so, when its service, identity or log-in goes, or when an
 * operator ends it; the table is bounded. Circuits of a router that was away are kept, but make room first.
 */
import { ctrlMessages } from '#wire/ctrl';
import type { RouterRegistry } from './connected-router.ts';

export interface EstablishedCircuit {
  readonly id: string;
  readonly serviceId: string;
  readonly identityId: string;
  readonly sessionId: string;
  readonly terminatorId: string;
  readonly routerIds: readonly string[];
  readonly linkId: string | undefined;
  readonly createdAtMs: number;
}

export interface CircuitLimits {
  readonly maxCircuits: number;
  readonly maxCircuitsPerIdentity: number;
}

export const CIRCUIT_LIMITS: CircuitLimits = { maxCircuits: 100_000, maxCircuitsPerIdentity: 50_000 };

export class CircuitRegistry {
  readonly #routers: RouterRegistry;
  readonly #limits: CircuitLimits;
  readonly #circuits = new Map<string, EstablishedCircuit>();
  readonly #perIdentity = new Map<string, number>();
  /** Their router was away since: it may have forgotten them without telling. */
  readonly #suspects = new Set<EstablishedCircuit>();

  constructor(routers: RouterRegistry, limits: CircuitLimits = CIRCUIT_LIMITS) {
    this.#routers = routers;
    this.#limits = limits;
  }

  get size(): number {
    return this.#circuits.size;
  }

  get(id: string): EstablishedCircuit | undefined {
    return this.#circuits.get(id);
  }

  hasRoomFor(identityId: string): boolean {
    return (
      (this.#circuits.size < this.#limits.maxCircuits || this.#suspects.size > 0) &&
      (this.#perIdentity.get(identityId) ?? 0) < this.#limits.maxCircuitsPerIdentity
    );
  }

  add(circuit: EstablishedCircuit): void {
    if (this.#circuits.size >= this.#limits.maxCircuits) {
      const oldest = this.#suspects.values().next();
      if (oldest.done !== true) this.end(oldest.value, true);
    }
    this.#circuits.set(circuit.id, circuit);
    this.#perIdentity.set(circuit.identityId, (this.#perIdentity.get(circuit.identityId) ?? 0) + 1);
  }

  /** Forgets the circuit and tells every router on its path. `now` false: once it is idle. */
  end(circuit: EstablishedCircuit, now: boolean): void {
    if (!this.#circuits.delete(circuit.id)) return;
    this.#suspects.delete(circuit);
    const left = (this.#perIdentity.get(circuit.identityId) ?? 1) - 1;
    if (left === 0) this.#perIdentity.delete(circuit.identityId);
    else this.#perIdentity.set(circuit.identityId, left);
    this.unroute(circuit.id, circuit.routerIds, now);
  }

  /** Ends, at once, every circuit that `isOver` picks; answers how many. */
  endWhere(isOver: (circuit: EstablishedCircuit) => boolean): number {
    let count = 0;
    for (const circuit of this.#circuits.values()) {
      if (!isOver(circuit)) continue;
      this.end(circuit, true);
      count += 1;
    }
    return count;
  }

  suspectOf(routerId: string): void {
    for (const circuit of this.#circuits.values()) {
      if (circuit.routerIds.includes(routerId)) this.#suspects.add(circuit);
    }
  }

  unroute(circuitId: string, routerIds: Iterable<string>, now: boolean): void {
    for (const routerId of routerIds) {
      this.#routers.get(routerId)?.send(ctrlMessages.unroute.frame({ circuitId, now }));
    }
  }
}
