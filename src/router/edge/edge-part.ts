/**
 * The edge of a router: accepts SDKs and reports them to controllers. It exists only with the `edge` section. It also
 * exists without an edge listener, which is one of `listeners`, for the data model and its file.
 */
import type { Clock, Log, WorkerPool } from '#base';
import { SummedLog, type ChannelPort, type ServerTls, type TlsPorts } from '#net';
import type { Channel } from '#net/channel';
import { contentType, textOfBody, type Frame } from '#wire';
import { ctrlMessages } from '#wire/ctrl';
import type { EdgeListenerConfig, RouterConfig, XgressConfig } from '../config/router-config.ts';
import { isAnnouncedHost } from '../ctrl/announced-hosts.ts';
import { ApiSessionMessages } from '../ctrl/api-session-messages.ts';
import { ApiSessionRegistry, type KnownApiSession } from '../ctrl/api-session-registry.ts';
import type { CircuitAsker } from '../ctrl/circuit-asker.ts';
import { ConnectEvents } from '../ctrl/connect-events.ts';
import type { Controllers, CtrlHandlers, InspectSource } from '../ctrl/controllers.ts';
import { EdgeHello } from '../ctrl/edge-hello.ts';
import { SessionHeartbeat } from '../ctrl/session-heartbeat.ts';
import { TerminatorMessages, type TerminatorCheck } from './terminator-messages.ts';
import type { CircuitFaults } from '../forwarder/circuit-faults.ts';
import type { Forwarder } from '../forwarder/forwarder.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { ControllerKeys } from '../model/controller-keys.ts';
import { DataModel } from '../model/data-model.ts';
import { DataModelFile } from '../model/data-model-file.ts';
import { DataModelSubscription } from '../model/data-model-subscription.ts';
import type { EgressDialers } from '../xgress/egress-dialers.ts';
import type { XgressEnds } from '../xgress/xgress-ends.ts';
import { ControllerTokens } from './controller-tokens.ts';
import { edgeDialer } from './edge-dialer.ts';
import { EdgeListener } from './edge-listener.ts';
import { EdgeListeners } from './edge-listeners.ts';
import type { EdgePeer } from './edge-peer.ts';
import { RefusedHellos } from './refused-hellos.ts';
import { EdgeTerminatorRegistry } from './edge-terminator-registry.ts';
import { inspectSdkCircuits } from './sdk-circuits.ts';
import { ServiceGrants } from './service-grants.ts';
import { SessionWatch } from './session-watch.ts';
import { TokenSession } from './token-session.ts';
import { TokenSessions } from './token-sessions.ts';

export interface EdgePartOptions {
  readonly routerId: string;
  /** As in `EdgeListenerOptions`. */
  readonly release?: string | undefined;
  /** Without an `edge` section, the router accepts no SDKs and has only terminators of other bindings. */
  readonly config: RouterConfig;
  readonly controllers: Controllers;
  readonly forwarder: Forwarder;
  readonly ends: XgressEnds;
  readonly faults: CircuitFaults;
  readonly dialers: EgressDialers;
  readonly asker: CircuitAsker;
  readonly rateLimiter: WorkerPool;
  readonly metrics: Metrics;
  /** Checks the validity of terminators with other bindings. */
  readonly terminatorChecks: readonly TerminatorCheck[];
  /** Called when the data model's index decreased, so that the index of the membership is reset, too. */
  readonly onIndexReset: () => void;
  /** Returns the current PEM bundle of the authorities of SDKs' certificates. */
  readonly ca: () => string;
  readonly clock: Clock;
  readonly log: Log;
}

interface EdgeServices {
  readonly tokenSessions: TokenSessions;
  readonly grants: ServiceGrants;
  readonly watch: SessionWatch;
}

export class EdgePart {
  readonly terminators: EdgeTerminatorRegistry;
  /** Empty without the `edge` section. */
  readonly model = new DataModel();
  readonly #options: EdgePartOptions;
  readonly #sessions: ApiSessionRegistry;
  readonly #refused: RefusedHellos;
  readonly #connectEvents: ConnectEvents | undefined;
  readonly #sessionHeartbeat: SessionHeartbeat | undefined;
  readonly #tokens: ControllerTokens;
  #subscription: DataModelSubscription | undefined;
  #modelFile: DataModelFile | undefined;
  readonly #listeners = new EdgeListeners();
  #services: EdgeServices | undefined;
  #isDraining = false;

