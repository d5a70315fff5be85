/** One address of `resolver`: a UDP socket, and a TCP port of the same number for answers that are too long for UDP. */
import { BackOff, formatHostPort, messageOf, type Log } from '#base';
import { listenUdp } from '#net/datagrams';
import { openTcpListener, type TcpListener } from '../../xgress/tcp-listener.ts';
import type { QueryResponder } from './query-responder.ts';
import { StreamClients } from './stream-clients.ts';
import { DatagramClients } from './datagram-clients.ts';

const OPEN_DELAYS = { minMs: 250, maxMs: 30_000, factor: 2 };

export interface ResolverPortOptions {
  readonly host: string;
  readonly port: number;
  /** Place of the option, for messages: file, line and key. */
  readonly place: string;
  readonly responder: QueryResponder;
  readonly log: Log;
}

export class ResolverPort {
  readonly #options: ResolverPortOptions;
  readonly #delays = new BackOff(OPEN_DELAYS);
  readonly #clients: StreamClients;
  #udp: DatagramClients | undefined;
  #tcp: TcpListener | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: ResolverPortOptions) {
    this.#options = options;
    this.#clients = new StreamClients(options.responder);
  }

  /** The port on which it listens; undefined while it cannot. */
  get port(): number | undefined {
    return this.#tcp?.port;
  }

  /** Resolves after the first attempt to listen. A failure is logged, and is tried again. */
  async open(): Promise<void> {
    const { host, log } = this.#options;
    try {
      await this.#listen();
      if (this.#delays.attempts > 0) log.info({ address: this.#address }, 'the name server listens now');
    } catch (error) {
      this.#closeSockets();
      if (this.#isClosed) return;
      if (this.#delays.attempts === 0)
        log.error({ host, err: messageOf(error) }, 'the name server cannot listen, and tries again');
      this.#timer = setTimeout(() => void this.open(), this.#delays.next());
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#clients.close();
    this.#closeSockets();
  }

  get #address(): string {
    return formatHostPort(this.#options.host, this.port ?? this.#options.port);
  }

  async #listen(): Promise<void> {
    const { host, port, place, responder, log } = this.#options;
    const socket = await listenUdp('udp', host, port, place);
    const udp = new DatagramClients({ socket, responder, place, log });
    this.#udp = udp;
    this.#tcp = await openTcpListener({
      host,
      port: udp.port,
      place,
      log,
      onConnection: (connection) => this.#clients.add(connection),
    });
    if (this.#isClosed) throw new Error('the name server was closed');
    udp.start();
  }

  #closeSockets(): void {
    const udp = this.#udp;
    this.#udp = undefined;
    this.#tcp?.close();
    this.#tcp = undefined;
    udp?.close();
  }
}
