/**
 * The overlay controller: accepts routers on the control channel and does for them what OpenZiti's controller does:
 * sessions, terminators, circuits, links. Measures shares on the way. All of it in memory but for the terminators;
 * what it knows of the model comes from OverlayModel and ApiSessions.
 */
import type { X509Certificate } from 'node:crypto';
import { FrontdoorError, messageOf, systemClock, type Clock, type Log } from '#base';
import {
  ChannelListener,
  type Channel,
  type HeartbeatOptions,
  type HelloDecision,
  type TlsIdentity,
} from '#net';
import { headerId, HeaderWriter, versionHeader, WIRE_VERSION, type Frame } from '#wire';
import { ControllerCapability, ctrlMessages, decodeRouterHello, encodeControllerHello } from '#wire/ctrl';
import type { ApiSessions } from '../model/api-sessions.ts';
import type { ModelChange, OverlayModel } from '../model/overlay-model.ts';
import type { Measurements } from '../model/share-status.ts';
import type { Secrets } from '../secrets/secrets.ts';
import type { Store } from '../store/store.ts';
import { CertificateExtension, type CertificateIssuer } from './certificate-extension.ts';
import { CircuitBuilder } from './circuit-builder.ts';
import { CircuitRequests, type PendingLimits } from './circuit-requests.ts';
import { CircuitRegistry, type CircuitLimits } from './circuit-registry.ts';
import { ConnectedRouter, RouterRegistry } from './connected-router.ts';
import { CtrlDispatcher } from './ctrl-dispatcher.ts';
import { DataModelFeed, type ServiceKey } from './data-model-feed.ts';
import { LinkRegistry } from './link-registry.ts';
import { ModelFollower } from './model-follower.ts';
import { PeerFeed } from './peer-feed.ts';
import { admitRouter } from './router-admission.ts';
import { ServiceSessionCheck, type VerifyServiceToken } from './service-session-check.ts';
import { SessionFeed } from './session-feed.ts';
import { ShareProber } from './share-prober.ts';
import { TerminatorRequests } from './terminator-requests.ts';
import { TerminatorRegistry } from './terminator-registry.ts';
import { TerminatorValidation } from './terminator-validation.ts';

export const CTRL_ALPN = 'ziti-ctrl';
const HEARTBEAT: HeartbeatOptions = { sendIntervalMs: 5_000, closeAfterMs: 20_000 };
const TICK_MS = 250;

export interface OverlayControllerOptions {
  /** The common name of the control certificate; what routers know this controller by. */
  readonly controllerId: string;
  readonly listen: { readonly host: string; readonly port: number };
  readonly tls: TlsIdentity;
  /** Proves leaf certificates of our CA, and renews those of routers. */
  readonly issuer: CertificateIssuer;
  /** Loaded: what it does not allow is removed at the start. */
  readonly model: OverlayModel;
  readonly sessions: ApiSessions;
  readonly store: Store;
  /** Tags the audit events of renewals. */
  readonly secrets: Pick<Secrets, 'tag'>;
  readonly verifyServiceToken: VerifyServiceToken;
  /** Keys that sign service sessions now. */
  readonly serviceKeys: () => readonly ServiceKey[];
  readonly log: Log;
  readonly clock?: Clock;
  readonly heartbeat?: HeartbeatOptions;
  /** How often deadlines are looked at; 0: only when `tick` is called. */
  readonly tickMs?: number;
  readonly pendingLimits?: PendingLimits;
  readonly circuitLimits?: CircuitLimits;
  readonly maxProbesPerSecond?: number;
  /** Another control plane over the same store has the environment's channel. */
  readonly isConnectedElsewhere?: (identityId: string) => boolean;
}

/** A router, as SDKs are told of it. */
export interface OverlayRouter {
  readonly id: string;
  readonly name: string;
  readonly hostname: string;
  readonly port: number;
  readonly isOnline: boolean;
}

export interface OverlayController {
  /** The port that routers dial. */
  readonly port: number;
  /** As seen from here. */
  readonly status: Measurements;
  readonly circuitCount: number;
  /** Every router with an edge part that was seen since the start. */
  routers(): OverlayRouter[];
  /** For new connections. */
  setTls(identity: TlsIdentity): void;
  /** `serviceKeys` answers something new. */
  keysChanged(): void;
  /** Looks at deadlines; done by itself unless `tickMs` is 0. */
  tick(): void;
  close(): Promise<void>;
}

