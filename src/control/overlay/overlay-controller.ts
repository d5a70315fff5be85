/**
 * The overlay controller: accepts routers on the control channel and does the work of OpenZiti's controller:
 * sessions, terminators, circuits, links. It also measures shares. Its state is in memory except the terminators;
 * OverlayModel and ApiSessions provide the model. overlay-parts.ts composes its parts.
 */
import { formatHostPort, FrontdoorError, LeaseClock, systemClock, type Clock, type Log } from '#base';
import { contain } from '#net';
import {
  acceptMemoryChannel,
  ChannelListener,
  type Channel,
  type MemoryPeer,
  type TlsIdentity,
} from '#net/channel';
import { contentType, headerId, HeaderWriter, makeFrame, WIRE_VERSION, type Frame } from '#wire';
import { ctrlMessages, decodeRouterHello, REFUSED_HELLO } from '#wire/ctrl';
import type { EdgeRouter, ModelChange } from './model/overlay-model.ts';
import type { FabricDiagnostics } from './model/fabric-diagnostics.ts';
import type { Measurements } from './model/service-status.ts';
import { isAtEnd } from './circuits/circuit-registry.ts';
import { ConnectedRouter } from './mesh/connected-router.ts';
import type { FabricView } from './model/fabric-view.ts';
import type { OverlayControllerOptions } from './overlay-options.ts';
import { makeOverlayParts, type OverlayParts } from './overlay-parts.ts';
import { RouterHellos } from './routers/router-hellos.ts';

export const CTRL_ALPN = 'ziti-ctrl';
const TICK_MS = 250;
const LEAVE_LOOK_MS = 50;

export interface OverlayController {
  /** The port that routers dial. */
  readonly port: number;
  /** As measured by this control plane. */
  readonly status: Measurements;
  readonly circuitCount: number;
  /** The mesh, for the Management API. */
  readonly fabric: FabricView & FabricDiagnostics;
  /** Returns every router with an edge part that was connected since the start. */
  routers(): EdgeRouter[];
  /** Whether some host of the service cannot encrypt end to end. */
  hasKeylessHost(serviceId: string): boolean;
  /** Applies to new connections. */
  setTls(identity: TlsIdentity): void;
  /** Must be called when the result of `serviceKeys` has changed. */
  keysChanged(): void;
  /**
   * Announces to our routers that this controller stops, and continues until other controllers have all of them
   * and no circuit is pending, for at most `timeoutMs`. `isElsewhere` returns whether another controller has the
   * router. Without another controller it does not wait for routers.
   */
  leave(timeoutMs: number, isElsewhere: ((routerId: string) => boolean) | undefined): Promise<void>;
  /** Connects a router of this process. Rejects with `channel-refused`. */
  acceptMemory(peer: MemoryPeer): Promise<Channel>;
  /** Checks deadlines. Called automatically unless `tickMs` is 0. */
  tick(): void;
  close(): Promise<void>;
}

/** Loads the terminators and listens. Rejects if the store or the port is unavailable, or the model is not loaded. */
export async function startOverlayController(options: OverlayControllerOptions): Promise<OverlayController> {
  const core = new OverlayCore(options);
  await core.open();
  return core;
}

class OverlayCore implements OverlayController {
  readonly #options: OverlayControllerOptions;
  readonly #clock: Clock;
  /** For durations, so that setting the machine's clock ends no wait early or late. */
  readonly #leases: LeaseClock;
  readonly #log: Log;
  readonly #parts: OverlayParts;
  readonly #hellos: RouterHellos;
  #listener: ChannelListener | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: OverlayControllerOptions) {
    const { model, clock = systemClock, log } = options;
    this.#options = options;
    this.#clock = clock;
    this.#leases = new LeaseClock(clock);
    this.#log = log;
    const clocks = { clock, leases: this.#leases };
    const { mesh, circuits } = (this.#parts = makeOverlayParts(options, clocks));
    const { refusals } = this.#parts.permissions;
    this.#hellos = new RouterHellos(options, { routers: mesh.routers, refusals, leases: this.#leases });
    model.onChange((change) => this.#onModelChange(change));
    mesh.routers.onEdgeChange((id) => circuits.prober.onRouterEdge(id));
  }

  async open(): Promise<void> {
    const { listener, log, model, tuning: { tickMs = TICK_MS } = {} } = this.#options;
    const { terminators } = this.#parts.mesh;
    const { prober } = this.#parts.circuits;
    await terminators.load();
    if (terminators.size > 0 && model.identities().next().done === true) {
      throw new FrontdoorError(
        'internal',
        'model-not-loaded',
        'the overlay model is empty but terminators are stored',
      );
    }
    for (const { id } of model.hostedServices()) prober.onServiceKnown(id);
    this.#parts.permissions.follower.sweep();
    this.#listener = await ChannelListener.open({
      host: listener.host,
      port: listener.port,
      tls: listener.tls,
      alpn: [CTRL_ALPN],
      ownId: listener.controllerId,
      allowGroups: true,
      log,
      authorize: (hello, peer, certificate) => this.#hellos.decide(hello, peer, certificate),
      onChannel: (channel, hello) => this.#onChannel(channel, hello),
    });
    if (tickMs > 0) {
      this.#timer = setInterval(() => this.tick(), tickMs);
      this.#timer.unref();
    }
  }

