/** One address of `resolver`: a UDP socket, and a TCP port of the same number for answers that are too long for UDP. */
import { isIP } from 'node:net';
import { BackOff, formatHostPort, messageOf, type Clock, type Log } from '#base';
import { listenUdp } from '#net/datagrams';
import { openTcpListener, type TcpListener } from '../../xgress/tcp-listener.ts';
import type { SocketCalls } from '../machine/socket-calls.ts';
import type { InterceptedNames } from './intercepted-names.ts';
import { QueryIntake } from './query-intake.ts';
import type { QueryResponder } from './query-responder.ts';
import { StreamClients } from './stream-clients.ts';
import { DatagramClients } from './datagram-clients.ts';

const OPEN_DELAYS = { minMs: 250, maxMs: 30_000, factor: 2 };

export interface ResolverPortOptions {
  readonly host: string;
  readonly port: number;
  /** Place of the option, for messages: file, line and key. */
  readonly place: string;
  readonly names: InterceptedNames;
  readonly responder: QueryResponder;
  /** Rejects where the system has no calls for a thread. Then this thread receives the queries. */
  loadCalls(): Promise<SocketCalls>;
  readonly clock: Clock;
  readonly log: Log;
}

export class ResolverPort {
  readonly #options: ResolverPortOptions;
  readonly #delays = new BackOff(OPEN_DELAYS);
  readonly #clients: StreamClients;
  #udp: QueryIntake | DatagramClients | undefined;
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
      await this.#closeSockets();
      if (this.#isClosed) return;
      if (this.#delays.attempts === 0)
        log.error({ host, err: messageOf(error) }, 'the name server cannot listen, and tries again');
      this.#timer = setTimeout(() => void this.open(), this.#delays.next());
    }
  }

  /** Resolves when the sockets are closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#clients.close();
    await this.#closeSockets();
  }

  get #address(): string {
    return formatHostPort(this.#options.host, this.port ?? this.#options.port);
  }

  async #listen(): Promise<void> {
    const { host, place, log } = this.#options;
    const udp = await this.#openUdp();
    this.#udp = udp;
    this.#tcp = await openTcpListener({
      host,
      port: udp.port,
      place,
      log,
      onConnection: (connection) => this.#clients.add(connection),
    });
    if (!this.#isClosed) await udp.start();
    if (this.#isClosed) throw new Error('the name server was closed');
  }

  async #openUdp(): Promise<QueryIntake | DatagramClients> {
    const { host, port, place, responder, log } = this.#options;
    return (
      (await this.#openIntake()) ??
      new DatagramClients({ socket: await listenUdp('udp', host, port, place), responder, place, log })
    );
  }

  /** Returns undefined if it cannot be opened. A socket of Node may be possible then, or else says why it is not. */
  async #openIntake(): Promise<QueryIntake | undefined> {
    const { host, port, loadCalls } = this.#options;
    const address = host === '' ? '::' : host;
    if (isIP(address) === 0 || address.includes('%')) return undefined;
    try {
      const calls = await loadCalls();
      return new QueryIntake({ ...this.#options, calls, at: { address, port } });
    } catch {
      return undefined;
    }
  }

  async #closeSockets(): Promise<void> {
    const udp = this.#udp;
    this.#udp = undefined;
    this.#tcp?.close();
    this.#tcp = undefined;
    await udp?.close();
  }
}
