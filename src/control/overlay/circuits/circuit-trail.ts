/** Emits an event for each circuit that is created, moved, ended, or could not be created. Costs nothing without a listener. */
import { definedFields, type Clock } from '#base';
import { EdgeErrorCode, RouteErrorCode } from '#wire/circuits';
import type { CircuitEvent, CircuitEventType, FabricEvents } from '../model/fabric-events.ts';
import type { CircuitFailure, CircuitWish } from './circuit-builder.ts';
import type { EstablishedCircuit } from './circuit-registry.ts';
import type { PathFinder } from '../mesh/path-finder.ts';

export interface CircuitTrailOptions {
  readonly events: FabricEvents;
  readonly paths: Pick<PathFinder, 'costOf'>;
  readonly clock: Clock;
}

/** OpenZiti's names of failures that a router reports. */
const CAUSES: ReadonlyMap<number, string> = new Map<number, string>([
  [RouteErrorCode.invalidTerminator, 'ROUTER_ERR_INVALID_TERMINATOR'],
  [RouteErrorCode.misconfiguredTerminator, 'ROUTER_ERR_MISCONFIGURED_TERMINATOR'],
  [RouteErrorCode.dialTimeout, 'ROUTER_ERR_DIAL_TIMED_OUT'],
  [RouteErrorCode.connectionRefused, 'ROUTER_ERR_CONN_REFUSED'],
]);

export class CircuitTrail {
  readonly #options: CircuitTrailOptions;

  constructor(options: CircuitTrailOptions) {
    this.#options = options;
  }

  created(circuit: EstablishedCircuit, creationMs: number): void {
    this.#emit('created', circuit, { creationMs });
  }

  moved(circuit: EstablishedCircuit): void {
    this.#emit('pathUpdated', circuit, { durationMs: this.#ageOf(circuit) });
  }

  ended(circuit: EstablishedCircuit): void {
    this.#emit('deleted', circuit, { durationMs: this.#ageOf(circuit) });
  }

  failed(circuitId: string, wish: CircuitWish, failure: CircuitFailure, creationMs: number): void {
    const { events } = this.#options;
    if (!events.has('circuit')) return;
    const { service, sessionId, identityId, instanceId } = wish;
    events.emit('circuit', {
      type: 'failed',
      circuitId,
      instanceId,
      serviceId: service.id,
      terminatorId: '',
      routerIds: [],
      linkIds: [],
      ingressAddress: '',
      egressAddress: '',
      clientId: sessionId ?? identityId ?? '',
      cost: undefined,
      creationMs,
      durationMs: undefined,
      failureCause: causeOf(failure),
      tags: tagsOf(service.id, identityId, undefined),
    });
  }

  #emit(
    type: CircuitEventType,
    circuit: EstablishedCircuit,
    times: Partial<Pick<CircuitEvent, 'creationMs' | 'durationMs'>>,
  ): void {
    const { events, paths } = this.#options;
    if (!events.has('circuit')) return;
    const { id, serviceId, identityId, sessionId, terminatorId, instanceId, hostId, path } = circuit;
    events.emit('circuit', {
      type,
      circuitId: id,
      serviceId,
      terminatorId,
      instanceId,
      clientId: sessionId ?? identityId ?? '',
      routerIds: path.routerIds,
      linkIds: path.linkIds,
      ingressAddress: circuit.ingressAddress,
      egressAddress: circuit.egressAddress,
      cost: paths.costOf(path),
      creationMs: times.creationMs,
      durationMs: times.durationMs,
      failureCause: undefined,
      tags: tagsOf(serviceId, identityId, hostId),
    });
  }

  #ageOf({ createdAtMs }: EstablishedCircuit): number {
    return Math.max(0, this.#options.clock.nowMs() - createdAtMs);
  }
}

function tagsOf(serviceId: string, clientId: string | undefined, hostId: string | undefined) {
  return definedFields({ serviceId, clientId, hostId });
}

function causeOf({ code, routeErrorCode }: CircuitFailure): string | undefined {
  if (routeErrorCode !== undefined) return CAUSES.get(routeErrorCode) ?? 'ROUTER_ERR_GENERIC';
  return code === EdgeErrorCode.invalidTerminator ? 'NO_TERMINATORS' : undefined;
}
