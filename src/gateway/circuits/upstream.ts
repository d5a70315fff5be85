/**
 * A circuit to a share's private service, as the gateway uses it. The circuit's callbacks are set once and go to
 * the current owner: an exchange, a relay, or nobody while it is in the pool. An exception of the owner costs
 * only this circuit. Mutable on purpose, because it is on the path of every request.
 */
import { newNumber, setHandlers, type Numbered } from '#base';
import type { Circuit, CircuitError } from '#sdk';
import { bufferOf, type HeadBuffer } from '../http/head-buffer.ts';
import type { CircuitClient } from '#domain/agent-shapes';
import type { HostEntry, ShareRoute } from '../shares/share-route.ts';
import type { ShareTraffic } from '../traffic/share-traffic.ts';
import { WaitingLine, type InLine } from './waiting-line.ts';

export interface UpstreamOwner {
  upstreamData(bytes: Buffer): void;
  /** The origin half-closed. */
  upstreamEnded(): void;
  upstreamDrained(): void;
  /** The last call. `error` is set if the circuit broke. */
  upstreamClosed(error: CircuitError | undefined): void;
  /** The owner's own code threw. */
  upstreamFault(error: unknown): void;
}

export class Upstream implements Numbered {
  readonly number = newNumber();
  readonly circuit: Circuit;
  readonly route: GatewayRoute;
  /** Reads the heads of responses. */
  readonly heads: HeadBuffer;
  owner: UpstreamOwner | undefined;
  /** Number of responses that it has carried. */
  uses = 0;
  openedMs = 0;
  /**
   * Until then the service surely keeps the idle circuit open; -1 if it was never idle. By the precise clock, because the other
   * one is late when this process stood still, and services are not.
   */
  surelyOpenUntilMs = -1;
  idleUntilMs = 0;
  ended = false;
  closed = false;
  /** Whether the far end has sent anything. */
  hasData = false;
  /** Whether it counts in the pool's number of open circuits. */
  counted = true;
  #paused = false;
  #heard: number | undefined;
  #heardMs = 0;

  /** `onUnowned` is called when bytes, an end or a close arrive while there is no owner. */
  constructor(
    circuit: Circuit,
    route: GatewayRoute,
    heads: HeadBuffer,
    onUnowned: (upstream: Upstream) => void,
  ) {
    this.circuit = circuit;
    this.route = route;
    this.heads = heads;
    setHandlers(circuit, {
      onData: (view) => {
        this.hasData = true;
        const { owner } = this;
        if (owner === undefined) onUnowned(this);
        else {
          try {
            owner.upstreamData(bufferOf(view));
          } catch (error) {
            owner.upstreamFault(error);
          }
        }
      },
      onEnd: () => {
        this.ended = true;
        const { owner } = this;
        if (owner === undefined) onUnowned(this);
        else this.#guarded(owner, () => owner.upstreamEnded());
      },
      onDrain: () => {
        const { owner } = this;
        if (owner !== undefined) this.#guarded(owner, () => owner.upstreamDrained());
      },
      onClose: (error) => {
        this.closed = true;
        const { owner } = this;
        if (owner === undefined) onUnowned(this);
        else this.#guarded(owner, () => owner.upstreamClosed(error));
      },
    });
    circuit.resume();
  }

  /**
   * Returns how long the far end has sent nothing, not even an acknowledgement of what was sent to it, since the first call
   * with `isStart`; 0 while it has nothing to acknowledge.
   */
  silentMs(nowMs: number, isStart = false): number {
    const { heard } = this.circuit;
    if (isStart || heard === undefined || heard !== this.#heard) {
      this.#heard = heard;
      this.#heardMs = nowMs;
    }
    return nowMs - this.#heardMs;
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

/** Whether the next request may use this idle circuit. */
export function isKept({ closed, idleUntilMs, circuit }: Upstream, nowMs: number): boolean {
  return !closed && idleUntilMs > nowMs && circuit.isLeaving !== true;
}

/** A request that waits for a circuit. Exactly one of the two methods is called, unless the wait is cancelled. */
export interface CircuitWaiter extends InLine {
  /** The client that the request is from; undefined: the request is the gateway's own. */
  readonly client: CircuitClient | undefined;
  circuitReady(upstream: Upstream): void;
  circuitFailed(error: CircuitError): void;
}

/** How requests of a share wait for a host or a control plane. */
export interface CircuitWait {
  /** That of the last dial. */
  readonly failure: CircuitError;
  /** How long each request waits. */
  readonly eachMs: number;
  readonly untilMs: number;
  /** Whether a host did not answer. */
  readonly isSilent: boolean;
}

/** The state that the gateway keeps per share: its circuits, and its traffic. */
export class RoutePool {
  readonly traffic: ShareTraffic;
  readonly idle: Upstream[] = [];
  readonly waiters = new WaitingLine<CircuitWaiter>();
  /** Number of circuits, in use or not. */
  open = 0;
  /** Number of dials, those of `renewing` included. */
  dialing = 0;
  /** Number of dials for old circuits that are under way. */
  renewing = 0;
  /** Number of circuits that came for old ones which have not left yet. */
  spare = 0;
  /** Whether a circuit was made since the gateway began to serve the share. */
  wasHosted = false;
  /** Time since which dials report that no agent hosts the share; undefined if the last dial found one. */
  absentSinceMs: number | undefined;
  /** When a request last needed a circuit. */
  wantedMs = -Infinity;
  /** The earliest time for the next standby dial. */
  standbyAfterMs = -Infinity;
  /** When old circuits were last allowed to be replaced, and how many of them still are. */
  renewedMs = -Infinity;
  renewalsLeft = 0;
  /** Whether the last dial for an old circuit got no answer of a control plane. */
  isRenewalUnanswered = false;
  /** Set while no circuit can be made for the moment. */
  wait: CircuitWait | undefined;
  /** When the last successful dial began and ended. */
  answered = { startedMs: -Infinity, endedMs: -Infinity };
  /** Timer for the next dial of a share that no agent hosts. */
  redial: NodeJS.Timeout | undefined;

  constructor(traffic: ShareTraffic) {
    this.traffic = traffic;
  }
}

export type GatewayRoute = ShareRoute<RoutePool>;
export type GatewayHost = HostEntry<RoutePool>;
