/**
 * Takes datagrams on this machine: each source address becomes a circuit to a private share, or another service, which ends when
 * it is idle. The datagrams of a source whose circuit cannot be made are dropped for a second.
 */
import { formatHostPort, systemClock, type Clock } from '#base';
import { contain, failAlone } from '#net';
import { UdpFlows, type DatagramConnection } from '#net/datagrams';
import type { Circuit } from '#sdk';
import { DatagramSide } from '../datagram-side.ts';
import { AccessCircuits, untilEnded, type AccessCircuitsOptions } from './access-circuits.ts';

export interface UdpAccessListenerOptions extends AccessCircuitsOptions {
  /** What chose the address, for errors. */
  readonly place: string;
  readonly host: string;
  /** 0: a free port. */
  readonly port: number;
  /** A source without a datagram in either direction for this time loses its circuit. */
  readonly idleTimeoutMs: number;
  readonly maxSources?: number | undefined;
  readonly clock?: Clock | undefined;
}

const MAX_CHECK_INTERVAL_MS = 30_000;
const CHECKS_IN_IDLE_TIME = 4;

export class UdpAccessListener {
  readonly #options: UdpAccessListenerOptions;
  readonly #circuits: AccessCircuits;
  readonly #flows: UdpFlows;
  readonly #dialing = new Set<DatagramConnection>();
  #isDraining = false;

  private constructor(options: UdpAccessListenerOptions, flows: UdpFlows) {
    this.#options = options;
    this.#circuits = new AccessCircuits(options);
    this.#flows = flows;
  }

  /** Rejects with `port-taken` or `cannot-listen`. */
  static async open(options: UdpAccessListenerOptions): Promise<UdpAccessListener> {
    const { place: name, host, port, idleTimeoutMs, clock = systemClock, log } = options;
    const flows: UdpFlows = await UdpFlows.open({
      network: 'udp',
      host,
      port,
      name,
      idleTimeoutMs,
      clock,
      log,
      checkIntervalMs: Math.min(MAX_CHECK_INTERVAL_MS, idleTimeoutMs / CHECKS_IN_IDLE_TIME),
      maxFlows: options.maxSources,
      onFlow: (flow, first, key) => {
        flow.receive(first);
        return listener.#take(flow, key);
      },
    });
    const listener = new UdpAccessListener(options, flows);
    const { kind, log: ownLog } = listener.#circuits;
    ownLog.info({ listen: listener.address }, `a ${kind} is accessible on this machine by UDP`);
    return listener;
  }

  /** `host:port`, with the port that is open. */
  get address(): string {
    return formatHostPort(this.#options.host, this.#flows.port);
  }

  get port(): number {
    return this.#flows.port;
  }

  /** Sources that have a circuit, or wait for one. */
  get connections(): number {
    return this.#flows.count;
  }

  /** Why the last circuit could not be made; undefined if it could. */
  get problem(): string | undefined {
    return this.#circuits.problem;
  }

  /** Makes a circuit and ends it, to learn whether the share can be reached. Returns the problem. */
  probe(): Promise<string | undefined> {
    return this.#circuits.probe();
  }

  /** Refuses new sources, and waits up to `timeoutMs` until the existing ones have stopped sending and receiving. */
  async drain(timeoutMs: number, cut: AbortSignal): Promise<void> {
    this.#isDraining = true;
    this.#circuits.drain();
    await untilEnded(this.#flows.close(), timeoutMs, cut);
  }

  /** Refuses new sources, and closes the circuits of the existing ones. */
  close(reason: string): void {
    void this.#flows.close();
    for (const flow of this.#dialing) flow.destroy();
    this.#circuits.stop(reason);
  }

  #take(flow: DatagramConnection, key: string): Promise<void> | undefined {
    const fail = (): void => void flow.destroy();
    const what = { kind: 'connection', id: `of datagrams of ${key}`, log: this.#circuits.log, fail } as const;
    return contain(what, () => this.#connect(flow, key).catch((error: unknown) => failAlone(what, error)));
  }

  async #connect(flow: DatagramConnection, key: string): Promise<void> {
    this.#dialing.add(flow);
    let circuit: Circuit;
    try {
      circuit = await this.#circuits.dial();
    } catch {
      this.#flows.refuse(key, flow);
      return;
    } finally {
      this.#dialing.delete(flow);
    }
    if (flow.destroyed) {
      circuit.destroy('the source has gone');
      return;
    }
    const copy = this.#circuits.join(new DatagramSide(flow), circuit);
    if (this.#isDraining) copy.drain();
  }
}
