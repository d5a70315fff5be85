/** The dependencies that all SDK peers of a router share: forwarder, terminators, and access to controllers. */
import type { Log } from '#base';
import type { SummedLog } from '#net';
import type { Frame } from '#wire';
import type { XgressConfig } from '../config/router-config.ts';
import type { CircuitAsker } from '../ctrl/circuit-asker.ts';
import type { Forwarder } from '../forwarder/forwarder.ts';
import type { XgressEnds } from '../xgress/xgress-ends.ts';
import type { EdgeTerminatorRegistry } from './edge-terminator-registry.ts';
import type { ServiceGrants } from './service-grants.ts';
import type { TokenSessions } from './token-sessions.ts';

/** The dependencies of one edge peer. */
export interface EdgePeerContext {
  readonly log: Log;
  /** For failures that repeat while something is down. */
  readonly summedLog: SummedLog;
  readonly forwarder: Forwarder;
  readonly terminators: EdgeTerminatorRegistry;
  readonly asker: CircuitAsker;
  /** Replaces tokens of sessions, and keeps what their devices report. */
  readonly tokenSessions: Pick<TokenSessions, 'renew' | 'report'>;
  /** Authorizes dials and binds of sessions that tokens have proven. */
  readonly grants: ServiceGrants;
  sendToControllers(frame: Frame): boolean;
  /** Reports a circuit whose end here closed to its controller. */
  reportFault(circuitId: string, controllerId: string, isTerminator: boolean): void;
  /** Resources that all ends of circuits at this router share. */
  readonly ends: XgressEnds;
  /** Options of the edge listener for circuits whose xgress end the router holds, and the time limit for circuits. */
  readonly xgress: XgressConfig;
}
