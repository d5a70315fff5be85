/**
 * The connections to controllers: dials each endpoint, keeps one channel per controller id, and prefers controllers
 * that respond in time. `ClusterMembership` decides which endpoints there are, and the handlers of `CtrlDispatcher`
 * interpret the messages.
 */
import { FrontdoorError, messageOf, WorkerPool, type Log } from '#base';
import { dialerThrough, type OutwardDialer } from '#net';
import { dialChannel, type Channel, type ChannelOpener, type TlsIdentity } from '#net/channel';
import {
  contentType,
  formatAddress,
  parseAddress,
  versionHeader,
  type Frame,
  type FrameHeaders,
} from '#wire';
import { encodeRouterHello, type AdvertisedListener } from '#wire/ctrl';
import type { CtrlConfig, HttpProxyConfig } from '../config/router-config.ts';
import { ConnectedController } from './connected-controller.ts';
import { ControllerDial, type Reception } from './controller-dial.ts';
import type { Controller, Controllers } from './controllers.ts';

export interface FrameSink {
  onFrame(frame: Frame, from: Controller): void;
}

export interface ControllerSetOptions {
  readonly routerId: string;
  /** Version of the product, such as `0.1.0`; '' is not announced. */
  readonly release?: string | undefined;
  readonly config: CtrlConfig;
  readonly proxy: HttpProxyConfig | undefined;
  /** Called for each dial, so that renewed certificates are used from the next dial on. */
  readonly tls: () => TlsIdentity;
  /** Returns the link listeners that controllers announce to other routers. Called for each hello. */
  readonly linkListeners: () => readonly AdvertisedListener[];
  readonly log: Log;
  readonly startup?: StartupEvents | undefined;
  /** Opens the channel to a controller of this process, by its endpoint. */
  readonly openChannel?: ChannelOpener | undefined;
}

export interface StartupEvents {
  /** Called when the first controller is connected. */
  onConnected?(): void;
  /** Called when `ctrl.startupTimeout` has elapsed without a connection to any controller. */
  onTimeout?(error: FrontdoorError): void;
}

type Listener = (controller: Controller) => void;

const MAX_ENDPOINTS = 100;

export class ControllerSet implements Controllers {
  readonly #options: ControllerSetOptions;
  readonly #gate: WorkerPool;
  readonly #outward: OutwardDialer;
  readonly #dials = new Map<string, ControllerDial>();
  readonly #byId = new Map<string, ConnectedController>();
  readonly #connectedListeners: Listener[] = [];
  readonly #disconnectedListeners: Listener[] = [];
  #sink: FrameSink | undefined;
  #leaderId = '';
  #startupTimer: NodeJS.Timeout | undefined;
  #wasConnected = false;
  #isClosed = false;

