/**
 * The overlay router: control channels, links to other routers, listeners for SDKs and plain connections, and the
 * circuits between them. Its parts depend on each other by small interfaces; only this file connects them.
 */
import { systemClock, WorkerPool, type Clock, type Log } from '#base';
import { TlsPorts, type TlsPort } from '#net';
import type { Channel, ChannelOpener, MemoryPeer } from '#net/channel';
import type { MetricsWriter } from '#net/metrics';
import { contentType, makeFrame } from '#wire';
import { ctrlMessages } from '#wire/ctrl';
import type { RouterConfig } from './config/router-config.ts';
import { ClusterMembership } from './ctrl/cluster-membership.ts';
import { configInspector } from './ctrl/config-inspector.ts';
import { ControllerSet, type StartupEvents } from './ctrl/controller-set.ts';
import { CtrlDispatcher } from './ctrl/ctrl-dispatcher.ts';
import { CtrlListeners } from './ctrl/ctrl-listeners.ts';
import { InspectResponder } from './ctrl/inspect-responder.ts';
import { InterfaceReporter } from './ctrl/interface-reporter.ts';
import { EdgePart } from './edge/edge-part.ts';
import { CircuitPart } from './circuits/circuit-part.ts';
import { HealthChecks } from './health/health-checks.ts';
import { IdentityWatch } from './identity/identity-watch.ts';
import { loadRouterIdentity, type RouterIdentity } from './identity/router-identity.ts';
import { openListeners } from './router-listeners.ts';
import { RouterMetrics } from './router-metrics.ts';
import { inspectTunnels, type TunnelPart } from './tunnel/tunnel-part.ts';
import { inspectLinkSubsystem, LinkSubsystem } from './link/link-subsystem.ts';
import { MetricRegistry } from './metrics/metric-registry.ts';
import { MetricReporter } from './metrics/metric-reporter.ts';
import { CertificateRenewal } from './renewal/certificate-renewal.ts';
import { Diagnostics } from './trace/diagnostics.ts';
import { WebServers } from './web/web-servers.ts';

export interface RouterOptions {
  readonly config: RouterConfig;
  readonly log: Log;
  readonly release?: string | undefined;
  readonly clock?: Clock | undefined;
  readonly startup?: StartupEvents | undefined;
  /** Opens the channel to a controller of this process, by its endpoint. */
  readonly openChannel?: ChannelOpener | undefined;
  /** A port of the program, which its listeners with that port number use. */
  readonly sharedPort?: TlsPort | undefined;
}

/** While the router drains, circuits that were idle for this time are not waited for. */
const DRAINED_IDLE_MS = 10_000;
const DRAIN_LOOK_MS = 100;

export class Router {
  readonly id: string;
  /** Without those of the process. */
  readonly writeMetrics: MetricsWriter = (to) => this.#metrics.writeOwn(to);
  readonly #options: RouterOptions;
  readonly #clock: Clock;
  readonly #registry: MetricRegistry;
  readonly #metrics: RouterMetrics;
  readonly #ports: TlsPorts;
  readonly #rateLimiter: WorkerPool;
  readonly #controllers: ControllerSet;
  readonly #membership: ClusterMembership;
  readonly #circuits: CircuitPart;
  readonly #renewal: CertificateRenewal;
  /** Closed in reverse order. */
  readonly #closers: (() => Promise<void> | void)[] = [];
  #identity: RouterIdentity;
  #diagnostics: Diagnostics | undefined;
  #edge: EdgePart | undefined;
  #tunnel: TunnelPart | undefined;
  #reporter: MetricReporter | undefined;
  #links: LinkSubsystem | undefined;
  #identityWatch: IdentityWatch | undefined;
  #closing: Promise<void> | undefined;

