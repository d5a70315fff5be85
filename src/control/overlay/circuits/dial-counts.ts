/** Counts dials of each service and terminator by their outcome, and emits the counts at the end of each minute. */
import { EdgeErrorCode, RouteErrorCode } from '#wire/circuits';
import type { FabricEvents } from '../model/fabric-events.ts';
import type { CircuitFailure } from './circuit-builder.ts';

const INTERVAL_MS = 60_000;
/** Dials of further services and terminators are not counted in the interval. */
const MAX_COUNTS = 10_000;

/** OpenZiti's names of what a router reports about a terminator. */
const TERMINATOR_FAULTS: ReadonlyMap<number, string> = new Map<number, string>([
  [RouteErrorCode.invalidTerminator, 'invalid'],
  [RouteErrorCode.misconfiguredTerminator, 'misconfigured'],
  [RouteErrorCode.dialTimeout, 'timeout'],
  [RouteErrorCode.connectionRefused, 'connection_refused'],
]);

interface DialCount {
  readonly type: string;
  readonly serviceId: string;
  readonly terminatorId: string;
  count: number;
}

export class DialCounts {
  readonly #events: FabricEvents;
  readonly #counts = new Map<string, DialCount>();
  #intervalStartMs = 0;

  constructor(events: FabricEvents) {
    this.#events = events;
  }

  succeeded(serviceId: string, terminatorId: string): void {
    this.#add('service.dial.success', serviceId, terminatorId);
  }

  /** The dial failed as a whole. The router that could not reach a terminator has reported why. */
  failed(serviceId: string, { routeErrorCode, code }: CircuitFailure): void {
    this.#add('service.dial.fail', serviceId, '');
    const fault = routeErrorCode === undefined ? undefined : TERMINATOR_FAULTS.get(routeErrorCode);
    if (fault !== undefined) this.#add(`service.dial.terminator.${fault}`, serviceId, '');
    else if (code === EdgeErrorCode.invalidTerminator || routeErrorCode !== undefined)
      this.#add('service.dial.error_other', serviceId, '');
  }

  /** `wallMs`: Unix time. */
  tick(wallMs: number): void {
    const intervalStartMs = wallMs - (wallMs % INTERVAL_MS);
    if (intervalStartMs === this.#intervalStartMs) return;
    const [intervalStartS, intervalLengthS] = [this.#intervalStartMs / 1_000, INTERVAL_MS / 1_000];
    for (const count of this.#counts.values())
      this.#events.emit('service', { ...count, intervalStartS, intervalLengthS });
    this.#counts.clear();
    this.#intervalStartMs = intervalStartMs;
  }

  #add(type: string, serviceId: string, terminatorId: string): void {
    if (!this.#events.has('service')) return;
    const key = `${type} ${serviceId} ${terminatorId}`;
    const known = this.#counts.get(key);
    if (known !== undefined) known.count += 1;
    else if (this.#counts.size < MAX_COUNTS)
      this.#counts.set(key, { type, serviceId, terminatorId, count: 1 });
  }
}
