/**
 * Opens the connections from this program to servers of its frontdoor: control planes, routers, proxies. Services beside
 * an agent are never reached through it. A name is resolved for each connection, its addresses race, and those that
 * failed lately come last. ADR 0089.
 */
import { isIP, type Socket } from 'node:net';
import { systemClock, type Clock, type Secret } from '#base';
import { connectToFirst, orderOf, type ServerAddress } from './address-race.ts';
import { DeadAddresses } from './dead-addresses.ts';
import type { HostLookup } from '../names/host-lookup.ts';
import { NameLookups } from '../names/name-lookups.ts';
import {
  proxyChoiceOf,
  type Environment,
  type OutwardTarget,
  type ProxyChoice,
  type ProxyServer,
} from './proxy-choice.ts';
import { connectThroughProxy } from './proxy-connect.ts';

export interface OutwardDialerOptions {
  /** By default every server is reached directly. */
  readonly proxies?: ProxyChoice | undefined;
  readonly lookup?: HostLookup | undefined;
  /** What this process serves itself, which needs no name server and no proxy. Other ports of the hosts may lead elsewhere. */
  readonly own?: OwnServer | undefined;
  readonly clock?: Pick<Clock, 'monotonicMs'> | undefined;
}

export interface OwnServer {
  /** Names and addresses, in lower case. */
  readonly hosts: ReadonlySet<string>;
  readonly port: number;
  /** The address that it listens on. */
  readonly address: string;
}

export interface OutwardDialOptions {
  readonly localAddress?: string | undefined;
  /** Ends the attempt. Its reason is the error then. */
  readonly signal: AbortSignal;
}

/** A name with more addresses than these is reached at the first ones. */
const MAX_TRIED_ADDRESSES = 8;

export class OutwardDialer {
  readonly #proxies: ProxyChoice;
  readonly #names: NameLookups;
  readonly #own: OwnServer | undefined;
  readonly #dead: DeadAddresses;

  constructor({ proxies = () => undefined, lookup, own, clock = systemClock }: OutwardDialerOptions = {}) {
    this.#proxies = proxies;
    this.#own = own;
    this.#names = new NameLookups(lookup);
    this.#dead = new DeadAddresses(clock);
  }

  /** The proxy that leads to a server; undefined: none does. Throws `proxy-url`. */
  proxyTo(target: OutwardTarget): ProxyServer | undefined {
    return this.#proxies(target);
  }

  /**
   * Returns a connected socket that is not read yet, and whose errors have a listener. Rejects with `proxy-failed` if the
   * proxy does not connect, otherwise with the error of the system.
   */
  async connect(target: OutwardTarget, options: OutwardDialOptions): Promise<Socket> {
    const own = this.#own;
    if (own?.port === target.port && own.hosts.has(target.host.toLowerCase()))
      return this.#connectTo({ host: own.address, port: own.port }, options);
    const proxy = this.#proxies(target);
    if (proxy === undefined) return this.#connectTo(target, options);
    return connectThroughProxy(proxy, target, {
      signal: options.signal,
      open: (signal) => this.#connectTo(proxy, { localAddress: options.localAddress, signal }),
      resolve: (signal) => this.#resolve(target.host, signal),
    });
  }

  /** Notes that a server accepted a connection at an address, and then TLS failed there. */
  failedAfterConnect(target: OutwardTarget, address: string | undefined): void {
    if (address !== undefined && this.#proxies(target) === undefined) this.#dead.add(address, target.port);
  }

  async #connectTo(
    { host, port }: { readonly host: string; readonly port: number },
    { localAddress, signal }: OutwardDialOptions,
  ): Promise<Socket> {
    const found = await this.#resolve(host, signal);
    const usable = localAddress === undefined ? found : ofFamily(found, isIP(localAddress));
    const socket = await connectToFirst({
      addresses: orderOf(usable, (address) => this.#dead.has(address, port)).slice(0, MAX_TRIED_ADDRESSES),
      port,
      localAddress,
      signal,
      onDead: (address) => this.#dead.add(address, port),
    });
    this.#dead.delete(socket.remoteAddress ?? '', port);
    return socket;
  }

  /** Returns at least one address. An aborted signal rejects with its reason; the look-up itself cannot be ended. */
  async #resolve(host: string, signal: AbortSignal): Promise<readonly ServerAddress[]> {
    const family = isIP(host);
    if (family !== 0) return [{ address: host, family }];
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<readonly ServerAddress[]>();
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    this.#names.lookup(host, { all: true }, (error, addresses = []) => {
      if (error !== null) reject(error);
      else if (addresses.length === 0) reject(new Error(`${host} has no address`));
      else resolve(addresses);
    });
    return promise.finally(() => signal.removeEventListener('abort', onAbort));
  }
}

/** Connects directly, for programs without settings. */
export const directDialer = new OutwardDialer();

/** Connects by the HTTP proxy of a file; directly if there is none. `source` names the file or its section. */
export function dialerThrough(
  proxy: Omit<ProxyServer, 'scheme' | 'source'> | undefined,
  source: string,
): OutwardDialer {
  if (proxy === undefined) return directDialer;
  const { host, port, username, password } = proxy;
  const server: ProxyServer = { scheme: 'http', host, port, username, password, source };
  return new OutwardDialer({ proxies: () => server });
}

function ofFamily<A extends { readonly family: number }>(found: readonly A[], family: number): readonly A[] {
  const usable = found.filter((one) => one.family === family);
  return usable.length === 0 ? found : usable;
}

/** For programs of a command line: `proxy` is the value of `--proxy`. Throws `proxy-url`. */
export function outwardDialerOf(environment: Environment, proxy?: Secret): OutwardDialer {
  return new OutwardDialer({ proxies: proxyChoiceOf(environment, proxy) });
}
