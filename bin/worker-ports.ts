/**
 * The sockets of a gateway's workers: one for each worker and port, all bound to the same port, so that the kernel
 * spreads connections over them. They are held here as long as the gateway lives: a connection that waits to be
 * accepted outlives the worker that it waits for, and its successor takes it.
 */
import { lookup } from 'node:dns/promises';
import { BoundSocket } from 'node:net';
import { FrontdoorError } from '#base';
import { listenFailure } from '#net';

export interface WorkerPortsOptions {
  readonly host: string;
  /** 0 takes any port. */
  readonly httpPort: number;
  /** Undefined when HTTPS is off. */
  readonly httpsPort: number | undefined;
  readonly workers: number;
  /** The first worker's metrics port; each further worker has the next. A taken port is refused; 0 takes any ports. */
  readonly metrics?: { readonly host: string; readonly port: number } | undefined;
}

export class WorkerPorts {
  readonly plainPort: number;
  readonly securePort: number | undefined;
  readonly #address: string;
  /** By worker: the plain socket, then the secure one if any; undefined while other workers take its connections. */
  readonly #sockets: (readonly BoundSocket[] | undefined)[];

  private constructor(address: string, plain: readonly BoundSocket[], secure: readonly BoundSocket[]) {
    this.#address = address;
    this.#sockets = plain.map((socket, index) => [socket, ...secure.slice(index, index + 1)]);
    this.plainPort = plain[0]!.address().port;
    this.securePort = secure[0]?.address().port;
  }

  /** Rejects with `port-taken` or `cannot-listen`. */
  static async open(options: WorkerPortsOptions): Promise<WorkerPorts> {
    const { host, httpPort, httpsPort, workers, metrics } = options;
    const address = await addressOf(host);
    const metricsAddress = metrics === undefined ? address : await addressOf(metrics.host);
    const bound: BoundSocket[] = [];
    const bind = (at: string, port: number, count: number): BoundSocket[] => {
      const sockets = bindAll(at, port, count);
      bound.push(...sockets);
      return sockets;
    };
    try {
      const plain = bind(address, httpPort, workers);
      const secure = httpsPort === undefined ? [] : bind(address, httpsPort, workers);
      const first = metrics?.port ?? 0;
      for (let index = 0; first !== 0 && index < workers; index += 1) {
        // The workers themselves would share a port with a neighbour without an error.
        for (const socket of bindAll(metricsAddress, first + index, 1)) socket.close();
      }
      return new WorkerPorts(address, plain, secure);
    } catch (error) {
      for (const socket of bound) socket.close();
      throw error;
    }
  }

  /** The worker's plain socket, then its secure one if there is one. `index` counts from 0. */
  fdsOf(index: number): number[] {
    return (this.#sockets[index] ?? []).map((socket) => socket.fd());
  }

  /** Resets connections that wait for this worker and leaves later ones to the others; false when there are none. */
  release(index: number): boolean {
    const sockets = this.#sockets[index];
    const isLast = this.#sockets.every((other, at) => at === index || other === undefined);
    if (sockets === undefined || isLast) return false;
    this.#sockets[index] = undefined;
    for (const socket of sockets) socket.close();
    return true;
  }

  /** Binds the worker's ports again after `release`, unless they are held. Throws when a port cannot be bound. */
  hold(index: number): void {
    if (this.#sockets[index] !== undefined) return;
    const ports = [this.plainPort, this.securePort].filter((port) => port !== undefined);
    const bound: BoundSocket[] = [];
    try {
      for (const port of ports) bound.push(new BoundSocket({ host: this.#address, port, reusePort: true }));
    } catch (error) {
      for (const socket of bound) socket.close();
      throw error;
    }
    this.#sockets[index] = bound;
  }

  /** Closes the supervisor's sockets; from then on only the workers hold the ports. */
  close(): void {
    for (const socket of this.#sockets.flatMap((held) => held ?? [])) socket.close();
  }
}

async function addressOf(host: string): Promise<string> {
  try {
    return (await lookup(host)).address;
  } catch (cause) {
    throw new FrontdoorError('unavailable', 'cannot-listen', `${host} has no address here`, { cause });
  }
}

function bindAll(host: string, port: number, workers: number): BoundSocket[] {
  const sockets: BoundSocket[] = [];
  try {
    // Another gateway of this user would share the port without an error, so a socket that shares is tried second.
    if (port !== 0) new BoundSocket({ host, port }).close();
    for (let index = 0; index < workers; index += 1) {
      const taken = sockets[0]?.address().port ?? port;
      sockets.push(new BoundSocket({ host, port: taken, reusePort: true }));
    }
    return sockets;
  } catch (cause) {
    for (const socket of sockets) socket.close();
    throw listenFailure(cause, { host, port });
  }
}