  get port(): number {
    return this.#listener?.port ?? 0;
  }

  get status(): Measurements {
    return this.#parts.circuits.prober;
  }

  get circuitCount(): number {
    return this.#parts.mesh.circuits.size;
  }

  get fabric(): FabricView & FabricDiagnostics {
    return this.#parts.view;
  }

  hasKeylessHost(serviceId: string): boolean {
    for (const { peerData } of this.#parts.mesh.terminators.ofService(serviceId).values()) {
      if (!peerData.has(headerId.edge.publicKey)) return true;
    }
    return false;
  }

  routers(): EdgeRouter[] {
    const { routers } = this.#parts.mesh;
    const found: EdgeRouter[] = [];
    for (const { id, name } of this.#options.model.routers()) {
      const edge = routers.edgeAddress(id);
      if (edge !== undefined)
        found.push({ id, name, ...edge, isOnline: routers.get(id)?.edge !== undefined });
    }
    return found;
  }

  setTls(identity: TlsIdentity): void {
    this.#listener?.setTls(identity);
  }

  keysChanged(): void {
    this.#parts.permissions.dataModel.onKeysChanged();
  }

  acceptMemory(peer: MemoryPeer): Promise<Channel> {
    return acceptMemoryChannel(peer, {
      ownId: this.#options.listener.controllerId,
      log: this.#log,
      authorize: (hello, from, certificate) => this.#hellos.decide(hello, from, certificate),
      onChannel: (channel, hello) => this.#onChannel(channel, hello),
    });
  }

