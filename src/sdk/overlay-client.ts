/**
 * An identity in the overlay: keeps channels to the routers that the control plane lists, dials services through
 * them and hosts services at them. It reconnects by itself.
 */
import { bareHost, type Log, messageOf } from '#base';
import { failAlone, waitAtMost } from '#net';
import type { ChannelOpener } from '#net/channel';
import { CircuitError, type Circuit, type CircuitErrorCode } from './circuit.ts';
import type { EdgeApiClient } from './edge-api-client.ts';
import type { ChannelDial } from './edge-channel-options.ts';
import type { EdgeRouterAddress, ServiceSession } from './edge-resources.ts';
import type { BindableService, HostedService, IncomingDial, OverlayHost } from './hosted-service.ts';
import { RouterConnection } from './router-connection.ts';
import { ServiceHosting } from './service-hosting.ts';
import { isRefusal, ServiceSessions } from './service-sessions.ts';

export interface OverlayClientOptions {
  readonly api: EdgeApiClient;
  readonly log: Log;
  /** Sent to hosts as the caller. */
  readonly name: string;
  readonly openChannel?: ChannelOpener | undefined;
  /** Called when a channel to a router opened or ended. */
  readonly onRouter?: ((router: RouterChange) => void) | undefined;
}

export interface RouterChange {
  readonly name: string;
  readonly isUp: boolean;
  /** Why the channel ended. */
  readonly reason?: string;
}

interface ListedRouter {
  readonly host: string;
  readonly port: number;
  readonly cost: number;
}

export type CircuitRequest = Pick<
  ChannelDial,
  'isStandby' | 'isEncryptionRequired' | 'terminator' | 'appData'
>;

const ROUTER_POLL_MS = 10_000;
const ROUTER_RETRY_MS = 1_000;
/** Limit for the log-out of a client that leaves. */
const LOG_OUT_MS = 1_000;
/** Limit for the listed routers that it connects to. */
const MAX_ROUTERS = 4;
/** Limit for these and the ones that are kept although they are not listed. */
const MAX_KEPT_ROUTERS = 3 * MAX_ROUTERS;
/**
 * How long an idle channel to a router is kept that the control plane does not list. After a restart, a control plane
 * lists a router once it has reconnected.
 */