/** Loads the terminators and listens. Rejects when the store or the port is not to be had, or the model is not loaded. */
export async function startOverlayController(options: OverlayControllerOptions): Promise<OverlayController> {
  const core = new OverlayCore(options);
  await core.open();
  return core;
}

class OverlayCore implements OverlayController {
  readonly #options: OverlayControllerOptions;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #routers = new RouterRegistry();
  readonly #links = new LinkRegistry();
  readonly #peers = new PeerFeed(this.#routers);
  readonly #terminators: TerminatorRegistry;
  readonly #circuits: CircuitRegistry;
  readonly #prober: ShareProber;
  readonly #builder: CircuitBuilder;
  readonly #sessionFeed: SessionFeed;
  readonly #dataModel: DataModelFeed;
  readonly #validation: TerminatorValidation;
  readonly #follower: ModelFollower;
  readonly #dispatcher: CtrlDispatcher;
  readonly #certificates: CertificateExtension;
  #listener: ChannelListener | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: OverlayControllerOptions) {
    const { model, sessions, store, verifyServiceToken, serviceKeys, clock = systemClock, log } = options;
    this.#options = options;
    this.#clock = clock;
    this.#log = log;
    const routers = this.#routers;
    const links = this.#links;
    const terminators = (this.#terminators = new TerminatorRegistry(store));
    const circuits = (this.#circuits = new CircuitRegistry(routers, options.circuitLimits));
    const prober = (this.#prober = new ShareProber({
      model,
      terminators,
      routers,
      clock,
      log,
      ...(options.maxProbesPerSecond === undefined ? {} : { maxProbesPerSecond: options.maxProbesPerSecond }),
      ...(options.isConnectedElsewhere === undefined
        ? {}
        : { isConnectedElsewhere: options.isConnectedElsewhere }),
    }));
    const builder = (this.#builder = new CircuitBuilder({
      routers,
      terminators,
      links,
      circuits,
      clock,
      log,
      onTerminatorResult: (terminator, error) => prober.onCircuitResult(terminator, error),
    }));
    const sessionFeed = (this.#sessionFeed = new SessionFeed(sessions, routers));
    const dataModel = (this.#dataModel = new DataModelFeed(model, routers, serviceKeys));
    const validation = (this.#validation = new TerminatorValidation(terminators, routers, clock, log));
    this.#follower = new ModelFollower({ model, sessions, terminators, circuits, builder, prober, log });
    const sessionCheck = new ServiceSessionCheck(model, sessions, verifyServiceToken);
    const circuitRequests = new CircuitRequests({
      model,
      sessions: sessionCheck,
      builder,
      circuits,
      log,
      ...(options.pendingLimits === undefined ? {} : { limits: options.pendingLimits }),
    });
    const { issuer, secrets } = options;
    this.#certificates = new CertificateExtension({ issuer, model, store, secrets, clock, log });
    this.#dispatcher = new CtrlDispatcher({
      certificates: this.#certificates,
      model,
      routers,
      sessionFeed,
      dataModel,
      links,
      circuits,
      builder,
      circuitRequests,
      terminatorRequests: new TerminatorRequests({ terminators, sessions: sessionCheck, clock, log }),
      validation,
      prober,
      clock,
      log,
      sessionCheck,
    });
    model.onChange((change) => this.#onModelChange(change));
    routers.onEdgeChange((id) => prober.onRouterEdge(id));
  }

  async open(): Promise<void> {
    const { listen, tls, controllerId, log, model, tickMs = TICK_MS } = this.#options;
    await this.#terminators.load();
    if (this.#terminators.size > 0 && model.identities().next().done === true) {
      throw new FrontdoorError(
        'internal',
        'model-not-loaded',
        'the overlay model is empty but terminators are stored',
      );
    }
    for (const { id } of model.services()) this.#prober.onServiceKnown(id);
    this.#follower.sweep();
    this.#listener = await ChannelListener.open({
      host: listen.host,
      port: listen.port,
      tls,
      alpn: [CTRL_ALPN],
      ownId: controllerId,
      allowGroups: true,
      log,
      authorize: (hello, { id }, certificate) => this.#authorize(hello, id, certificate),
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
    return this.#prober;
  }

  get circuitCount(): number {
    return this.#circuits.size;
  }

  routers(): OverlayRouter[] {
    const found: OverlayRouter[] = [];
    for (const { id, name, kind } of this.#options.model.identities()) {
      const edge = kind === 'router' ? this.#routers.edgeAddress(id) : undefined;
      if (edge !== undefined)
        found.push({ id, name, ...edge, isOnline: this.#routers.get(id)?.edge !== undefined });
    }
    return found;
  }

  setTls(identity: TlsIdentity): void {
    this.#listener?.setTls(identity);
  }

  keysChanged(): void {
    this.#dataModel.onKeysChanged();
    this.#dataModel.onChange();
  }

  tick(): void {
    const nowMs = this.#clock.nowMs();
    try {
      this.#builder.tick(nowMs);
      this.#prober.tick(nowMs);
      this.#validation.tick(nowMs);
      this.#sessionFeed.tick(nowMs);
      this.#dataModel.tick(nowMs);
    } catch (error) {
      this.#log.error({ err: error }, 'overlay tick failed');
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#follower.stop();
    clearInterval(this.#timer);
    await this.#listener?.close('the controller stops');
    await this.#certificates.idle();
  }

  #authorize(hello: Frame, routerId: string, certificate: X509Certificate): HelloDecision {
    const { issuer, model } = this.#options;
    const connectedAtMs = this.#routers.get(routerId)?.connectedAtMs;
    const question = { hello, routerId, certificate, connectedAtMs, nowMs: this.#clock.nowMs() };
    try {
      const verdict = admitRouter(question, (leaf) => issuer.proveLeaf(leaf), model);
      if (!verdict.isAdmitted) return { accept: false, log: verdict.reason };
    } catch (error) {
      return { accept: false, log: messageOf(error) };
    }
    const { createTerminatorV2, singleRouterLinkSource, createCircuitV2, routerDataModel } =
      ControllerCapability;
    const extra = encodeControllerHello(versionHeader(process.platform, process.arch), [
      createTerminatorV2,
      singleRouterLinkSource,
      createCircuitV2,
      routerDataModel,
      ControllerCapability.supportsJwtLegacySessions,
    ]);
    return { accept: true, extra, heartbeat: this.#options.heartbeat ?? HEARTBEAT };
  }

  #onChannel(channel: Channel, helloFrame: Frame): void {
    const hello = decodeRouterHello(helloFrame);
    if (hello === undefined || this.#isClosed) {
      channel.close('the controller stops');
      return;
    }
    const router = new ConnectedRouter(channel, hello, this.#clock.nowMs());
    const before = this.#routers.get(router.id);
    if (before !== undefined) {
      this.#onGone(before, 'a newer channel took its place');
      before.channel.close('a newer channel took its place');
    }
    this.#routers.add(router);
    this.#log.info(
      { router: router.id, version: router.version, peer: channel.peer.address },
      'router connected',
    );
    channel.handle({
      onFrame: (frame) => this.#dispatcher.dispatch(router, frame),
      onClose: (reason) => this.#onGone(router, reason),
    });
    if (channel.isClosed) return;
    // Its process may be a new one that knows nothing of them.
    this.#circuits.suspectOf(router.id);
    this.#certificates.onConnect(router);
    this.#peers.onConnect(router);
    const headers = new HeaderWriter().bool(headerId.edgeCtrl.routerDataModel, true);
    const data = { instant: 'true', routerModel: 'true' };
    router.send(ctrlMessages.serverHello.frame({ version: WIRE_VERSION, data }, headers));
    this.#validation.onConnect(router);
    this.#prober.onRouterConnected(router);
  }

  #onGone(router: ConnectedRouter, reason: string): void {
    if (!this.#routers.remove(router)) return;
    this.#dataModel.onRouterGone(router);
    if (this.#isClosed) return;
    this.#log.warn({ router: router.id, reason }, 'router disconnected');
    this.#links.removeOf(router.id);
    this.#builder.onRouterGone(router);
    this.#prober.onRouterGone(router);
    this.#peers.onGone(router.id);
  }

  #onModelChange(change: ModelChange): void {
    if (this.#isClosed) return;
    this.#dataModel.onChange();
    this.#follower.onChange(change);
    if (change.type !== 'identity' || !change.removed) return;
    const router = this.#routers.get(change.id);
    this.#routers.forget(change.id);
    if (router === undefined) return;
    router.channel.close('the router was deleted');
    this.#peers.onRemoved(change.id);
  }
}
