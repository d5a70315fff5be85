/** What the SDKs at a router share: its forwarder, its terminators, and the ways to its controllers. */
import type { Log } from '#base';
import type { Frame } from '#wire';
import type { XgressConfig } from '../config/router-config.ts';
import type { CircuitAsker } from '../ctrl/circuit-asker.ts';
import type { Forwarder } from '../forwarder/forwarder.ts';
import type { XgressEnds } from '../xgress/xgress-ends.ts';
import type { EdgeTerminatorRegistry } from './edge-terminator-registry.ts';

/** What an edge peer needs of its router. */
export interface EdgePeerContext {
  readonly log: Log;
  readonly forwarder: Forwarder;
  readonly terminators: EdgeTerminatorRegistry;
  readonly asker: CircuitAsker;
  sendToControllers(frame: Frame): boolean;
  /** Reports a circuit whose end here closed to its controller. */
  reportFault(circuitId: string, controllerId: string, isTerminator: boolean): void;
  /** What all ends of circuits at this router share. */
  readonly ends: XgressEnds;
  /** The edge listener's options of circuits whose xgress end the router holds, and the time that a circuit may take. */
  readonly xgress: XgressConfig;
}
