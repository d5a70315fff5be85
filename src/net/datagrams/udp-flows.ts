/** One UDP socket with a flow for each source address: what a source sends is read from its flow, and answered there. */
import type { RemoteInfo, Socket } from 'node:dgram';
import { messageOf, type Log } from '#base';
import type { DatagramConnection } from './datagram-connection.ts';
import { failAlone } from '../containment.ts';
import { FlowTable, type FlowSource, type FlowTableOptions } from './datagram-flows.ts';
import { listenUdp, sendDatagram, type UdpNetwork } from './udp-socket.ts';

/** The form in which a socket of both families reports IPv4 addresses. */
const MAPPED_PREFIX = '::ffff:';

export interface UdpFlowsOptions extends FlowTableOptions {
  readonly network: UdpNetwork;
  /** Host name or IP address; empty for all addresses. */
  readonly host: string;
  readonly port: number;
  /** The address in the configuration, for errors; by default `name`. */
  readonly place?: string | undefined;
  /** As in `listenUdp`; false by default. */
  readonly isShared?: boolean | undefined;
}

export class UdpFlows {
  readonly #socket: Socket;
  readonly #table: FlowTable;
  readonly #host: string;
  readonly #port: number;
  readonly #log: Log;
  #closing: Promise<void> | undefined;

  private constructor(socket: Socket, options: UdpFlowsOptions) {
    this.#socket = socket;
    this.#table = new FlowTable(options);
    this.#log = options.log;
    const { address, port } = socket.address();
    this.#host = plainAddress(address);
    this.#port = port;
    socket.on('message', (datagram, from) => this.#onDatagram(datagram, from));
    socket.on('error', (error) =>
      options.log.error({ listener: options.name, err: messageOf(error) }, 'listener failed'),
    );
  }

  /** Rejects with `conflict` if the port is taken, and `unavailable` if the address cannot be bound. */
  static async open(options: UdpFlowsOptions): Promise<UdpFlows> {
    const { network, host, port, name, place = name, isShared } = options;
    return new UdpFlows(await listenUdp(network, host, port, place, isShared), options);
  }

  get port(): number {
    return this.#port;
  }

  /** Number of flows that may still send. */
  get count(): number {
    return this.#table.count;
  }

  get waitingBytes(): number {
    return this.#table.waitingBytes;
  }

  /** Ends idle flows. Called by the timer of the table. */
  check(): void {
    this.#table.check();
  }

  /** Closes a flow whose circuit was refused. Its source may try again after a second. */
  refuse(key: string, flow: DatagramConnection): void {
    this.#table.refuse(key, flow);
  }

  /** Accepts no more sources. The port closes, and the promise resolves, when the last flow has closed. */
  close(): Promise<void> {
    this.#closing ??= this.#table.close().then(() => {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#socket.close(resolve);
      return promise;
    });
    return this.#closing;
  }

  #onDatagram(datagram: Uint8Array, from: RemoteInfo): void {
    const key = `${from.address} ${from.port}`;
    try {
      this.#table.receive(key, datagram, () => this.#sourceOf(from));
    } catch (error) {
      failAlone({ kind: 'message', id: `a datagram of ${key}`, log: this.#log }, error);
    }
  }

  #sourceOf({ address: host, port }: RemoteInfo): FlowSource {
    const to = { host, port };
    return {
      addresses: {
        localAddress: this.#host,
        localPort: this.#port,
        remoteAddress: plainAddress(host),
        remotePort: port,
      },
      send: (datagram, sent) => sendDatagram(this.#socket, datagram, to, sent),
    };
  }
}

function plainAddress(address: string): string {
  return address.startsWith(MAPPED_PREFIX) ? address.slice(MAPPED_PREFIX.length) : address;
}
