/**
 * Listeners that make the datagrams of each source a circuit: `proxy_udp`, whose service the configuration names, and
 * `transport_udp`, whose clients name a service in their first datagram. One datagram is one payload.
 */
import { formatHostPort, messageOf, type Clock, type Log } from '#base';
import { type DatagramConnection, UdpFlows } from '#net/datagrams';
import type { XgressConfig } from '../config/router-config.ts';
import type { DatagramAddress } from '../config/text-kinds.ts';
import {
  decodePreambleDatagram,
  encodePreambleAnswer,
  type CircuitPreamble,
} from './circuit-preamble-decoder.ts';
import type { IngressCircuits } from './ingress-circuits.ts';

export interface DatagramListenerConfig {
  readonly path: string;
  readonly xgress: XgressConfig;
  readonly address: DatagramAddress;
  /** The service of all sources. Undefined if each names its own. */
  readonly service: string | undefined;
}

export interface DatagramListenerOptions {
  readonly config: DatagramListenerConfig;
  /** The address in the configuration, for errors. */
  readonly place: string;
  readonly circuits: IngressCircuits;
  readonly clock: Clock;
  readonly log: Log;
}

/** The times of OpenZiti's routers. */
const IDLE_TIMEOUT_MS = 60_000;
const CHECK_INTERVAL_MS = 10_000;

export class DatagramListener {
  readonly #options: DatagramListenerOptions;
  readonly #waiting = new Set<DatagramConnection>();
  #flows!: UdpFlows;

  private constructor(options: DatagramListenerOptions) {
    this.#options = options;
  }

  /** Rejects with `conflict` when the port is in use, and `unavailable` when it cannot be opened. */
  static async open(options: DatagramListenerOptions): Promise<DatagramListener> {
    const listener = new DatagramListener(options);
    const { config, place, clock, log } = options;
    const { network, host, port } = config.address;
    if (network === 'unixgram') throw new TypeError('the configuration refuses unixgram');
    listener.#flows = await UdpFlows.open({
      name: config.path,
      place,
      network,
      host,
      port,
      idleTimeoutMs: IDLE_TIMEOUT_MS,
      checkIntervalMs: CHECK_INTERVAL_MS,
      clock,
      log,
      onFlow: (flow, first, key) => listener.#onFlow(flow, first, key),
    });
    return listener;
  }

  get port(): number {
    return this.#flows.port;
  }

  /** Ends circuits without datagrams. Called by a timer. */
  check(): void {
    this.#flows.check();
  }

  /** Accepts no more sources, and closes those that wait for a circuit. Circuits remain, and with them the port. */
  close(): void {
    void this.#flows.close();
    for (const flow of this.#waiting) flow.destroy();
  }

  /** Resolves when the flow has its circuit, or has none. The table of the flows bounds how many wait here. */
  async #onFlow(flow: DatagramConnection, first: Uint8Array, key: string): Promise<void> {
    const { config } = this.#options;
    const peer = formatHostPort(flow.remoteAddress, flow.remotePort);
    this.#waiting.add(flow);
    flow.once('close', () => this.#waiting.delete(flow));
    if (config.service !== undefined) {
      flow.receive(first);
      await this.#openCircuit(flow, key, { id: '', serviceId: config.service }, peer);
      return;
    }
    const preamble = decodePreambleDatagram(first);
    if ('reason' in preamble) this.#refuse(flow, key, peer, preamble.reason);
    else await this.#openCircuit(flow, key, preamble, peer);
  }

  async #openCircuit(
    flow: DatagramConnection,
    key: string,
    { id, serviceId }: CircuitPreamble,
    peer: string,
  ): Promise<void> {
    const { config, circuits } = this.#options;
    try {
      await circuits.open({
        ingressId: id,
        service: serviceId,
        connection: flow,
        config: config.xgress,
        hopType: 'xgress/udp',
        isDatagrams: true,
        onCircuit: (circuitId) => {
          this.#waiting.delete(flow);
          if (config.service === undefined) flow.write(encodePreambleAnswer(true, '', circuitId));
        },
      });
    } catch (error) {
      this.#refuse(flow, key, peer, messageOf(error));
    }
  }

  #refuse(flow: DatagramConnection, key: string, peer: string, reason: string): void {
    const { config, log } = this.#options;
    // Anybody can send datagrams in the name of many sources, so that this is no line for everyday logs.
    log.debug({ listener: config.path, peer, reason }, 'no circuit for a source of datagrams');
    if (config.service === undefined && !flow.destroyed) flow.write(encodePreambleAnswer(false, reason, ''));
    this.#flows.refuse(key, flow);
  }
}
