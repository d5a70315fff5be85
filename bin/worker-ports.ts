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
  static async open({ host, httpPort, httpsPort, workers }: WorkerPortsOptions): Promise<WorkerPorts> {
    let address: string;
    try {
      ({ address } = await lookup(host));
    } catch (cause) {
      throw new FrontdoorError('unavailable', 'cannot-listen', `${host} has no address here`, { cause });
    }
    const plain = bindAll(address, httpPort, workers);
    try {
      const secure = httpsPort === undefined ? [] : bindAll(address, httpsPort, workers);
      return new WorkerPorts(address, plain, secure);
    } catch (error) {
      for (const socket of plain) socket.close();
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