const UNLISTED_KEPT_MS = 300_000;
/** Attempts per dial, each at another router if there are enough. */
const MAX_DIAL_ATTEMPTS = 4;
/** Codes after which another router may succeed, because it may know another controller or path. */
const REFUSED_BY_ROUTER: ReadonlySet<CircuitErrorCode> = new Set([
  'control-away',
  'no-terminator',
  'overlay',
]);
export class OverlayClient implements OverlayHost {
  readonly #options: OverlayClientOptions;
  readonly #routers = new Map<string, RouterConnection>();
  readonly #hostings = new Set<ServiceHosting>();
  readonly #sessions: ServiceSessions;
  readonly #waiting = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: OverlayClientOptions) {
    this.#options = options;
    this.#sessions = new ServiceSessions({
      create: (serviceId, type) => options.api.createSession(serviceId, type),
    });
    options.api.onSession(({ token }) => {
      // Each bind follows its channel to the new session. A dial session is replaced when a router refuses it.
      this.#sessions.forgetAll('Bind');
      for (const connection of this.#routers.values()) connection.followSession(token);
    });
    void this.#followRouters();
  }

  /** Whether there is a channel to at least one router. */
  get isAttached(): boolean {
    return this.#up().length > 0;
  }

  /** The number of routers to which there is a channel. */
  get routerCount(): number {
    return this.#up().length;
  }

  get circuitCount(): number {
    return this.#up().reduce((count, { edge }) => count + (edge?.circuitCount ?? 0), 0);
  }

  /**
   * Returns a new circuit to the service, paused. If a router refuses for a reason of its own, another one is
   * tried; an ended session is renewed once. The circuit is encrypted end to end if the host has a key. Rejects with a
   * `CircuitError`.
   */
  async dial(serviceId: string, timeoutMs: number, options: CircuitRequest = {}): Promise<Circuit> {
    const deadlineMs = performance.now() + timeoutMs;
    const refusedBy = new Set<RouterConnection>();
    let wasStale = false;
    for (let attempt = 1; ; attempt += 1) {
      const session = await this.#dialSession(serviceId);
      const connection = await this.#awaitRouter(deadlineMs, refusedBy);
      const leftMs = Math.max(1, deadlineMs - performance.now());
      try {
        return await connection.edge!.dial({
          ...options,
          token: session.token,
          callerId: this.#options.name,
          timeoutMs: leftMs,
        });
      } catch (error) {
        if (!(error instanceof CircuitError) || attempt === MAX_DIAL_ATTEMPTS) throw error;
        if (error.code === 'not-authorized') {
          this.#sessions.refused(session);
          if (wasStale) throw error;
          wasStale = true;
        } else if (error.code === 'channel-closed') {
          refusedBy.delete(connection);
        } else {
          refusedBy.add(connection);
          const hasOther = this.#up().some((one) => !refusedBy.has(one));
          if (!REFUSED_BY_ROUTER.has(error.code) || !hasOther) throw error;
        }
      }
    }
  }

  bind(service: BindableService, handler: (incoming: IncomingDial) => void): HostedService {
    const { log } = this.#options;
    const hosting = new ServiceHosting({
      service,
      handler,
      log,
      sessions: this.#sessions,
      onClosed: () => this.#hostings.delete(hosting),
    });
    this.#hostings.add(hosting);
    for (const connection of this.#up()) hosting.attach(connection);
    return hosting;
  }

  /**
   * Closes every channel, logs out and closes the API client. Waits up to `settleMs` until the routers have handled what was
   * sent: otherwise the end of the session may reach one before it has read the last acknowledgements, which it then drops.
   * Never rejects.
   */
  async leave(settleMs: number): Promise<void> {
    const { api } = this.#options;
    const connections = [...this.#routers.values()];
    await waitAtMost(Promise.all(connections.map((connection) => connection.settled())), settleMs);
    this.close();
    await waitAtMost(
      api.logOut().catch(() => {}),
      LOG_OUT_MS,
    );
    await api.close();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const connection of this.#routers.values()) connection.close('stopping');
    for (const wake of this.#waiting) wake();
  }

  #up(): RouterConnection[] {
    return [...this.#routers.values()].filter(({ isUp }) => isUp);
  }

  #hasOtherWay(connection: RouterConnection): boolean {
    for (const other of this.#routers.values())
      if (other !== connection && other.isUp && !other.edge!.isStopping) return true;
    return false;
  }

  async #dialSession(serviceId: string): Promise<ServiceSession> {
    try {
      return await this.#sessions.get(serviceId, 'Dial');
    } catch (error) {
      const code = isRefusal(error) ? 'not-authorized' : 'control-away';
      throw new CircuitError(code, 'control', messageOf(error), { cause: error });
    }
  }

  /**
   * Returns the connected router with the lowest measured cost. One that is shutting down is used only if there is no
   * other.
   */
  #bestRouter(except?: ReadonlySet<RouterConnection>): RouterConnection | undefined {
    let best: RouterConnection | undefined;
    for (const one of this.#routers.values()) {
      if (!one.isUp || except?.has(one) === true) continue;
      if (best === undefined || isBetter(one, best)) best = one;
    }
    return best;
  }

  async #awaitRouter(
    deadlineMs: number,
    refusedBy: ReadonlySet<RouterConnection>,
  ): Promise<RouterConnection> {
    for (;;) {
      const best = this.#bestRouter(refusedBy) ?? this.#bestRouter();
      if (best !== undefined) return best;
      const leftMs = deadlineMs - performance.now();
      if (this.#isClosed || leftMs <= 0)
        throw new CircuitError('channel-closed', 'router', 'no router is reachable');
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        const wake = (): void => {
          clearTimeout(timer);
          this.#waiting.delete(wake);
          resolve();
        };
        this.#waiting.add(wake);
      });
    }
  }

  async #followRouters(): Promise<void> {
    let nextMs = ROUTER_POLL_MS;
    try {
      const routers = await this.#options.api.edgeRouters();
      if (this.#isClosed) return;
      this.#setRouters(routers);
      if (this.#routers.size === 0) nextMs = ROUTER_RETRY_MS;
    } catch (error) {
      this.#options.log.warn({ err: messageOf(error) }, 'cannot get routers from the control plane');
      nextMs = ROUTER_RETRY_MS;
    }
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#followRouters(), nextMs);
  }

  /**
   * A router that the control plane reports as offline, or does not list, may still serve this client. A channel that is
   * up is closed only if its router has not been listed for minutes and it has no circuits.
   */
  #setRouters(routers: readonly EdgeRouterAddress[]): void {
    const listed = new Map<string, ListedRouter>();
    for (const { name, tlsUrl, cost } of routers) {
      if (tlsUrl === undefined || !URL.canParse(tlsUrl)) continue;
      const { hostname, port } = new URL(tlsUrl);
      listed.set(name, { host: bareHost(hostname), port: Number(port), cost });
    }
    const nowMs = performance.now();
    for (const [name, connection] of this.#routers) {
      const address = listed.get(name);
      if (address !== undefined) connection.listedMs = nowMs;
      if (address?.host === connection.host && address.port === connection.port) {
        connection.listedCost = address.cost;
        continue;
      }
      if (connection.isUp && !(connection.isIdle && nowMs - connection.listedMs > UNLISTED_KEPT_MS)) continue;
      this.#routers.delete(name);
      connection.close('the router was removed or moved');
    }
    let used = 0;
    for (const name of this.#routers.keys()) if (listed.has(name)) used += 1;
    for (const [name, address] of listed) {
      if (used >= MAX_ROUTERS || this.#routers.size >= MAX_KEPT_ROUTERS) return;
      if (this.#routers.has(name)) continue;
      this.#routers.set(name, this.#connectTo(name, address));
      used += 1;
    }
  }

  #eachHosting(work: (hosting: ServiceHosting) => void): void {
    for (const hosting of this.#hostings) {
      try {
        work(hosting);
      } catch (error) {
        failAlone({ kind: 'share', id: hosting.name, log: this.#options.log }, error);
      }
    }
  }

  #connectTo(name: string, { host, port, cost }: ListedRouter): RouterConnection {
    const { api, log, openChannel } = this.#options;
    return new RouterConnection({
      name,
      host,
      port,
      cost,
      api,
      log,
      openChannel,
      hasOtherWay: (connection) => this.#hasOtherWay(connection),
      onUp: (connection) => {
        log.info({ router: name }, 'channel to router opened');
        this.#eachHosting((hosting) => hosting.attach(connection));
        for (const wake of [...this.#waiting]) wake();
        this.#options.onRouter?.({ name, isUp: true });
      },
      onDown: (connection, reason) => {
        this.#eachHosting((hosting) => hosting.detach(connection));
        this.#options.onRouter?.({ name, isUp: false, reason });
      },
    });
  }
}

/** Without a measured difference, the router that the control plane lists first stays the better one. */
function isBetter(one: RouterConnection, other: RouterConnection): boolean {
  const [edge, otherEdge] = [one.edge!, other.edge!];
  if (edge.isStopping !== otherEdge.isStopping) return otherEdge.isStopping;
  return one.cost < other.cost;
}