  private constructor(options: EdgePartOptions) {
    this.#options = options;
    const { config, controllers, rateLimiter, clock, log, metrics } = options;
    const { edge } = config;
    this.#tokens = new ControllerTokens({
      keys: new ControllerKeys(this.model),
      isAnnouncedHost: (host) => isAnnouncedHost(controllers, host),
      clock,
    });
    this.#refused = new RefusedHellos({ routerId: options.routerId, controllers, clock });
    this.#sessions = new ApiSessionRegistry((session) => this.#listeners.closeSession(session));
    this.terminators = new EdgeTerminatorRegistry({
      log,
      requestTimeoutMs: config.ctrl.requestTimeoutMs,
      controllers,
      pool: rateLimiter,
      onEstablished: (terminator) =>
        this.#listeners.peerOf(terminator.channel)?.binds.onEstablished(terminator),
      onFailed: (terminator, reason) =>
        this.#listeners.peerOf(terminator.channel)?.binds.onFailed(terminator, reason),
    });
    if (edge !== undefined) {
      this.#connectEvents = new ConnectEvents({ config: config.connectEvents, controllers, clock });
      this.#sessionHeartbeat = new SessionHeartbeat({
        intervalMs: edge.heartbeatIntervalMs,
        controllers,
        tokens: () => this.#announcedTokens(),
      });
    }
    metrics.gauge('edge.connections', () => [...this.#listeners.peers()].length);
  }

  /** Loads the data model and starts to process messages of controllers. */
  static async open(options: EdgePartOptions): Promise<EdgePart> {
    const part = new EdgePart(options);
    const { config, controllers, clock, log, onIndexReset } = options;
    const { edge } = config;
    if (edge !== undefined) {
      const model = part.model;
      const file = { path: edge.db, saveIntervalMs: edge.dbSaveIntervalMs, model, log };
      part.#modelFile = await DataModelFile.open(file);
      part.#subscription = new DataModelSubscription({ model, controllers, clock, log, onIndexReset });
    }
    return part;
  }

  /** Rejects with a `FrontdoorError` when the port, or the protocol on it, is in use. */
  async listen(config: EdgeListenerConfig, ports: TlsPorts, tls: ServerTls): Promise<void> {
    const { routerId, release, forwarder, ends, faults, controllers, asker, ca, clock, log } = this.#options;
    const { address, xgress } = config;
    const { tokenSessions, grants } = (this.#services ??= this.#openServices(xgress));
    const port = await this.#openPort(config, ports, tls);
    const listener = await EdgeListener.open({
      routerId,
      release,
      config,
      port,
      sessions: this.#sessions,
      tokenSessions,
      refused: this.#refused,
      ca,
      clock,
      log,
      context: {
        log,
        summedLog: new SummedLog(log),
        forwarder,
        terminators: this.terminators,
        asker,
        grants,
        tokenSessions,
        sendToControllers: (frame) => controllers.broadcast(frame) > 0,
        reportFault: (circuitId, controllerId, isTerminator) =>
          faults.onCircuitClosed(circuitId, controllerId, isTerminator),
        ends,
        xgress,
      },
      onOpened: (identityId, peer) => {
        this.#connectEvents?.onOpened(identityId, peer.channel.peer.address, `${address.host}:${port.port}`);
        if (this.#isDraining) peer.announceStop();
      },
      onClosed: (identityId) => this.#connectEvents?.onClosed(identityId),
    });
    this.#listeners.add(config, listener);
    log.info({ protocol: address.type, port: port.port }, 'edge listener is open');
  }

  /** The first edge listener in the file. */
  get listener(): EdgeListener | undefined {
    return this.#listeners.first;
  }

  /** The interfaces through which tunnels follow the data model and register what they host. */
  get forTunnel() {
    const { controllers, rateLimiter, config, clock } = this.#options;
    return {
      model: this.model,
      controllers,
      rateLimiter,
      requestTimeoutMs: config.ctrl.requestTimeoutMs,
      clock,
    };
  }

  /** `moreChecks` validate terminators before the checks of the options. */
  handlers(moreChecks: readonly TerminatorCheck[] = []): CtrlHandlers[] {
    const { controllers, terminatorChecks } = this.#options;
    const { edge } = this.#options.config;
    return [
      new TerminatorMessages(this.terminators, [...moreChecks, ...terminatorChecks]).handlers(),
      new Map([[contentType.circuitsLeaving, (frame: Frame) => this.#onLeaving(frame)]]),
      ...(edge === undefined
        ? []
        : [
            new Map([[contentType.sessionRemoved, (frame: Frame) => this.#onSessionsRemoved(frame)]]),
            new ApiSessionMessages(this.#sessions, controllers).handlers(),
            new EdgeHello({
              advertised: () => this.#listeners.advertised(),
              dataModelIndex: () => this.model.index,
              onData: (data, from) => this.#refused.onServerData(data, from),
            }).handlers(),
            this.#subscription!.handlers(),
          ]),
    ];
  }

  readonly inspect: InspectSource = (name) => {
    if (name === 'identity-connection-statuses')
      return this.#connectEvents?.inspect(this.#listeners.connections());
    if (name === 'router-sdk-circuits') return inspectSdkCircuits(this.#listeners.peers());
    return this.#subscription?.inspect(name);
  };

  /** Asks peers of Frontdoor to use another router. Peers without another one are served until the end. */
  drain(): void {
    this.#isDraining = true;
    for (const peer of this.#listeners.peers()) peer.announceStop();
  }

  /** Number of dials whose circuits are pending. */
  get dialingCount(): number {
    let count = 0;
    for (const peer of this.#listeners.peers()) count += peer.dialingCount;
    return count;
  }

  async close(): Promise<void> {
    this.#sessionHeartbeat?.close();
    this.#connectEvents?.close();
    this.#services?.watch.close();
    await this.#listeners.close();
    this.#refused.close();
    this.terminators.close();
    this.#subscription?.close();
    await this.#modelFile?.close();
  }

  /** Tokens that expire without reports. Those that controllers sign have their own time. */
  #announcedTokens(): ReadonlySet<string> {
    const sessions = [...this.#listeners.peers()].map(({ session }) => session);
    return new Set(sessions.filter((it) => !(it instanceof TokenSession)).map(({ token }) => token));
  }

  #onSessionsRemoved(frame: Frame): void {
    const tokens = new Set(ctrlMessages.sessionRemoved.decode(frame.body).tokens);
    for (const peer of this.#listeners.peers()) peer.endServiceSessions(tokens);
  }

  #onLeaving(frame: Frame): void {
    const circuitIds = textOfBody(frame).split('\n');
    for (const peer of this.#listeners.peers()) peer.announceLeaving(circuitIds);
  }

  /** What all edge listeners share. `xgress` is the flow control of circuits to services that SDKs host. */
  #openServices(xgress: XgressConfig): EdgeServices {
    const { dialers, log } = this.#options;
    const { model, terminators } = this;
    const peers = (): Iterable<EdgePeer> => this.#listeners.peers();
    const open = (): Iterable<KnownApiSession> => [...peers()].map(({ session }) => session);
    const tokenSessions = new TokenSessions({ tokens: this.#tokens, model, open });
    const grants = new ServiceGrants(model, this.#tokens);
    const peerOf = (channel: Channel): EdgePeer | undefined => this.#listeners.peerOf(channel);
    dialers.add('edge', edgeDialer({ terminators, peerOf, config: xgress }));
    const watch = new SessionWatch({ model, sessions: tokenSessions, grants, peers, log });
    return { tokenSessions, grants, watch };
  }

  #openPort({ path, address }: EdgeListenerConfig, ports: TlsPorts, tls: ServerTls): Promise<ChannelPort> {
    const { config } = this.#options;
    const { handshakeTimeoutMs, webSockets: times } = config;
    const { type, host, port } = address;
    const place = config.placeOf(path, 'address', 'bind');
    return type === 'wss' || type === 'ws'
      ? ports.openWebSocket({ protocol: type, host, port, place, tls, times })
      : ports.open({ host, port, place, tls, handshakeTimeoutMs });
  }
}

export function edgeListenerOf({ listeners }: RouterConfig): EdgeListenerConfig | undefined {
  return listeners.find((listener) => listener.binding === 'edge');
}
