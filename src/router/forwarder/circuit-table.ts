/** Circuits through this router: the forward of each address, the controller, and the time of the last frame. */

/** Names of the service, the dialer and the host, as the controller gives them. */
export type CircuitTags = Readonly<Record<string, string>>;

export interface RoutedCircuit {
  readonly id: string;
  /** The controller that routed it, which receives its faults and confirmations. */
  readonly controllerId: string;
  readonly next: Map<string, string>;
  /** Addresses of the circuit's ends at this router. */
  readonly ends: string[];
  /** Peer data of the dialed end. A repeated Route for it gets the same answer. */
  egressData: ReadonlyMap<number, Uint8Array> | undefined;
  /** For usage reports; undefined if the controller gave none. */
  tags: CircuitTags | undefined;
  lastActiveMs: number;
  /** Time at which an end here last received a payload. */
  lastDeliveredMs: number;
  /** Whether an end here has received a payload. */
  hasDelivered: boolean;
  /** True after an end here closed and the controller was notified, so that later frames are not reported as faults. */
  isEnding: boolean;
  /** Payload bytes over links that the metrics do not include yet. */
  receivedBytes: number;
  sentBytes: number;
}

export function newCircuit(id: string, controllerId: string, nowMs: number): RoutedCircuit {
  return {
    id,
    controllerId,
    next: new Map(),
    ends: [],
    egressData: undefined,
    tags: undefined,
    lastActiveMs: nowMs,
    lastDeliveredMs: nowMs,
    hasDelivered: false,
    isEnding: false,
    receivedBytes: 0,
    sentBytes: 0,
  };
}