  private constructor(options: RouterOptions) {
    const { config, log, clock = systemClock, startup, openChannel, release } = options;
    this.#options = options;
    this.#clock = clock;
    for (const { path, line, column, rule, message } of config.warnings)
      log.warn({ file: config.file, line, column, key: path, rule }, message);
    this.#identity = loadRouterIdentity(config.identity);
    this.id = this.#identity.id;
    const { metrics, forwarder } = config;
    this.#registry = new MetricRegistry({ ...metrics, clock, log });
    this.#metrics = new RouterMetrics(this.#registry, () => this.#identity, release);
    this.#ports = new TlsPorts({ log, shared: options.sharedPort });
    const { rateLimitedQueueLength: queueLength, rateLimitedWorkerCount: workerCount } = forwarder;
    this.#rateLimiter = new WorkerPool({ name: 'rate_limiter', queueLength, workerCount, log });
    this.#registry.addPool(this.#rateLimiter);
    this.#controllers = new ControllerSet({
      routerId: this.id,
      release,
      config: config.ctrl,
      proxy: config.proxy,
      tls: () => this.#identity.client,
      linkListeners: () => this.#links?.advertised() ?? [],
      log,
      startup,
      openChannel,
    });
    this.#membership = new ClusterMembership({ config: config.ctrl, controllers: this.#controllers, log });
    this.#circuits = new CircuitPart({
      routerId: this.id,
      config,
      controllers: this.#controllers,
      ports: this.#ports,
      tls: () => this.#identity,
      metrics: this.#registry,
      clock,
      log,
    });
    this.#registry.addPool(this.#circuits.routePool);
    this.#renewal = new CertificateRenewal({
      config,
      identity: () => this.#identity,
      controller: () => this.#controllers.best()?.channel,
      use: (identity) => this.#use(identity),
      clock,
      log,
    });
  }

  /**
   * Opens the listeners, then dials the controllers; controllers that cannot be reached are dialed again. Rejects with
   * a `FrontdoorError` when a resource that the file names is not available.
   */
  static async start(options: RouterOptions): Promise<Router> {
    const router = new Router(options);
    try {
      await router.#start();
      return router;
    } catch (error) {
      await router.close();
      throw error;
    }
  }

  /** Port of the edge listener; 0 without one. */
  get edgePort(): number {
    return this.#edge?.listener?.port ?? 0;
  }

  get isConnected(): boolean {
    return this.#controllers.all().length > 0;
  }

  get circuitCount(): number {
    return this.#circuits.forwarder.circuitCount;
  }

  get linkCount(): number {
    return this.#links?.linkCount ?? 0;
  }

  /** Accepts an edge channel of a peer in this process. */
  acceptMemory(peer: MemoryPeer): Promise<Channel> {
    const listener = this.#edge?.listener;
    if (listener === undefined) throw new Error('the router has no edge listener');
    return listener.acceptMemory(peer);
  }

  /** Renews the certificates now if that is due. Resolves with true if new ones are in use. Rejects on failure. */
  renewCertificates(): Promise<boolean> {
    return this.#renewal.check();
  }

  /** Logs the current controllers, links and circuits. */
  logState(): void {
    const forwarder = this.#circuits.forwarder;
    const circuits = [...forwarder.circuits()].map(({ id, controllerId }) => ({ id, controllerId }));
    const controllers = this.#controllers.all().map(({ id, isResponsive }) => ({ id, isResponsive }));
    this.#options.log.info(
      {
        controllers,
        links: this.#links?.links() ?? [],
        circuits: circuits.slice(0, 1_000),
        circuitCount: circuits.length,
      },
      'state of the router',
    );
  }

  /** Reloads the identity's files, for new connections only. If that fails, logs it and keeps the old ones. */
  reload(): void {
    this.#identityWatch?.reload();
  }

  /** Ends the CPU profile, if one runs, and writes it. */
  async stopCpuProfile(): Promise<void> {
    await this.#diagnostics?.stopCpuProfile();
  }

  /**
   * With `drainMs`, asks controllers and peers to use other paths from now on, and lets circuits with traffic end
   * within this time; circuits without another path still begin. Then closes everything. A second call cuts the drain.
   */
  async close(drainMs = 0): Promise<void> {
    if (drainMs > 0 && this.#closing === undefined) await this.#drain(drainMs);
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #start(): Promise<void> {
    const { config, log } = this.#options;
    const clock = this.#clock;
    const controllers = this.#controllers;
    this.#diagnostics = await Diagnostics.open({ routerId: this.id, config, controllers, clock, log });
    if (config.csr === undefined)
      log.warn({ file: config.file }, 'no csr section: certificates cannot be renewed');
    this.#edge = await EdgePart.open({
      routerId: this.id,
      release: this.#options.release,
      config,
      controllers,
      ...this.#circuits.forEdge,
      rateLimiter: this.#rateLimiter,
      metrics: this.#registry,
      onIndexReset: () => this.#membership.resetIndex(),
      ca: () => this.#identity.client.ca,
      clock,
      log,
    });
    this.#closers.push(() => this.#edge?.close());
    await this.#openLinks();
    this.#tunnel = await openListeners({
      routerId: this.id,
      config,
      edge: this.#edge,
      circuits: this.#circuits,
      ports: this.#ports,
      tls: this.#identity.server,
      clock,
      log,
    });
    this.#closers.push(() => this.#tunnel?.close());
    const health = new HealthChecks({
      config: config.healthChecks,
      controllers: () => controllers.all(),
      links: () => this.#links?.links() ?? [],
      clock,
      log,
    });
    this.#closers.push(() => health.close());
    await this.#openWeb(health);
    await this.#followControllers();
  }

  async #openLinks(): Promise<void> {
    const { config, log } = this.#options;
    if (config.link === undefined) {
      log.info({}, 'no link section: this router neither dials nor accepts other routers');
      // Controllers expect the list, even if it is empty.
      const none = ctrlMessages.routerLinks.frame({ links: [], fullRefresh: true });
      this.#controllers.onConnected(({ channel }) => channel.send({ ...none }));
      return;
    }
    const links = await LinkSubsystem.open({
      routerId: this.id,
      config: config.link,
      placeOf: (...path) => config.placeOf(...path),
      forwarder: config.forwarder,
      handshakeTimeoutMs: config.handshakeTimeoutMs,
      proxy: config.proxy,
      ports: this.#ports,
      tls: () => this.#identity,
      controllers: this.#controllers,
      forwarding: this.#circuits.forwarder,
      metrics: this.#registry,
      rateLimiter: this.#rateLimiter,
      onSilent: () => this.#reporter?.report(),
      pipes: this.#diagnostics!.pipes,
      clock: this.#clock,
      log,
    });
    this.#links = links;
    this.#registry.addPool(links.dialPool);
    this.#closers.push(() => links.close());
  }

  async #openWeb(health: HealthChecks): Promise<void> {
    const { config, log } = this.#options;
    const web = await WebServers.open({
      servers: config.web,
      ports: this.#ports,
      tls: this.#identity.server,
      loadTls: (identity) => this.#metrics.withWebServer(loadRouterIdentity(identity, 'web.identity')),
      handshakeTimeoutMs: config.handshakeTimeoutMs,
      placeOf: (path) => config.placeOf(path),
      health,
      writeMetrics: (to) => this.#metrics.writeAll(to),
      log,
    });
    this.#closers.push(() => web.close());
  }

  async #followControllers(): Promise<void> {
    const { config, log } = this.#options;
    const clock = this.#clock;
    const controllers = this.#controllers;
    const { ctrl } = config;
    const reporter = (this.#reporter = new MetricReporter({
      routerId: this.id,
      config: config.metrics,
      registry: this.#registry,
      controllers,
      clock,
      log,
    }));
    const interfaces = new InterfaceReporter({
      config: config.interfaceDiscovery,
      controllers,
      requestTimeoutMs: ctrl.requestTimeoutMs,
      clock,
      log,
    });
    const watch = (this.#identityWatch = new IdentityWatch({
      identity: config.identity,
      log,
      onLoaded: (identity) => {
        if (identity.id !== this.id) {
          log.error({ id: identity.id }, 'the identity files belong to another router; keeping the old ones');
          return;
        }
        this.#use(identity);
        log.info({}, 'identity reloaded; new connections use it');
      },
    }));
    this.#closers.push(
      () => reporter.close(),
      () => interfaces.close(),
      () => watch.close(),
    );
    const inspectors = [
      configInspector(config),
      (name: string) => controllers.inspect(name),
      (name: string) => this.#edge?.terminators.inspect(name),
      (name: string) => this.#edge?.inspect(name),
      (name: string) => inspectTunnels(this.#tunnel, name),
      (name: string) => inspectLinkSubsystem(this.#links, name),
      (name: string) => this.#circuits.inspect(name),
      reporter.inspect,
    ];
    const parts = [
      this.#membership.handlers(),
      ...this.#edge!.handlers(this.#tunnel?.terminatorChecks),
      ...(this.#tunnel?.handlers() ?? []),
      ...this.#circuits.handlers(),
      this.#links?.handlers() ?? new Map(),
      new InspectResponder(inspectors, log).handlers(),
      this.#renewal.handlers(),
      this.#diagnostics!.pipes.handlers(),
    ];
    controllers.onConnected(() => this.#renewal.onControllerConnected());
    controllers.start(new CtrlDispatcher(parts, log));
    await this.#membership.start();
    const listeners = await CtrlListeners.open({
      routerId: this.id,
      config,
      ports: this.#ports,
      tls: () => this.#identity.server,
      controllers,
      isMember: (id) => this.#membership.isMember(id),
      clock,
      log,
    });
    this.#closers.push(() => listeners.close());
  }

  #use(identity: RouterIdentity): void {
    this.#identity = identity;
    void this.#ports.setTls(identity.server);
  }

  async #drain(drainMs: number): Promise<void> {
    const { log } = this.#options;
    const untilMs = this.#clock.monotonicMs() + drainMs;
    // Also notifies controllers that reconnect in the meantime, because they forget it when the channel closes.
    this.#controllers.onConnected(({ channel }) => channel.send(makeFrame(contentType.quiesceRouter)));
    this.#controllers.broadcast(makeFrame(contentType.quiesceRouter));
    this.#edge?.drain();
    await this.#tunnel?.drain();
    this.#circuits.drain();
    const busy = (): number => this.#circuits.busyCount(DRAINED_IDLE_MS) + (this.#edge?.dialingCount ?? 0);
    if (busy() > 0) log.info({ circuits: busy(), drainMs }, 'waiting for circuits to end');
    while (this.#closing === undefined && busy() > 0 && this.#clock.monotonicMs() < untilMs)
      await new Promise((resolve) => setTimeout(resolve, DRAIN_LOOK_MS));
  }

  async #close(): Promise<void> {
    this.#renewal.close();
    for (const close of this.#closers.reverse()) await close();
    this.#circuits.close();
    this.#rateLimiter.close();
    this.#controllers.close();
    await this.#membership.close();
    await this.#ports.close();
    await this.#diagnostics?.close();
    this.#registry.close();
  }
}
