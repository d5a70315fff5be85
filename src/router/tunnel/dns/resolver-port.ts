/** One address of `resolver`: a UDP socket, and a TCP port of the same number for answers that are too long for UDP. */
import type { Socket as UdpSocket } from 'node:dgram';
import { BackOff, formatHostPort, messageOf, type Log } from '#base';
import { listenUdp } from '#net/datagrams';
import { openTcpListener, type TcpListener } from '../../xgress/tcp-listener.ts';
import { LATER, type QueryResponder } from './query-responder.ts';
import { StreamClients } from './stream-clients.ts';

const OPEN_DELAYS = { minMs: 250, maxMs: 30_000, factor: 2 };
/** While the kernel has not accepted this number of answers, further ones are dropped. */
const MAX_UNSENT_ANSWERS = 256;

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
  #udp: UdpSocket | undefined;
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
    this.#closeSockets();
    this.#clients.close();
  }

  get #address(): string {
    return formatHostPort(this.#options.host, this.port ?? this.#options.port);
  }

  async #listen(): Promise<void> {
    const { host, port, place, responder, log } = this.#options;
    const socket = await listenUdp('udp', host, port, place);
    this.#udp = socket;
    const { port: open } = socket.address();
    this.#tcp = await openTcpListener({
      host,
      port: open,
      place,
      log,
      onConnection: (connection) => this.#clients.add(connection),
    });
    if (this.#isClosed) throw new Error('the name server was closed');
    socket.on('error', (error) => log.error({ listener: place, err: messageOf(error) }, 'listener failed'));
    socket.on('message', (message, from) => {
      const { address, port: clientPort } = from;
      const answer = responder.answer(message);
      if (answer === LATER)
        responder.answerLater(message, { address, isStream: false }, (later) => {
          if (later !== undefined) this.#send(socket, later, clientPort, address);
        });
      else if (answer !== undefined) this.#send(socket, answer, clientPort, address);
    });
  }

  #send(socket: UdpSocket, answer: Buffer, port: number, address: string): void {
    // Answers that wait can outlive the socket. Nothing can be sent to port 0, which only a forged datagram has.
    if (socket !== this.#udp || port === 0 || socket.getSendQueueCount() >= MAX_UNSENT_ANSWERS) return;
    socket.send(answer, port, address, ignore);
  }

  #closeSockets(): void {
    this.#udp?.close();
    this.#udp = undefined;
    this.#tcp?.close();
    this.#tcp = undefined;
  }
}

/** An answer that cannot be sent, such as to an address without a route, is lost like one on the network. */
function ignore(): void {}
