/** Circuits through this router: which address follows which, whose they are, and when something last passed. */

export interface RoutedCircuit {
  readonly id: string;
  /** The controller that routed it; faults and confirmations go there. */
  readonly controllerId: string;
  readonly next: Map<string, string>;
  /** Addresses of its ends on this router. */
  readonly ends: string[];
  /** Peer data of the dialed end. Another Route for it gets the same answer. */
  egressData: ReadonlyMap<number, Uint8Array> | undefined;
  lastActiveMs: number;
  /** When an end here last got a payload from a link. */
  lastDeliveredMs: number;
  /** An end here closed and the controller was notified, so that later frames are not a fault. */
  isEnding: boolean;
  /** Payload bytes over links that are not in the metrics yet. */
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
    lastActiveMs: nowMs,
    lastDeliveredMs: nowMs,
    isEnding: false,
    receivedBytes: 0,
    sentBytes: 0,
  };
}
