/**
 * The shares of streams, by what their clients select them with: a port, or a server name of TLS. While two shares have the same,
 * the first gets the connections.
 */
import type { GatewayIngress } from '#domain/gateway-shapes';
import { HostEntry, type ShareRoute } from './share-route.ts';

/** A share of a stream, under one of its names. */
export interface StreamEntry<Slot> {
  readonly kind: GatewayIngress['kind'];
  readonly host: HostEntry<Slot>;
}

export class StreamRoutes<Slot> {
  /** By port, or by name. The first has the connections, the others get them after that. None is empty. */
  readonly #routes = new Map<number | string, ShareRoute<Slot>[]>();
  #names = 0;
  /** Called when the ports have changed. `StreamPorts` sets it. */
  onPorts: () => void = () => {};

  /** Whether any share is selected by a name. */
  get hasNames(): boolean {
    return this.#names > 0;
  }

  /** The share with this port, under the first of its names. */
  atPort(port: number): HostEntry<Slot> | undefined {
    const route = this.#routes.get(port)?.[0];
    return route && entryOf(route, route.share.ingress?.hosts[0] ?? route.share.token);
  }

  /** The share with this server name, in canonical form. */
  named(host: string): StreamEntry<Slot> | undefined {
    const route = this.#routes.get(host)?.[0];
    const { ingress } = route?.share ?? {};
    return route && ingress && { kind: ingress.kind, host: entryOf(route, host) };
  }

  hasPort(port: number): boolean {
    return this.#routes.has(port);
  }

  *ports(): Generator<number> {
    for (const key of this.#routes.keys()) if (typeof key === 'number') yield key;
  }

  add(route: ShareRoute<Slot>): void {
    for (const key of keysOf(route.share.ingress)) {
      const routes = this.#routes.get(key);
      if (routes !== undefined) routes.push(route);
      else {
        this.#routes.set(key, [route]);
        if (typeof key === 'string') this.#names += 1;
        else this.onPorts();
      }
    }
  }

  remove(route: ShareRoute<Slot>): void {
    for (const key of keysOf(route.share.ingress)) {
      const routes = this.#routes.get(key);
      if (routes === undefined) continue;
      const others = routes.filter((each) => each !== route);
      if (others.length > 0) this.#routes.set(key, others);
      else {
        this.#routes.delete(key);
        if (typeof key === 'string') this.#names -= 1;
        else this.onPorts();
      }
    }
  }
}

function keysOf(ingress: GatewayIngress | undefined): readonly (number | string)[] {
  if (ingress === undefined) return [];
  const { kind, port, hosts } = ingress;
  if (kind !== 'port') return hosts;
  return port === undefined ? [] : [port];
}

function entryOf<Slot>(route: ShareRoute<Slot>, host: string): HostEntry<Slot> {
  return new HostEntry({ host, authProviderIds: route.share.authProviderIds }, route);
}
