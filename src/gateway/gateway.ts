/**
 * The gateway's data path as a running part: its ports, its share table, its circuit pool, and the one timer
 * behind all deadlines. Shares arrive through `table` (see `share-feed.ts`), circuits through the dialer.
 */
import type { Socket } from 'node:net';
import { RunningClock, ShortLivedSet, type Log } from '#base';
import type { IpNetwork } from '#domain';
import type { GatewayIngress, GatewayReplay, InspectedRequest } from '#domain/gateway-shapes';
import { contain, containSocket, readDirectly } from '#net';
import type { AccessControl } from './access/access.ts';
import type { ChallengeAnswers } from './acme/challenge-answer.ts';
import { ConnectionAdmission } from './exchange/connection-admission.ts';
import type { CircuitDialer } from './circuits/circuit-dialer.ts';
import { RoutePool, type GatewayHost, type GatewayRoute } from './circuits/upstream.ts';
import { ClientConnection } from './exchange/client-connection.ts';
import type { ClientFacts } from './circuits/route-decision.ts';
import type { ClientSocket } from './exchange/client-socket.ts';
import type { GatewayContext } from './exchange/gateway-context.ts';
import { DEFAULT_GATEWAY_LIMITS, type GatewayLimits } from './limits/gateway-limits.ts';
import { HeadBudget } from './limits/head-budget.ts';
import { openListener, type Listener, type PortAddress, type SharedPlace } from './gateway-listener.ts';
import { systemTime, type GatewayTime } from './gateway-time.ts';
import type { GatewayStats } from './observe/gateway-stats.ts';
import { Replayer } from './observe/replay.ts';
import { canonicalHost } from './http/host-policy.ts';
import { RequestHead } from './http/request-head-policy.ts';
import { readPreface } from './http2/client-preface.ts';
import { Http2Sessions } from './http2/http2-sessions.ts';
import type { RequestObserver } from './exchange/request-record.ts';
import type { ProxyTrust } from './exchange/request-clients.ts';
import { RequestRecords } from './exchange/request-records.ts';
import { SlowBodies } from './exchange/slow-bodies.ts';
import { RequestCircuits } from './services/request-circuits.ts';
import { ResponseHead } from './http/response-head-policy.ts';
import { ShareRouteTable } from './shares/share-routes.ts';
import { StreamConnections } from './streams/stream-connections.ts';
import { DatagramStreams } from './streams/datagram-streams.ts';
import { SharePorts, type OpenPort, type SharePortPlace } from './streams/share-ports.ts';
import { openTcpPort } from './streams/tcp-port.ts';
import { ShareTraffic, TrafficMeter } from './traffic/share-traffic.ts';
import type { TlsSettings } from './tls-front.ts';

const SWEEP_MS = 250;
/**
 * How far the clock of deadlines advances at most per sweep, so that clients do not time out because the gateway
 * stood still.
 */
const MAX_STEP_MS = 2 * SWEEP_MS;

export interface GatewayOptions {
  /** At least one of the two is required. */
  readonly plain?: PortAddress | undefined;
  readonly secure?: ((PortAddress | SharedPlace) & { readonly tls: TlsSettings }) | undefined;
  /** Where the ports of shares open that do not speak HTTP; undefined: none does. */
  readonly ports?:
    | { readonly tcp?: SharePortPlace | undefined; readonly udp?: SharePortPlace | undefined }
    | undefined;
  readonly dialer: CircuitDialer;
  readonly log: Log;
  readonly limits?: Partial<GatewayLimits> | undefined;
  readonly access: AccessControl;
  /** Proxies in front of the gateway, which name the clients of their requests; undefined: no proxy is trusted. */
  readonly proxies?: readonly IpNetwork[] | undefined;
  readonly challenges?: ChallengeAnswers | undefined;
  /** Receives the events of each request. */
  readonly observer?: RequestObserver | undefined;
  /** The clock for deadlines; the system clock by default. */
  readonly time?: GatewayTime | undefined;
}

