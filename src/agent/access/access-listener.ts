/**
 * Takes TCP connections on this machine and connects each with a private share, or another service, through a circuit of
 * its own: bytes in both directions, with half-close. A connection whose circuit cannot be made is reset.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { formatHostPort, messageOf, ShortLivedSet, type Log } from '#base';
import { listenOn, portOf } from '#net';
import type { Circuit } from '#sdk';
import { CircuitCopy } from '../circuit-copy.ts';
import { acceptedConnection } from '../target-connection.ts';

export interface AccessListenerOptions {
  /** Token of the share, or name of the service. */
  readonly share: string;
  /** What `share` names, for the log; `private share` by default. */
  readonly kind?: 'private share' | 'service' | undefined;
  /** The option that chooses the address, for errors; `--listen` by default. */
  readonly option?: string | undefined;
  readonly host: string;
  /** 0: a free port. */
  readonly port: number;
  readonly dial: (share: string, timeoutMs: number) => Promise<Circuit>;
  readonly log: Log;
  readonly maxConnections?: number | undefined;
}

const MAX_CONNECTIONS = 4_096;
const DIAL_TIMEOUT_MS = 15_000;
const KEEP_ALIVE_MS = 60_000;

export class AccessListener {
  readonly share: string;
  readonly #options: AccessListenerOptions;
  readonly #log: Log;
  readonly #kind: string;
  readonly #server: Server;
  readonly #dialing = new Set<Socket>();
  readonly #copies = new ShortLivedSet<CircuitCopy>();
  readonly #idle = Promise.withResolvers<void>();
  #address = '';
  #port = 0;
  #problem: string | undefined;
  #isListening = false;

  private constructor(options: AccessListenerOptions) {
    this.#options = options;
    this.share = options.share;
    this.#kind = options.kind ?? 'private share';
    this.#log = options.log.child({ [this.#kind === 'service' ? 'service' : 'share']: options.share });
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
    return this.#copies.size + this.#dialing.size;
  }

  /** Why the last circuit could not be made; undefined if it could. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Makes a circuit and ends it, to learn whether the share can be reached. Returns the problem. */
  async probe(): Promise<string | undefined> {
    try {
      (await this.#dial()).destroy('the share can be reached');
    } catch {
      // `#dial` has kept the reason.
    }
    return this.#problem;
  }

  /** Takes no more connections, and waits until the open ones have ended, for up to `timeoutMs`. */
  async drain(timeoutMs: number, cut: AbortSignal): Promise<void> {
    this.#stopListening();
    if (this.connections === 0 || cut.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeoutMs);
    cut.addEventListener('abort', () => resolve(), { once: true });
    await Promise.race([promise, this.#idle.promise]);
    clearTimeout(timer);
  }

  /** Takes no more connections and breaks the open ones. */
  close(reason: string): void {
    this.#stopListening();
    for (const socket of this.#dialing) socket.destroy();
    for (const copy of [...this.#copies]) copy.stop(reason);
  }

  #stopListening(): void {
    if (!this.#isListening) return;
    this.#isListening = false;
    this.#server.close();
  }

  async #listen(): Promise<void> {
    const { host, port, option = '--listen' } = this.#options;
    await listenOn(this.#server, { host, port, remedy: `choose another with ${option}` }, this.#log);
    this.#isListening = true;
    this.#port = portOf(this.#server);
    this.#address = formatHostPort(host, this.#port);
    this.#log.info({ listen: this.#address }, `a ${this.#kind} is accessible on this machine`);
  }

  #onConnection(socket: Socket): void {
    socket.on('error', () => {});
    if (this.connections >= (this.#options.maxConnections ?? MAX_CONNECTIONS)) {
      this.#fail(`there are ${this.connections} connections already`);
      socket.resetAndDestroy();
      return;
    }
    this.#dialing.add(socket);
    void this.#connect(socket);
  }

  async #connect(socket: Socket): Promise<void> {
    let circuit: Circuit | undefined;
    try {
      circuit = await this.#dial();
    } catch {
      socket.resetAndDestroy();
    }
    this.#dialing.delete(socket);
    if (circuit !== undefined && socket.destroyed) circuit.destroy('the connection closed');
    else if (circuit !== undefined) this.#join(socket, circuit);
    this.#onEnded();
  }

  #join(socket: Socket, circuit: Circuit): void {
    const connection = acceptedConnection(socket);
    const copy = new CircuitCopy(circuit, connection, {
      onAlive: () => {},
      onClosed: (done, broken) => {
        this.#copies.delete(done);
        if (broken !== undefined) this.#log.debug({ circuit: circuit.id, reason: broken }, 'circuit broke');
        this.#onEnded();
      },
    });
    this.#copies.add(copy);
    connection.resume();
  }

  #onEnded(): void {
    if (!this.#isListening && this.connections === 0) this.#idle.resolve();
  }

  async #dial(): Promise<Circuit> {
    try {
      const circuit = await this.#options.dial(this.share, DIAL_TIMEOUT_MS);
      this.#problem = undefined;
      return circuit;
    } catch (error) {
      this.#fail(messageOf(error));
      throw error;
    }
  }

  /** Logs a problem once, however often it occurs. */
  #fail(problem: string): void {
    if (this.#problem !== problem) this.#log.warn({ problem }, `no circuit to the ${this.#kind}`);
    this.#problem = problem;
  }
}
