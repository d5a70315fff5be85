/** The open connections of all shares of streams in this process, however their clients selected the share. */
import { ShortLivedSet } from '#base';
import type { Socket } from 'node:net';
import { readDirectly } from '#net';
import type { ClientFacts } from '../circuits/route-decision.ts';
import type { GatewayHost, GatewayRoute } from '../circuits/upstream.ts';
import type { GatewayContext } from '../exchange/gateway-context.ts';
import { StreamConnection } from './stream-connection.ts';

export class StreamConnections {
  readonly #context: GatewayContext;
  readonly #onClosed: () => void;
  readonly #all = new ShortLivedSet<StreamConnection>();
  /** By share id. */
  readonly #counts = new Map<string, number>();

  /** `onClosed` is called after each end of a connection. */
  constructor(context: GatewayContext, onClosed: () => void) {
    this.#context = context;
    this.#onClosed = onClosed;
  }

  get size(): number {
    return this.#all.size;
  }

  /** `find` returns the share as it is now. */
  open(socket: Socket, facts: ClientFacts, host: GatewayHost, find: () => GatewayHost | undefined): void {
    const { id } = host.route.share;
    const before = this.#counts.get(id) ?? 0;
    this.#counts.set(id, before + 1);
    socket.pause();
    const connection = new StreamConnection(host, {
      context: this.#context,
      socket,
      facts,
      find,
      onClosed: (closed) => {
        this.#all.delete(closed);
        const left = this.#counts.get(id)! - 1;
        if (left > 0) this.#counts.set(id, left);
        else this.#counts.delete(id);
        this.#onClosed();
      },
    });
    this.#all.add(connection);
    readDirectly(socket, (bytes) => connection.take(bytes));
    connection.begin(host, before);
  }

  sweep(): void {
    for (const connection of this.#all) connection.sweep();
  }

  /** Ends the connections of a share that was withdrawn. */
  retire(route: GatewayRoute): void {
    if (!route.revoked || route.share.ingress === undefined) return;
    const { id } = route.share;
    for (const connection of this.#all) if (connection.route.share.id === id) connection.revoke();
  }

  destroy(): void {
    for (const connection of this.#all) connection.destroy();
  }
}