export interface Gateway {
  readonly plainPort: number | undefined;
  readonly securePort: number | undefined;
  readonly table: ShareRouteTable<RoutePool>;
  /** Collects the traffic of each share. */
  readonly traffic: Pick<TrafficMeter, 'take'>;
  /** Opens the ports, once. Rejects with `port-taken` or `cannot-listen` of `openListener`. */
  listen(): Promise<void>;
  stats(): GatewayStats;
  /** Returns undefined if the share is not served here. The promise never rejects and settles in bounded time. */
  replay(command: GatewayReplay): Promise<InspectedRequest> | undefined;
  /**
   * Stops accepting, lets running requests finish for at most `drainMs`, then cuts the rest. A second call
   * without a time cuts at once.
   */
  close(options?: { drainMs?: number }): Promise<void>;
}

const NO_OBSERVER: RequestObserver = {
  began() {},
  refused() {},
  served() {},
  failed() {},
  gone() {},
  flush() {},
};

/** Creates a gateway that does not listen yet. */
export function createGateway(options: GatewayOptions): Gateway {
  return new GatewayServer(options);
}

/** Rejects as `listen` does. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const gateway = createGateway(options);
  try {
    await gateway.listen();
  } catch (error) {
    await gateway.close();
    throw error;
  }
  return gateway;
}

class GatewayServer implements Gateway {
  readonly table: ShareRouteTable<RoutePool>;
  readonly traffic = new TrafficMeter();
  plainPort: number | undefined;
  securePort: number | undefined;
  readonly #options: GatewayOptions;
  readonly #context: GatewayContext;
  readonly #admission: ConnectionAdmission;
  readonly #connections = new ShortLivedSet<ClientConnection>();
  readonly #http2: Http2Sessions;
  readonly #streams: StreamConnections;
  readonly #datagrams: DatagramStreams;
  readonly #ports: readonly SharePorts[];
  readonly #listeners: Listener[] = [];
  readonly #replayer: Replayer;
  readonly #stopSweeping: () => void;
  readonly #clock: RunningClock;
  #whenEmpty: (() => void) | undefined;
  #isCutting = false;
  #closing: Promise<void> | undefined;

  constructor(options: GatewayOptions) {
    const limits = { ...DEFAULT_GATEWAY_LIMITS, ...options.limits };
    const nowMs = (): number => this.#context.nowMs;
    const time = options.time ?? systemTime;
    const pool = new RequestCircuits(options.dialer, limits, nowMs, () => time.nowMs());
    this.#options = options;
    this.#clock = new RunningClock(MAX_STEP_MS, () => time.nowMs());
    this.table = new ShareRouteTable<RoutePool>({
      makeSlot: (share) => new RoutePool(new ShareTraffic(this.traffic, share)),
      onRetired: (route) => this.#retire(route),
    });
    this.#admission = new ConnectionAdmission(
      limits.maxConnections,
      limits.maxConnectionsPerAddress,
      options.log,
      () => this.#whenEmpty?.(),
    );
    this.#http2 = new Http2Sessions({
      limits,
      admission: this.#admission,
      log: options.log,
      nowMs: () => this.#clock.nowMs(),
      open: (socket, facts) => this.#open(socket, facts),
    });
    this.#context = {
      limits,
      headBudget: new HeadBudget(limits),
      table: this.table,
      pool,
      log: options.log,
      access: options.access,
      challenges: options.challenges,
      trust: options.proxies && this.#trustOf(options.proxies),
      records: new RequestRecords(),
      observer: options.observer ?? NO_OBSERVER,
      counters: { requests: 0, failures: 0, retries: 0, upgrades: 0, failedHandshakes: 0 },
      slowBodies: new SlowBodies(limits),
      requestHead: new RequestHead(),
      responseHead: new ResponseHead(),
      nowMs: this.#clock.nowMs(),
      draining: false,
    };
    this.#streams = new StreamConnections(this.#context, () => this.#onClosed());
    this.#datagrams = new DatagramStreams(() => this.#onClosed());
    this.#ports = this.#portsOf(options);
    this.#replayer = new Replayer(this.#context);
    this.#stopSweeping = time.every(SWEEP_MS, () => this.#sweep());
  }

  async listen(): Promise<void> {
    const { plain, secure } = this.#options;
    if (plain !== undefined) this.plainPort = await this.#listen(plain, undefined);
    if (secure !== undefined) this.securePort = await this.#listen(secure, secure.tls);
  }

  stats(): GatewayStats {
    const { pool, counters, headBudget, slowBodies } = this.#context;
    return {
      connections: this.#admission.count,
      headBytes: headBudget.bytes,
      openCircuits: pool.openCount,
      idleCircuits: pool.idleCount,
      openPorts: this.#ports.reduce((sum, { open }) => sum + open, 0),
      streamConnections: this.#streams.size + this.#datagrams.size,
      dials: pool.dialCount,
      failedDials: pool.failedDialCount,
      shares: this.table.size,
      slowBodies: slowBodies.count,
      cutSlowBodies: slowBodies.cutCount,
      ...counters,
    };
  }

  replay(command: GatewayReplay): Promise<InspectedRequest> | undefined {
    const route = this.table.route(command.shareId);
    const isServed = route?.share.unreadable === undefined && route?.share.ingress === undefined;
    return route === undefined || !isServed ? undefined : this.#replayer.replay(route, command);
  }

  close(options: { drainMs?: number } = {}): Promise<void> {
    const { drainMs = 0 } = options;
    if (this.#closing !== undefined && drainMs === 0) this.#whenEmpty?.();
    this.#closing ??= this.#close(drainMs);
    return this.#closing;
  }

  async #listen(address: PortAddress | SharedPlace, tls: TlsSettings | undefined): Promise<number> {
    const { limits, log } = this.#context;
    const listener = await openListener({
      address,
      tls,
      log,
      admission: this.#admission,
      proxies: this.#options.proxies,
      proxyHeaderTimeoutMs: limits.proxyHeaderTimeoutMs,
      handshakeTimeoutMs: limits.headTimeoutMs,
      onHandshakeFailed: () => (this.#context.counters.failedHandshakes += 1),
      highWaterMark: limits.maxUnsentBytes,
      nowMs: () => this.#clock.nowMs(),
      streams: {
        any: () => this.table.streams.hasNames,
        kindOf: (name) => this.table.streams.named(name)?.kind,
        pass: (socket, facts, name) => {
          if (!this.#acceptStream(socket, facts, name, 'tls-passthrough')) socket.destroy();
        },
      },
      onConnection: (socket, facts) => {
        if (tls === undefined && 'speaksH2c' in address && address.speaksH2c === true)
          containSocket(socket, log, () =>
            readPreface(socket, limits.headTimeoutMs, (isHttp2) => this.#accept(socket, facts, isHttp2)),
          );
        else this.#accept(socket, facts, 'alpnProtocol' in socket && socket.alpnProtocol === 'h2');
      },
    });
    this.#listeners.push(listener);
    return listener.port;
  }

  #accept(socket: Socket, facts: ClientFacts, isHttp2: boolean): void {
    if (this.table.streams.hasNames && facts.isSecure && facts.onlyHost !== undefined) {
      const name = canonicalHost(facts.onlyHost);
      if (name !== undefined && this.#acceptStream(socket, facts, name, 'tls')) return;
    }
    if (isHttp2) {
      this.#http2.accept(socket, facts);
      return;
    }
    const connection = this.#open(socket, facts);
    readDirectly(socket, (bytes) => connection.take(bytes));
  }

  /** Returns false for a name that is no stream of this kind. */
  #acceptStream(socket: Socket, facts: ClientFacts, name: string, kind: GatewayIngress['kind']): boolean {
    const find = (): GatewayHost | undefined => {
      const entry = this.table.streams.named(name);
      return entry?.kind === kind ? entry.host : undefined;
    };
    const host = find();
    if (host === undefined) return false;
    this.#streams.open(socket, facts, host, find);
    return true;
  }

  #open(socket: ClientSocket, facts: ClientFacts): ClientConnection {
    const connection = new ClientConnection(this.#context, socket, facts, (closed) => {
      this.#connections.delete(closed);
      this.#onClosed();
    });
    this.#connections.add(connection);
    return connection;
  }

  #portsOf({ ports = {}, log }: GatewayOptions): SharePorts[] {
    const context = this.#context;
    const { limits } = context;
    const { tcp, udp } = ports;
    // Flows have forged sources, and must not use up what connections have.
    const flows = new ConnectionAdmission(limits.maxDatagramFlows, limits.maxConnectionsPerAddress, log);
    const ofTcp = tcp && { place: tcp, context, connections: this.#streams, admission: this.#admission, log };
    const ofUdp = udp && { place: udp, context, streams: this.#datagrams, admission: flows, log };
    // Sockets of datagrams are loaded where there are any.
    const openUdp = async (port: number, options: NonNullable<typeof ofUdp>): Promise<OpenPort> =>
      (await import('./streams/udp-port.ts')).openUdpPort(port, options);
    return [
      ...(ofTcp
        ? [new SharePorts({ ...ofTcp, protocol: 'tcp', open: (port) => openTcpPort(port, ofTcp) })]
        : []),
      ...(ofUdp ? [new SharePorts({ ...ofUdp, protocol: 'udp', open: (port) => openUdp(port, ofUdp) })] : []),
    ];
  }

  get #openCount(): number {
    return this.#connections.size + this.#streams.size + this.#datagrams.size;
  }

  #onClosed(): void {
    if (this.#isCutting && this.#openCount === 0) this.#whenEmpty?.();
  }

  #trustOf(proxies: readonly IpNetwork[]): ProxyTrust {
    const { access } = this.#options;
    const isServed = (host: string): boolean => this.table.find(host) !== undefined || access.isOwnHost(host);
    return { proxies, admission: this.#admission, isServed, nowMs: () => this.#clock.nowMs() };
  }

  #retire(route: GatewayRoute): void {
    this.#context.pool.retire(route);
    this.#streams.retire(route);
    this.#datagrams.retire(route);
    if (!route.revoked) return;
    for (const connection of this.#connections) if (connection.route === route) connection.revoke();
  }

  #sweep(): void {
    this.#context.nowMs = this.#clock.nowMs();
    for (const connection of this.#connections) connection.sweep();
    this.#http2.sweep();
    this.#streams.sweep();
    this.#datagrams.sweep();
    for (const ports of this.#ports) ports.sweep();
    const { log, pool, observer } = this.#context;
    contain({ kind: 'process', id: 'the sweep of circuits', log }, () => pool.sweep());
    contain({ kind: 'process', id: 'the record of requests', log }, () => observer.flush());
  }

  async #close(drainMs: number): Promise<void> {
    this.#context.draining = true;
    for (const listener of this.#listeners) listener.stop();
    for (const ports of this.#ports) ports.stop();
    for (const connection of this.#connections) connection.drain();
    this.#http2.drain();
    // Connections that are still in their handshake are served, too.
    if (this.#admission.count > 0 && drainMs > 0) await this.#empty(drainMs);
    this.#isCutting = true;
    for (const connection of this.#connections) connection.destroy();
    this.#http2.destroy();
    this.#streams.destroy();
    this.#datagrams.destroy();
    if (this.#openCount > 0) await this.#empty(1_000);
    this.#stopSweeping();
    this.#context.pool.close();
    this.#context.observer.flush();
  }

  async #empty(timeoutMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#whenEmpty = resolve;
    const timer = setTimeout(resolve, timeoutMs);
    await promise;
    clearTimeout(timer);
  }
}
