/**
 * What serves the circuits of a share. Each backend mode has its class in this folder and a row in `backend-of-mode.ts`; what
 * other parts know of a mode is its row in `#domain`. ADR 0080.
 */
import type { Log } from '#base';
import type { AllowedNetwork } from '#domain';
import type { ProxyProtocol, ProxyProtocolVersion, TargetTimes, TargetTls } from '#domain/upstream';
import type { LocalSide } from '../circuit-copy.ts';
import type { AgentTarget } from '../target-address.ts';
import type { DatagramDialer } from './datagram-target.ts';
import type { TargetClient } from './target-certificate.ts';
import type { TargetFailure } from './target-connection.ts';
import type { LookResult, TargetHealth } from './target-health-machine.ts';
import type { TargetResolver } from './target-resolver.ts';

export interface Backend {
  /**
   * Opens the local side of one circuit, before the circuit is accepted. Calls exactly one of the two, later. The handlers of
   * the side must be set inside `onOpen`. The returned function cancels (then neither is called).
   */
  open(onOpen: (side: LocalSide) => void, onFailed: (failure: TargetFailure) => void): () => void;
  /**
   * Checks once whether circuits can be served, and calls `report` once, later. `known` is what earlier checks found. The
   * returned function cancels (then `report` is not called).
   */
  health(known: TargetHealth, report: (result: LookResult) => void): () => void;
  /** Backends with equal descriptions are interchangeable. */
  describe(): BackendDescription;
}

export interface BackendDescription {
  /** The target, in the form that equal targets share. */
  readonly target: string;
  /** Whether the operator of this agent chose the target. Any other must be inside `--allow-target`. */
  readonly isOwn: boolean;
  /** How its certificate is verified, as a text that equal settings share; absent for targets without TLS. */
  readonly tls?: string;
  /** How the client of a connection is named; absent: it is not. */
  readonly proxyProtocol?: ProxyProtocolVersion;
  /** What concerns new connections alone, as a text that equal settings share; absent for what has no connections. */
  readonly connecting?: string;
}

/** What every backend is made with. */
export interface BackendParts {
  readonly resolver: TargetResolver;
  readonly datagrams: DatagramDialer;
  /** Targets that the Management API may set. */
  readonly allowTargets: readonly AllowedNetwork[];
  /** Folders that it may set, with those below. */
  readonly allowFolders: readonly string[];
  /** The data directory of the agent, which no share serves. */
  readonly dataDir: string;
  readonly log: Log;
  /** CA certificates (PEM) to verify https targets with; by default the system's. */
  readonly targetCa?: string | undefined;
  /** Client certificates for https targets that its operator chose, by name; that of all others has the name ''. */
  readonly targetClients?: ReadonlyMap<string, TargetClient> | undefined;
  readonly times: BackendTimes;
}

export interface BackendTimes {
  /** For connecting in a check. */
  readonly checkTimeoutMs: number;
  /** How long a service may take to close after the end of a check. */
  readonly closeTimeoutMs: number;
}

/** A judged target: what serves it, or why nothing does. */
export type JudgedBackend = Backend | { readonly problem: string };

/** Judges a target of one mode. */
export type BackendOfTarget = (
  target: AgentTarget,
  isOwn: boolean,
  parts: BackendParts,
  settings: TargetSettings,
) => JudgedBackend;

/** The settings of a share that its agent applies. */
export interface TargetSettings {
  readonly tls: TargetTls;
  readonly times: Pick<TargetTimes, 'connectTimeoutSeconds'>;
  readonly proxyProtocol: ProxyProtocol;
}
