/**
 * The sockets of a gateway's workers: one for each worker and port, all bound to the same port, so that the kernel
 * spreads connections over them. They are held here as long as the gateway lives: a connection that waits to be
 * accepted outlives the worker that it waits for, and its successor takes it.
 */
import { lookup } from 'node:dns/promises';
import { BoundSocket } from 'node:net';
import { FrontdoorError, messageOf } from '#base';

export interface WorkerPortsOptions {
  readonly host: string;
  /** 0: any. */
  readonly httpPort: number;
  /** Undefined: HTTPS is off. */
  readonly httpsPort: number | undefined;
  readonly workers: number;
  /** The first worker's metrics port; each other has the next. Ports that others serve are refused; 0: any are taken. */
  readonly metrics?: { readonly host: string; readonly port: number } | undefined;
}

export class WorkerPorts {
  readonly plainPort: number;
  readonly securePort: number | undefined;
  readonly #address: string;
  /** By worker: plain, then secure if there is one; undefined while others take its connections. */
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
        // The workers themselves would share one with a neighbour without a word.
        for (const socket of bindAll(metricsAddress, first + index, 1)) socket.close();
      }
      return new WorkerPorts(address, plain, secure);
    } catch (error) {
      for (const socket of bound) socket.close();
      throw error;
    }
  }

  /** Plain, then secure if there is one. `index`: of the worker, from 0 on. */
  fdsOf(index: number): number[] {
    return (this.#sockets[index] ?? []).map((socket) => socket.fd());
  }

  /** Connections that wait for this worker are reset, and later ones go to the others. False: there are no others. */
  release(index: number): boolean {
    const sockets = this.#sockets[index];
    const isLast = this.#sockets.every((other, at) => at === index || other === undefined);
    if (sockets === undefined || isLast) return false;
    this.#sockets[index] = undefined;
    for (const socket of sockets) socket.close();
    return true;
  }

  /** Again after `release`; nothing when they are held. Throws when the port cannot be bound now. */
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

  /** The workers are the last ones to hold them from here on. */
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
    // Another gateway of this user would share the port without a word: first one that shares with nobody.
    if (port !== 0) new BoundSocket({ host, port }).close();
    for (let index = 0; index < workers; index += 1) {
      const taken = sockets[0]?.address().port ?? port;
      sockets.push(new BoundSocket({ host, port: taken, reusePort: true }));
    }
    return sockets;
  } catch (cause) {
    for (const socket of sockets) socket.close();
    if ((cause as NodeJS.ErrnoException).code === 'EADDRINUSE')
      throw new FrontdoorError('conflict', 'port-taken', `port ${port} on ${host} is taken`, { cause });
    const message = `cannot listen on ${host}:${port}: ${messageOf(cause)}`;
    throw new FrontdoorError('unavailable', 'cannot-listen', message, { cause });
  }
}