  constructor(options: ControllerSetOptions) {
    this.#options = options;
    this.#outward = dialerThrough(options.proxy, 'the router file');
    const { maxQueuedConnects, maxOutstandingConnects } = options.config.channel;
    this.#gate = new WorkerPool({
      name: 'ctrl.dialer',
      queueLength: maxQueuedConnects,
      workerCount: maxOutstandingConnects,
      log: options.log,
    });
  }

  /** Passes frames to `sink` from now on, and starts `ctrl.startupTimeout`. Called before the first endpoint is set. */
  start(sink: FrameSink): void {
    this.#sink = sink;
    const { startupTimeoutMs } = this.#options.config;
    if (startupTimeoutMs === undefined || startupTimeoutMs <= 0) return;
    this.#startupTimer = setTimeout(() => {
      const message = `no controller was reached within ${startupTimeoutMs} ms (ctrl.startupTimeout)`;
      const error = new FrontdoorError('unavailable', 'no-controller', message);
      this.#options.log.error({ startupTimeoutMs }, 'no controller was reached in time');
      this.#options.startup?.onTimeout?.(error);
    }, startupTimeoutMs);
  }

  all(): readonly ConnectedController[] {
    const controllers = [...this.#byId.values()];
    return controllers.length < 2 ? controllers : controllers.sort((a, b) => this.#rank(a) - this.#rank(b));
  }

  best(): ConnectedController | undefined {
    return this.all()[0];
  }

  byId(id: string): ConnectedController | undefined {
    return this.#byId.get(id);
  }

  broadcast(frame: Frame): number {
    let count = 0;
    // Each channel sets the sequence number of its own copy.
    for (const { channel } of this.#byId.values()) {
      if (channel.isClosed) continue;
      channel.send({ ...frame });
      count += 1;
    }
    return count;
  }

  onConnected(listener: Listener): void {
    this.#connectedListeners.push(listener);
  }

  onDisconnected(listener: Listener): void {
    this.#disconnectedListeners.push(listener);
  }

  get leaderId(): string {
    return this.#leaderId;
  }

  setLeader(id: string): void {
    if (id === this.#leaderId) return;
    this.#leaderId = id;
    this.#options.log.info({ controllerId: id }, 'this controller is the leader now');
  }

  /** All dialed endpoints as `tls:host:port`. */
  get endpoints(): readonly string[] {
    return [...this.#dials.keys()];
  }

  /** Endpoints with a connected controller. */
  get connectedEndpoints(): readonly string[] {
    return [...this.#byId.values()].flatMap(({ endpoint }) => endpoint ?? []);
  }

  /**
   * Dials new endpoints and, unless `additionsOnly`, disconnects those that are missing. Returns true if the endpoints
   * changed.
   */
  setEndpoints(endpoints: readonly string[], additionsOnly = false): boolean {
    if (this.#isClosed) return false;
    const wanted = new Set(endpoints);
    let isChanged = false;
    for (const [endpoint, dial] of additionsOnly ? [] : [...this.#dials]) {
      if (wanted.has(endpoint)) continue;
      isChanged = true;
      this.#dials.delete(endpoint);
      this.#options.log.info({ controller: endpoint }, 'controller endpoint removed');
      dial.close('the endpoint was removed');
    }
    for (const endpoint of wanted) {
      if (this.#dials.has(endpoint)) continue;
      if (this.#dials.size >= MAX_ENDPOINTS) {
        this.#options.log.error({ controller: endpoint }, 'too many controller endpoints; ignoring this one');
        continue;
      }
      isChanged = true;
      this.#dials.set(endpoint, this.#dialOf(endpoint));
    }
    return isChanged;
  }

  /** Headers of the hello that this router sends or, in a group, answers. */
  helloHeaders(isGrouped = false): FrameHeaders {
    const ctrlListeners = this.#options.config.listeners.map(({ advertise, groups }) => ({
      address: formatAddress(advertise),
      groups,
    }));
    const version = versionHeader(process.platform, process.arch, this.#options.release);
    return encodeRouterHello(version, this.#options.linkListeners(), { ctrlListeners, isGrouped });
  }

  /** Accepts or refuses a controller that dialed this router. */
  adopt(channel: Channel): void {
    this.#take(channel, undefined);
  }

  inspect(name: string): unknown {
    if (name !== 'router-controllers') return undefined;
    const details = this.all().map((controller) => [controller.id, this.#inspectionOf(controller)] as const);
    return { controllers: Object.fromEntries(details) };
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#startupTimer);
    this.#gate.close();
    for (const dial of this.#dials.values()) dial.close('router is stopping');
    for (const { channel } of [...this.#byId.values()]) channel.close('router is stopping');
  }

  #dialOf(endpoint: string): ControllerDial {
    return new ControllerDial({
      endpoint,
      gate: this.#gate,
      log: this.#options.log,
      dial: (to, signal) => this.#dial(to, signal),
      onChannel: (channel, dial) => this.#take(channel, dial),
    });
  }

  #dial(endpoint: string, signal: AbortSignal): Promise<Channel> {
    const { routerId, config, tls, log, openChannel } = this.#options;
    const opened = openChannel?.(endpoint, routerId, this.helloHeaders(), tls().cert);
    if (opened !== undefined) return opened;
    const { host, port } = parseAddress(endpoint)!;
    const { channel, heartbeat } = config;
    return dialChannel({
      host,
      port,
      tls: tls(),
      alpn: 'ziti-ctrl',
      helloId: routerId,
      helloHeaders: this.helloHeaders(),
      timeoutMs: channel.connectTimeoutMs,
      outQueueSize: channel.outQueueSize,
      writeTimeoutMs: channel.writeTimeoutMs,
      heartbeat: ctrlHeartbeat(heartbeat),
      log,
      signal,
      localAddress: config.bind?.address,
      outward: this.#outward,
    });
  }

  #take(channel: Channel, dial: ControllerDial | undefined): Reception {
    const { log } = this.#options;
    const where = dial?.endpoint ?? channel.peer.address;
    const controller = ConnectedController.of(channel, dial?.endpoint);
    if (typeof controller === 'string' || this.#isClosed) {
      const reason = typeof controller === 'string' ? controller : 'router is stopping';
      log.warn({ controller: where, reason }, 'controller refused');
      channel.close(reason);
      return 'refused';
    }
    const { id } = controller;
    if (this.#byId.has(id)) {
      log.info({ controller: where, controllerId: id }, 'this controller is connected already');
      channel.close('the router has a channel to this controller already');
      return 'standby';
    }
    clearTimeout(this.#startupTimer);
    this.#byId.set(id, controller);
    if (!this.#wasConnected) this.#options.startup?.onConnected?.();
    this.#wasConnected = true;
    log.info({ controller: where, controllerId: id, version: controller.version }, 'connected to controller');
    this.#notify(this.#connectedListeners, controller);
    channel.handle({
      onFrame: (frame) => {
        controller.onFrame();
        if (frame.contentType === contentType.stopping) this.#onStopping(controller);
        else this.#sink?.onFrame(frame, controller);
      },
      onLatency: (nanoseconds) => controller.onLatency(nanoseconds),
      onClose: (reason) => this.#onClosed(controller, dial, reason),
    });
    return 'taken';
  }

  #onStopping(controller: ConnectedController): void {
    controller.isStopping = true;
    this.#options.log.info(
      { controllerId: controller.id },
      'the controller is shutting down; others have precedence',
    );
  }

  #onClosed(controller: ConnectedController, dial: ControllerDial | undefined, reason: string): void {
    this.#byId.delete(controller.id);
    this.#notify(this.#disconnectedListeners, controller);
    if (dial === undefined) {
      this.#options.log.warn({ controllerId: controller.id, reason }, 'controller channel closed');
    }
    dial?.onClosed(reason);
    for (const other of this.#dials.values()) other.wake();
  }

  #notify(listeners: readonly Listener[], controller: ConnectedController): void {
    for (const listener of listeners) {
      try {
        listener(controller);
      } catch (error) {
        this.#options.log.error(
          { controllerId: controller.id, err: messageOf(error) },
          'controller event failed',
        );
      }
    }
  }

  /** A lower rank is better. Among equal ranks, the oldest channel comes first in the map. */
  #rank({ id, isResponsive, isStopping, isNew, channel }: ConnectedController): number {
    // With more than `outQueueSize` waiting frames, a new request would wait behind them.
    const isBehind = !channel.isWritable;
    const isLeader = id === this.#leaderId;
    return (
      (isResponsive ? 0 : 16) +
      (isStopping ? 8 : 0) +
      (isNew ? 4 : 0) +
      (isBehind ? 2 : 0) +
      (isLeader ? 0 : 1)
    );
  }

  #inspectionOf(controller: ConnectedController): Record<string, unknown> {
    const { id, version, channel, isResponsive, endpoint, latencyNs, lastAnswerMs } = controller;
    return {
      controllerId: id,
      connected: !channel.isClosed,
      responsive: isResponsive,
      address: endpoint ?? channel.peer.address,
      latency: `${((latencyNs ?? 0) / 1e6).toFixed(3)}ms`,
      version,
      timeSinceLastContact: `${Math.round(performance.now() - lastAnswerMs)}ms`,
      isLeader: id === this.#leaderId,
    };
  }
}

/** Maps the four keys of `ctrl.heartbeats`. */
export function ctrlHeartbeat(heartbeat: CtrlConfig['heartbeat']) {
  return {
    sendIntervalMs: heartbeat.sendIntervalMs,
    checkIntervalMs: heartbeat.checkIntervalMs,
    closeAfterMs: heartbeat.closeUnresponsiveMs,
    unresponsiveAfterMs: heartbeat.unresponsiveAfterMs,
  };
}
