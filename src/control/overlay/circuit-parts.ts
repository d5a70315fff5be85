/** Makes circuits and keeps them: the state of the terminators at which they end, their paths, and what they cost. */
import type { FabricEvents } from './model/fabric-events.ts';
import { AwayCircuits } from './circuits/away-circuits.ts';
import { CircuitBuilder } from './circuits/circuit-builder.ts';
import { CircuitRerouter } from './circuits/circuit-rerouter.ts';
import { followClients } from './circuits/client-trail.ts';
import { DialCounts } from './circuits/dial-counts.ts';
import { LeavingCircuits } from './circuits/leaving-circuits.ts';
import type { MeshParts, OverlayClocks } from './mesh-parts.ts';
import type { OverlayControllerOptions } from './overlay-options.ts';
import { RemovedTerminators } from './terminators/removed-terminators.ts';
import { ServiceProber } from './terminators/service-prober.ts';
import { TerminatorSelector } from './terminators/terminator-selector.ts';
import { TerminatorValidation } from './terminators/terminator-validation.ts';

export interface CircuitParts {
  readonly validation: TerminatorValidation;
  readonly prober: ServiceProber;
  readonly rerouter: CircuitRerouter;
  readonly selector: TerminatorSelector;
  readonly builder: CircuitBuilder;
  readonly dialCounts: DialCounts;
  readonly leaving: LeavingCircuits;
  readonly awayCircuits: AwayCircuits;
}

export function makeCircuitParts(
  options: OverlayControllerOptions,
  events: FabricEvents,
  mesh: MeshParts,
  clocks: OverlayClocks,
): CircuitParts {
  const { log } = options;
  const clock = clocks.leases;
  const { routers, circuits, terminators, inspection, trail } = mesh;
  const { validation, prober } = makeTerminatorHealth(options, mesh, clocks);
  followClients(events, options.sessions, prober);
  const dialCounts = new DialCounts(events);
  const rerouter = new CircuitRerouter({
    routers,
    circuits,
    paths: mesh.paths,
    onMoved: (circuit) => trail.moved(circuit),
    clock,
    log,
  });
  const selector = makeSelector(options, mesh, validation);
  const builder = new CircuitBuilder({
    routers,
    selector,
    circuits,
    clock,
    onTerminatorResult: (terminator, error) => prober.onCircuitResult(terminator, error),
    onEstablished(circuit, creationMs) {
      trail.created(circuit, creationMs);
      dialCounts.succeeded(circuit.serviceId, circuit.terminatorId);
      rerouter.onEstablished(circuit);
    },
    onFailed(circuitId, wish, failure, ms) {
      trail.failed(circuitId, wish, failure, ms);
      dialCounts.failed(wish.service.id, failure);
    },
  });
  return {
    validation,
    prober,
    rerouter,
    selector,
    builder,
    dialCounts,
    leaving: new LeavingCircuits({ routers, circuits, terminators }),
    awayCircuits: new AwayCircuits({ routers, circuits, rerouter, inspection, clock, log }),
  };
}

/** The parts that find out whether a terminator still leads to its service. */
function makeTerminatorHealth(
  options: OverlayControllerOptions,
  { routers, terminators }: MeshParts,
  { clock, leases }: OverlayClocks,
): Pick<CircuitParts, 'validation' | 'prober'> {
  const { model, sessions, log, tuning, replicas } = options;
  const removed = new RemovedTerminators({ model, sessions, terminators, routers, clock, leases, log });
  const validation = new TerminatorValidation({
    terminators,
    routers,
    removed,
    clock: leases,
    log,
  });
  const prober = new ServiceProber({
    model,
    terminators,
    routers,
    validation,
    clock: leases,
    log,
    maxProbesPerSecond: tuning?.maxProbesPerSecond,
    isConnectedElsewhere: replicas?.isConnectedElsewhere,
  });
  return { validation, prober };
}

function makeSelector(
  { tuning, log }: OverlayControllerOptions,
  { terminators, routers, paths, costs }: MeshParts,
  validation: TerminatorValidation,
): TerminatorSelector {
  return new TerminatorSelector({
    terminators,
    routers,
    paths,
    costs,
    validation,
    log,
    random: tuning?.random,
  });
}
