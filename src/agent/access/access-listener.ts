/**
 * Takes TCP connections on this machine and connects each with a private share, or another service, through a circuit of
 * its own: bytes in both directions, with half-close. A connection whose circuit cannot be made is reset.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { formatHostPort } from '#base';
import { containSocket, listenOn, portOf } from '#net';
import type { Circuit } from '#sdk';
import { acceptedConnection } from '../backends/target-connection.ts';
import { AccessCircuits, untilEnded, type AccessCircuitsOptions } from './access-circuits.ts';

export interface AccessListenerOptions extends AccessCircuitsOptions {
  /** The option that chooses the address, for errors; `--listen` by default. */
  readonly option?: string | undefined;
  readonly host: string;
  /** 0: a free port. */
  readonly port: number;
  readonly maxConnections?: number | undefined;
}

const MAX_CONNECTIONS = 4_096;
const KEEP_ALIVE_MS = 60_000;

export class AccessListener {
  readonly #options: AccessListenerOptions;
  readonly #circuits: AccessCircuits;
  readonly #server: Server;
  readonly #dialing = new Set<Socket>();
  readonly #idle = Promise.withResolvers<void>();
  #address = '';
  #port = 0;
  #isListening = false;

  private constructor(options: AccessListenerOptions) {
    this.#options = options;
    this.#circuits = new AccessCircuits(options);
    const socketOptions = { allowHalfOpen: true, pauseOnConnect: true, noDelay: true, keepAlive: true };
    this.#server = createServer({ ...socketOptions, keepAliveInitialDelay: KEEP_ALIVE_MS }, (socket) =>
      this.#onConnection(socket),
    );
  }

  /** Rejects with `port-taken` or `cannot-listen`. */
  static async open(options: AccessListenerOptions): Promise<AccessListener> {
    const listener = new AccessListener(options);
    await listener.#listen();
    return listener;
  }

  /** `host:port`, with the port that is open. */
  get address(): string {
    return this.#address;
  }

  get port(): number {
    return this.#port;
  }

  /** Connections that have a circuit, or wait for one. */
  get connections(): number {
    return this.#circuits.size + this.#dialing.size;
  }

  /** Why the last circuit could not be made; undefined if it could. */
  get problem(): string | undefined {
    return this.#circuits.problem;
  }

  /** Makes a circuit and ends it, to learn whether the share can be reached. Returns the problem. */
  probe(): Promise<string | undefined> {
    return this.#circuits.probe();
  }

  /** Takes no more connections, and waits until the open ones have ended, for up to `timeoutMs`. */
  async drain(timeoutMs: number, cut: AbortSignal): Promise<void> {
    this.#stopListening();
    if (this.connections > 0) await untilEnded(this.#idle.promise, timeoutMs, cut);
  }

  /** Takes no more connections and breaks the open ones. */
  close(reason: string): void {
    this.#stopListening();
    for (const socket of this.#dialing) socket.destroy();
    this.#circuits.stop(reason);
  }

  #stopListening(): void {
    if (!this.#isListening) return;
    this.#isListening = false;
    this.#server.close();
  }

  async #listen(): Promise<void> {
    const { host, port, option = '--listen' } = this.#options;
    const { kind, log } = this.#circuits;
    await listenOn(this.#server, { host, port, remedy: `choose another with ${option}` }, log);
    this.#isListening = true;
    this.#port = portOf(this.#server);
    this.#address = formatHostPort(host, this.#port);
    log.info({ listen: this.#address }, `a ${kind} is accessible on this machine`);
  }

  #onConnection(socket: Socket): void {
    socket.on('error', () => {});
    if (this.connections >= (this.#options.maxConnections ?? MAX_CONNECTIONS)) {
      this.#circuits.fail(`there are ${this.connections} connections already`);
      socket.resetAndDestroy();
      return;
    }
    this.#dialing.add(socket);
    socket.once('close', () => this.#dialing.delete(socket));
    containSocket(socket, this.#circuits.log, () => void this.#connect(socket));
  }

  async #connect(socket: Socket): Promise<void> {
    let circuit: Circuit | undefined;
    try {
      circuit = await this.#circuits.dial();
    } catch {
      socket.resetAndDestroy();
    }
    this.#dialing.delete(socket);
    if (circuit !== undefined && socket.destroyed) circuit.destroy('the connection closed');
    else if (circuit !== undefined) this.#join(socket, circuit);
    this.#onEnded();
  }

  /** The connection ends after an exception, and so does its circuit. */
  #join(socket: Socket, circuit: Circuit): void {
    try {
      this.#circuits.join(acceptedConnection(socket), circuit, () => this.#onEnded());
    } catch (error) {
      circuit.destroy('internal error');
      throw error;
    }
  }

  #onEnded(): void {
    if (!this.#isListening && this.connections === 0) this.#idle.resolve();
  }
}
