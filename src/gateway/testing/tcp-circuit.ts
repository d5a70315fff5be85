/** Circuits for tests: plain loopback connections behind the overlay's interface. Not part of the product. */
import { connect, type Socket } from 'node:net';
import { textOf } from '#base';
import { decodeRouteData } from '#domain/upstream';
import { CircuitError, type Circuit } from '#sdk';
import { decodeCircuitClient } from '#domain/agent-shapes';
import { encodeProxyHeader } from '#net';
import type { CircuitDialer } from '../circuits/circuit-dialer.ts';

export class TcpCircuit implements Circuit {
  readonly id: string;
  onData: Circuit['onData'] = () => {};
  onEnd: Circuit['onEnd'] = () => {};
  onDrain: Circuit['onDrain'] = () => {};
  onClose: Circuit['onClose'] = () => {};
  readonly #socket: Socket;
  #ended = 0;

  constructor(socket: Socket, id: string) {
    this.id = id;
    this.#socket = socket;
    socket.pause();
    socket.on('data', (bytes: Buffer) => this.onData(bytes));
    socket.on('drain', () => this.onDrain());
    socket.on('end', () => {
      this.#ended += 1;
      this.onEnd();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.onClose(
        this.#ended === 2
          ? undefined
          : new CircuitError('circuit-closed', 'service', 'the service reset the connection'),
      );
    });
  }

  write(view: Uint8Array): boolean {
    if (this.#socket.writableEnded || this.#socket.destroyed) return true;
    return this.#socket.write(view) || this.#socket.writableLength === 0;
  }

  writeLent(view: Uint8Array): boolean {
    return this.write(Uint8Array.from(view));
  }

  writeMessage(): never {
    throw new Error('a stream carries no datagrams');
  }

  end(): void {
    if (this.#socket.writableEnded) return;
    this.#ended += 1;
    this.#socket.end();
  }

  destroy(): void {
    if (this.#socket.writableEnded) this.#socket.destroy();
    else this.#socket.resetAndDestroy();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }
}

type DialParameters = [timeoutMs?: number, options?: Parameters<CircuitDialer['dial']>[2]];

/** Dials loopback ports by service id, or by that and a path, and counts the circuits. `refuse` makes dials fail as the overlay would. */
export class TcpDialer implements CircuitDialer {
  readonly ports = new Map<string, number>();
  readonly circuits: TcpCircuit[] = [];
  refuse: CircuitError | undefined;
  /** Awaited before each dial. */
  gate: Promise<void> | undefined;
  dials = 0;

  async dial(serviceId: string, ...more: DialParameters): Promise<Circuit> {
    this.dials += 1;
    await this.gate;
    if (this.refuse !== undefined) throw this.refuse;
    const [, { appData } = {}] = more;
    const path = appData === undefined ? undefined : decodeRouteData(textOf(appData));
    const port = this.ports.get(serviceId + (path ?? ''));
    if (port === undefined) throw new CircuitError('no-terminator', 'agent', `no agent hosts ${serviceId}`);
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    socket.once('connect', resolve);
    socket.once('error', () => reject(new CircuitError('service-refused', 'service', 'connection refused')));
    await promise;
    // As an agent does whose share names its clients.
    const client = decodeCircuitClient(appData);
    if (client !== undefined) socket.write(encodeProxyHeader('v1', client));
    const circuit = new TcpCircuit(socket, `circuit-${this.dials}`);
    this.circuits.push(circuit);
    return circuit;
  }
}