  tick(): void {
    const nowMs = this.#leases.nowMs();
    const { builder, rerouter, awayCircuits, prober, validation, dialCounts } = this.#parts.circuits;
    const { sessionFeed, follower, dataModel } = this.#parts.permissions;
    const { costs } = this.#parts.mesh;
    const parts = { builder, rerouter, costs, awayCircuits, prober, validation, sessionFeed, follower };
    const alone = (part: string, tick: () => void): void =>
      contain({ kind: 'process', id: `the tick of ${part}`, log: this.#log }, tick);
    for (const [name, part] of Object.entries(parts)) alone(name, () => part.tick(nowMs));
    alone('dataModel', () => dataModel.tick(nowMs, this.#clock.nowMs()));
    alone('dialCounts', () => dialCounts.tick(this.#clock.nowMs()));
  }

  async leave(timeoutMs: number, isElsewhere: ((routerId: string) => boolean) | undefined): Promise<void> {
    const { routers } = this.#parts.mesh;
    const { builder } = this.#parts.circuits;
    for (const router of routers.all())
      if (router.release !== undefined) router.send(makeFrame(contentType.stopping));
    const mustStay = (): boolean => {
      if (builder.pendingCount > 0) return true;
      if (isElsewhere === undefined) return false;
      // Other controllers report only routers with an edge part.
      for (const { id, edge } of routers.all()) if (edge !== undefined && !isElsewhere(id)) return true;
      return false;
    };
    const deadlineMs = performance.now() + timeoutMs;
    while (mustStay() && performance.now() < deadlineMs)
      await new Promise((resolve) => setTimeout(resolve, LEAVE_LOOK_MS));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const { mesh, circuits, permissions } = this.#parts;
    permissions.follower.stop();
    circuits.leaving.close();
    clearInterval(this.#timer);
    await this.#listener?.close('the controller stops');
    // Channels in memory have no listener.
    for (const { channel } of [...mesh.routers.all()]) channel.close('the controller stops');
    await permissions.certificates.idle();
    await permissions.recorder.close();
  }

  #onChannel(channel: Channel, helloFrame: Frame): void {
    const hello = decodeRouterHello(helloFrame);
    if (hello === undefined || this.#isClosed) {
      channel.close('the controller stops');
      return;
    }
    const { dispatcher, permissions } = this.#parts;
    const { routers, peers, membership } = this.#parts.mesh;
    const { awayCircuits, validation, prober } = this.#parts.circuits;
    const router = new ConnectedRouter(channel, hello, this.#leases.nowMs());
    const before = routers.get(router.id);
    if (before !== undefined) {
      this.#onGone(before, 'a newer channel took its place');
      before.channel.close('a newer channel took its place');
    }
    routers.add(router);
    this.#log.info(
      { router: router.id, version: router.version, peer: channel.peer.address },
      'router connected',
    );
    channel.handle({
      onFrame: (frame) => dispatcher.dispatch(router, frame),
      onClose: (reason) => this.#onGone(router, reason),
    });
    if (channel.isClosed) return;
    const { events } = this.#parts;
    events.emit('router', { routerId: router.id, isOnline: true });
    events.emit('connect', {
      sourceType: 'router',
      sourceId: router.id,
      sourceAddress: channel.peer.address,
      atMs: undefined,
      destinationType: 'ctrl',
      destinationId: undefined,
      destinationAddress: formatHostPort(this.#options.listener.host, this.port),
    });
    awayCircuits.onConnect(router);
    permissions.certificates.onConnect(router);
    permissions.trust.onConnect(router);
    peers.onConnect(router);
    membership.onConnect(router);
    const headers = new HeaderWriter().bool(headerId.edgeCtrl.routerDataModel, true);
    const data = { instant: 'true', routerModel: 'true', [REFUSED_HELLO]: 'true' };
    router.send(ctrlMessages.serverHello.frame({ version: WIRE_VERSION, data }, headers));
    validation.onConnect(router);
    prober.onRouterConnected(router);
  }

  #onGone(router: ConnectedRouter, reason: string): void {
    const { routers, links, peers } = this.#parts.mesh;
    const { builder, rerouter, awayCircuits, prober } = this.#parts.circuits;
    if (!routers.remove(router)) return;
    this.#parts.permissions.dataModel.onRouterGone(router);
    if (this.#isClosed) return;
    this.#log.warn({ router: router.id, reason }, 'router disconnected');
    this.#parts.events.emit('router', { routerId: router.id, isOnline: false });
    awayCircuits.onGone(router);
    const lost = new Set(links.removeOf(router.id).map(({ id }) => id));
    builder.onRouterGone(router);
    rerouter.onRouterGone(router, lost);
    prober.onRouterGone(router);
    peers.onGone(router.id);
  }

  #onModelChange(change: ModelChange): void {
    if (this.#isClosed) return;
    const { routers, peers } = this.#parts.mesh;
    const { dataModel, follower } = this.#parts.permissions;
    dataModel.onChange(change);
    follower.onChange(change);
    if (change.type === 'edge') this.#onRouterTraits(change.id);
    if (change.type !== 'identity' || !change.removed) return;
    const router = routers.get(change.id);
    routers.forget(change.id);
    router?.channel.close('the router was deleted');
    peers.onRemoved(change.id);
  }

  /** Does nothing for an entity that is no router. */
  #onRouterTraits(id: string): void {
    const { routers, circuits } = this.#parts.mesh;
    const { rerouter } = this.#parts.circuits;
    const { noTraversal, isDisabled } = this.#options.model.edge.routerTraits(id);
    if (noTraversal) rerouter.onTraversalEnded(id);
    if (!isDisabled) return;
    // Before the channel is closed, so that the router ends them too. Circuits that pass through are moved.
    circuits.endWhere((circuit) => isAtEnd(circuit, id));
    routers.get(id)?.channel.close('the router was disabled');
  }
}

/** Returns the host of `host:port`, IPv6 without brackets. */
