/**
 * One circuit to a share's private service, as the gateway uses it: the circuit's callbacks are set once and lead to
 * whoever owns it now, an exchange, a relay, or nobody while it waits in the pool. An owner that throws loses this
 * circuit and nothing else. Mutable on purpose: it is on the path of every request.
 */
import type { Circuit, CircuitError } from '#sdk';
import { bufferOf, type HeadBuffer } from '../http/head-buffer.ts';
import type { HostEntry, ShareRoute } from '../shares/share-table.ts';
import type { ShareTraffic } from '../traffic/share-traffic.ts';
import { WaitingLine, type InLine } from './waiting-line.ts';

export interface UpstreamOwner {
  upstreamData(bytes: Buffer): void;
  /** The origin half-closed. */
  upstreamEnded(): void;
  upstreamDrained(): void;
  /** Last. `error` when the circuit broke. */
  upstreamClosed(error: CircuitError | undefined): void;
  /** The owner's own code threw. */
  upstreamFault(error: unknown): void;
}

export class Upstream {
  readonly circuit: Circuit;
  readonly route: GatewayRoute;
  /** Heads of answers in the making. */
  readonly heads: HeadBuffer;
  owner: UpstreamOwner | undefined;
  /** Answers that it has carried. */
  uses = 0;
  openedMs = 0;
  idleSinceMs = 0;
  idleUntilMs = 0;
  ended = false;
  closed = false;
  /** Still in the pool's count of open circuits. */
  counted = true;
  #paused = false;

  /** `onUnowned` is called when bytes, an end or a close come while nobody owns it. */
  constructor(
    circuit: Circuit,
    route: GatewayRoute,
    heads: HeadBuffer,
    onUnowned: (upstream: Upstream) => void,
  ) {
    this.circuit = circuit;
    this.route = route;
    this.heads = heads;
    circuit.onData = (view) => {
      const { owner } = this;
      if (owner === undefined) onUnowned(this);
      else {
        try {
          owner.upstreamData(bufferOf(view));
        } catch (error) {
          owner.upstreamFault(error);
        }
      }
    };
    circuit.onEnd = () => {
      this.ended = true;
      const { owner } = this;
      if (owner === undefined) onUnowned(this);
      else this.#guarded(owner, () => owner.upstreamEnded());
    };
    circuit.onDrain = () => {
      const { owner } = this;
      if (owner !== undefined) this.#guarded(owner, () => owner.upstreamDrained());
    };
    circuit.onClose = (error) => {
      this.closed = true;
      const { owner } = this;
      if (owner === undefined) onUnowned(this);
      else this.#guarded(owner, () => owner.upstreamClosed(error));
    };
    circuit.resume();
  }

  pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.circuit.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.circuit.resume();
  }

  destroy(reason: string): void {
    this.owner = undefined;
    this.closed = true;
    this.circuit.destroy(reason);
  }

  #guarded(owner: UpstreamOwner, act: () => void): void {
    try {
      act();
    } catch (error) {
      owner.upstreamFault(error);
    }
  }
}

/** Who waits for a circuit. Exactly one of the two is called, unless the wait is cancelled. */
export interface CircuitWaiter extends InLine {
  circuitReady(upstream: Upstream): void;
  circuitFailed(error: CircuitError): void;
}

/** What the gateway keeps for one share: its circuits, and its traffic. */
export class RoutePool {
  readonly traffic: ShareTraffic;
  readonly idle: Upstream[] = [];
  readonly waiters = new WaitingLine<CircuitWaiter>();
  dialing = 0;
  /** A circuit was made since the gateway began to serve the share. */
  wasHosted = false;
  /** Since when no agent hosts the share, as dials say; undefined: one did at the last dial. */
  absentSinceMs: number | undefined;
  /** When a request last asked for a circuit. */
  wantedMs = -Infinity;
  /** No standby circuit is dialed before. */
  standbyAfterMs = -Infinity;
  /** When a control plane last answered a dial of the share. */
  answeredMs = -Infinity;
  /** When a circuit was last dialed to replace an old one. */
  renewedMs = -Infinity;
  /** Until the next dial of a share that no agent hosts. */
  redial: NodeJS.Timeout | undefined;

  constructor(traffic: ShareTraffic) {
    this.traffic = traffic;
  }
}

export type GatewayRoute = ShareRoute<RoutePool>;
export type GatewayHost = HostEntry<RoutePool>;
