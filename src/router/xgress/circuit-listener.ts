/**
 * Listeners that make each accepted connection a circuit: `proxy`, whose service the configuration names, and
 * `transport`, whose clients name a service in a line before their data. They use TCP, or TLS on a port that can be
 * shared.
 */
import type { Socket } from 'node:net';
import { FrontdoorError, messageOf, type Log } from '#base';
import type { ServerTls, TlsPorts } from '#net';
import type { ProxyListenerConfig, TransportListenerConfig } from '../config/router-config.ts';
import { encodePreambleAnswer, PreambleDecoder, type CircuitPreamble } from './circuit-preamble-decoder.ts';
import type { IngressCircuits } from './ingress-circuits.ts';
import { openTcpListener } from './tcp-listener.ts';
import { resetConnection, WaitingConnections } from './waiting-connections.ts';

export type CircuitListenerConfig = ProxyListenerConfig | TransportListenerConfig;

export interface CircuitListenerOptions {
  readonly config: CircuitListenerConfig;
  /** The address in the configuration, for errors. */
  readonly place: string;
  readonly circuits: IngressCircuits;
  readonly ports: TlsPorts;
  /** Certificates of listeners of type `tls`. */
  readonly tls: ServerTls;
  readonly handshakeTimeoutMs: number;
  readonly log: Log;
}

/** Time limit for a client's line. */
const PREAMBLE_TIMEOUT_MS = 10_000;

export class CircuitListener {
  readonly #options: CircuitListenerOptions;
  readonly #waiting: WaitingConnections;
  #port = 0;
  #stopListening: () => void = () => {};

  private constructor(options: CircuitListenerOptions) {
    this.#options = options;
    this.#waiting = new WaitingConnections(options.config.path, options.log);
  }

  /**
   * Rejects with `conflict` when the port is in use, `unavailable` when it cannot be opened, `invalid` for an
   * unsupported type.
   */
  static async open(options: CircuitListenerOptions): Promise<CircuitListener> {
    const listener = new CircuitListener(options);
    const { type } = options.config.address;
    if (type === 'tcp') await listener.#listenTcp();
    else if (type === 'tls') await listener.#listenTls();
    else {
      const text = `${options.config.path}.address: this version cannot listen on "${type}" addresses`;
      throw new FrontdoorError('invalid', 'unsupported-address', text);
    }
    return listener;
  }

  get port(): number {
    return this.#port;
  }

  /** Accepts no more connections, and closes those that wait for a circuit. Circuits remain. */
  close(): void {
    this.#waiting.close();
    this.#stopListening();
  }

  async #listenTcp(): Promise<void> {
    const { config, log } = this.#options;
    const { host, port } = config.address;
    const listener = await openTcpListener({
      host,
      port,
      place: this.#options.place,
      log,
      onConnection: (socket) => this.#onConnection(socket),
    });
    this.#port = listener.port;
    this.#stopListening = () => listener.close();
  }

  async #listenTls(): Promise<void> {
    const { config, place, ports, tls, handshakeTimeoutMs } = this.#options;
    const { host, port } = config.address;
    const shared = await ports.open({ host, port, place, tls, handshakeTimeoutMs });
    const release = shared.handle(
      [''],
      (socket) => {
        socket.allowHalfOpen = true;
        socket.pause();
        this.#onConnection(socket);
      },
      { name: config.path },
    );
    this.#port = shared.port;
    this.#stopListening = release;
  }

  #onConnection(socket: Socket): void {
    const { config } = this.#options;
    const peer = this.#waiting.add(socket);
    if (peer === undefined) return;
    if (config.binding === 'proxy')
      void this.#openCircuit(socket, { id: '', serviceId: config.service }, peer);
    else this.#readPreamble(socket, peer);
  }

  #readPreamble(socket: Socket, peer: string): void {
    const { config, log } = this.#options;
    const decoder = new PreambleDecoder();
    const refuse = (reason: string): void => {
      clearTimeout(deadline);
      log.info({ listener: config.path, peer, reason }, 'request for a circuit refused');
      socket.end(encodePreambleAnswer(false, reason, ''));
      socket.destroySoon();
    };
    const deadline = setTimeout(() => refuse('no request came in time'), PREAMBLE_TIMEOUT_MS);
    socket.once('close', () => clearTimeout(deadline));
    const onEnd = (): void => refuse('no request came');
    const onData = (chunk: Uint8Array): void => {
      const outcome = decoder.push(chunk);
      if (outcome.kind === 'incomplete') return;
      socket.off('data', onData);
      socket.off('end', onEnd);
      socket.pause();
      if (outcome.kind === 'malformed') {
        refuse(outcome.reason);
        return;
      }
      clearTimeout(deadline);
      if (outcome.rest.length > 0) socket.unshift(outcome.rest);
      void this.#openCircuit(socket, outcome.preamble, peer);
    };
    socket.on('data', onData);
    socket.on('end', onEnd);
    socket.resume();
  }

  async #openCircuit(socket: Socket, { id, serviceId }: CircuitPreamble, peer: string): Promise<void> {
    const { config, circuits, log } = this.#options;
    const isProxy = config.binding === 'proxy';
    let isSilent = isProxy;
    try {
      await circuits.open({
        ingressId: id,
        service: serviceId,
        connection: socket,
        config: config.xgress,
        hopType: isProxy ? 'xgress/proxy' : 'xgress/transport',
        onCircuit: (circuitId) => {
          this.#waiting.remove(socket);
          if (!isProxy) socket.write(encodePreambleAnswer(true, '', circuitId));
          isSilent = true;
        },
      });
    } catch (error) {
      const reason = messageOf(error);
      log.info(
        { listener: config.path, peer, service: serviceId, err: reason },
        'no circuit for a connection',
      );
      // Clients without an answer line get a reset.
      if (isSilent) resetConnection(socket);
      else socket.end(encodePreambleAnswer(false, reason, ''));
      socket.resume();
      this.#waiting.remove(socket);
    }
  }
}
