/**
 * Listeners that make each accepted connection a circuit: `proxy`, whose service the configuration names, and
 * `transport`, whose clients name a service in a line before their data. They use TCP, or TLS on a port that can be
 * shared.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { formatHostPort, FrontdoorError, messageOf, type Log } from '#base';
import type { ServerTls, TlsPorts } from '#net';
import type { ProxyListenerConfig, TransportListenerConfig } from '../config/router-config.ts';
import { encodePreambleAnswer, PreambleDecoder, type CircuitPreamble } from './circuit-preamble-decoder.ts';
import type { IngressCircuits } from './ingress-circuits.ts';

export type CircuitListenerConfig = ProxyListenerConfig | TransportListenerConfig;

export interface CircuitListenerOptions {
  readonly config: CircuitListenerConfig;
  readonly circuits: IngressCircuits;
  readonly ports: TlsPorts;
  /** Certificates of listeners of type `tls`. */
  readonly tls: ServerTls;
  readonly handshakeTimeoutMs: number;
  readonly log: Log;
}

/** Maximum connections of one listener without a circuit. */
const MAX_WAITING = 4_096;
/** Time limit for a client's line. */
const PREAMBLE_TIMEOUT_MS = 10_000;

export class CircuitListener {
  readonly #options: CircuitListenerOptions;
  readonly #waiting = new Set<Socket>();
  #port = 0;
  #stopListening: () => Promise<void> = () => Promise.resolve();
  #isClosed = false;

  private constructor(options: CircuitListenerOptions) {
    this.#options = options;
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
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const socket of this.#waiting) socket.destroy();
    await this.#stopListening();
  }

  async #listenTcp(): Promise<void> {
    const { config, log } = this.#options;
    const { host, port } = config.address;
    const options = { allowHalfOpen: true, pauseOnConnect: true, noDelay: true, keepAlive: true };
    const server = createServer({ ...options, keepAliveInitialDelay: 15_000 }, (socket) =>
      this.#onConnection(socket),
    );
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', (error) => reject(listenFailure(config.path, formatHostPort(host, port), error)));
    server.listen({ host: host || undefined, port }, resolve);
    await promise;
    server.removeAllListeners('error');
    server.on('error', (error) =>
      log.error({ listener: config.path, err: messageOf(error) }, 'listener failed'),
    );
    this.#port = portOf(server);
    // Circuits outlive their listener, and the callback of `close` would wait for them.
    this.#stopListening = () => {
      server.close();
      return Promise.resolve();
    };
  }

  async #listenTls(): Promise<void> {
    const { config, ports, tls, handshakeTimeoutMs } = this.#options;
    const { host, port } = config.address;
    const shared = await ports.open({ host, port, tls, handshakeTimeoutMs });
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
    this.#stopListening = () => {
      release();
      return Promise.resolve();
    };
  }

  #onConnection(socket: Socket): void {
    const { config, log } = this.#options;
    const peer = formatHostPort(socket.remoteAddress ?? '', socket.remotePort ?? 0);
    socket.on('error', () => {});
    if (this.#isClosed || this.#waiting.size >= MAX_WAITING) {
      log.warn({ listener: config.path, peer }, 'too many connections wait for a circuit, connection closed');
      socket.destroy();
      return;
    }
    this.#waiting.add(socket);
    socket.once('close', () => this.#waiting.delete(socket));
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
          this.#waiting.delete(socket);
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
      // Clients without an answer line get a reset, because a clean end would look like an empty reply.
      if (isSilent) reset(socket);
      else socket.end(encodePreambleAnswer(false, reason, ''));
      socket.resume();
      this.#waiting.delete(socket);
    }
  }
}

function reset(socket: Socket): void {
  if ('encrypted' in socket) socket.destroy();
  else socket.resetAndDestroy();
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function listenFailure(path: string, where: string, cause: Error): FrontdoorError {
  return (cause as NodeJS.ErrnoException).code === 'EADDRINUSE'
    ? new FrontdoorError('conflict', 'port-taken', `${path}: ${where} is taken`, { cause })
    : new FrontdoorError(
        'unavailable',
        'cannot-listen',
        `${path}: cannot listen on ${where}: ${cause.message}`,
        {
          cause,
        },
      );
}
