/**
 * Circuits over routers that are or were disconnected. A router that reconnects is asked which circuits it still
 * has: the same process has its own, a new process none. After a long absence the circuits are ended.
 */
import type { Clock, Log } from '#base';
import { type CircuitRegistry, type EstablishedCircuit, isAtEnd } from './circuit-registry.ts';
import type { CircuitRerouter } from './circuit-rerouter.ts';
import type { ConnectedRouter, RouterRegistry } from '../mesh/connected-router.ts';
import type { FabricView } from '../model/fabric-view.ts';

export interface AwayCircuitsOptions {
  readonly routers: RouterRegistry;
  readonly circuits: CircuitRegistry;
  readonly rerouter: CircuitRerouter;
  readonly inspection: Pick<FabricView, 'inspect'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Longer than restarts of machines and network outages, and shorter than clients wait. */
export const AWAY_LIMIT_MS = 900_000;
const CIRCUITS_NAME = 'router-circuits';

export class AwayCircuits {
  readonly #options: AwayCircuitsOptions;
  /**
   * Time of disconnection. Removed when the router reconnects or its circuits are ended. Bounded by the routers
   * of the model.
   */
  readonly #awaySinceMs = new Map<string, number>();

  constructor(options: AwayCircuitsOptions) {
    this.#options = options;
  }

  onGone(router: ConnectedRouter): void {
    this.#awaySinceMs.set(router.id, this.#options.clock.nowMs());
  }

  /** The router may be a new process without these circuits. */
  onConnect(router: ConnectedRouter): void {
    this.#awaySinceMs.delete(router.id);
    const suspects = this.#options.circuits.suspectOf(router.id);
    if (suspects.length > 0) void this.#ask(router, suspects);
  }

  tick(nowMs: number): void {
    const { circuits, log } = this.#options;
    for (const [routerId, sinceMs] of this.#awaySinceMs) {
      if (nowMs - sinceMs < AWAY_LIMIT_MS) continue;
      this.#awaySinceMs.delete(routerId);
      const count = circuits.endWhere(({ path }) => path.routerIds.includes(routerId));
      if (count > 0)
        log.warn(
          { router: routerId, circuits: count },
          'ended the circuits of a router that did not reconnect',
        );
    }
  }

  async #ask(router: ConnectedRouter, suspects: readonly EstablishedCircuit[]): Promise<void> {
    const { routers, circuits, rerouter, inspection, log } = this.#options;
    const [answer] = await inspection.inspect([CIRCUITS_NAME], router.id);
    const carried = carriedOf(answer?.value);
    // The router cannot report them; its idle circuits will be confirmed one by one.
    if (carried === undefined || !routers.isCurrent(router)) return;
    let ended = 0;
    for (const circuit of suspects) {
      if (circuits.get(circuit.id) !== circuit || !circuit.path.routerIds.includes(router.id)) continue;
      circuits.trust(circuit);
      if (carried.has(circuit.id)) continue;
      if (isAtEnd(circuit, router.id)) {
        circuits.end(circuit, true);
        ended += 1;
      } else rerouter.move(circuit);
    }
    if (ended > 0)
      log.info({ router: router.id, circuits: ended }, 'ended circuits that the router no longer has');
  }
}

function carriedOf(value: unknown): Set<string> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { circuits } = value as { circuits?: unknown };
  if (typeof circuits !== 'object' || circuits === null) return undefined;
  return new Set(Object.keys(circuits));
}
