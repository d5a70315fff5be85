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

export type StreamProtocol = 'tcp' | 'udp';

export class StreamRoutes<Slot> {
  /** By `tcp:` or `udp:` with the port, or by name. The first has the connections, the others get them after that. None is empty. */
  readonly #routes = new Map<string, ShareRoute<Slot>[]>();
  #names = 0;
  /** Called when the ports have changed. */
  readonly onPorts = new Set<() => void>();

  /** Whether any share is selected by a name. */
  get hasNames(): boolean {
    return this.#names > 0;
  }

  /** The share with this port, under the first of its names. */
  atPort(protocol: StreamProtocol, port: number): HostEntry<Slot> | undefined {
    const route = this.#routes.get(`${protocol}:${port}`)?.[0];
    return route && entryOf(route, route.share.ingress?.hosts[0] ?? route.share.token);
  }

  /** The share with this server name, in canonical form. */
  named(host: string): StreamEntry<Slot> | undefined {
    const route = this.#routes.get(host)?.[0];
    const { ingress } = route?.share ?? {};
    return route && ingress && { kind: ingress.kind, host: entryOf(route, host) };
  }

  hasPort(protocol: StreamProtocol, port: number): boolean {
    return this.#routes.has(`${protocol}:${port}`);
  }

  *ports(protocol: StreamProtocol): Generator<number> {
    const prefix = `${protocol}:`;
    for (const key of this.#routes.keys()) if (key.startsWith(prefix)) yield Number(key.slice(prefix.length));
  }

  #notify(): void {
    for (const listener of this.onPorts) listener();
  }

  add(route: ShareRoute<Slot>): void {
    for (const key of keysOf(route.share.ingress)) {
      const routes = this.#routes.get(key);
      if (routes !== undefined) routes.push(route);
      else {
        this.#routes.set(key, [route]);
        if (isName(key)) this.#names += 1;
        else this.#notify();
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
        if (isName(key)) this.#names -= 1;
        else this.#notify();
      }
    }
  }
}

function keysOf(ingress: GatewayIngress | undefined): readonly string[] {
  if (ingress === undefined) return [];
  const { kind, port, hosts } = ingress;
  if (kind !== 'port' && kind !== 'udp-port') return hosts;
  return port === undefined ? [] : [`${kind === 'port' ? 'tcp' : 'udp'}:${port}`];
}

/** No name has a colon. */
function isName(key: string): boolean {
  return !key.includes(':');
}

function entryOf<Slot>(route: ShareRoute<Slot>, host: string): HostEntry<Slot> {
  return new HostEntry({ host, authProviderIds: route.share.authProviderIds }, route);
}
