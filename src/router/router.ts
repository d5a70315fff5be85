/**
 * The overlay router: control channels out, edge listener in, circuits between. Started from a configuration file,
 * in a process of its own or inside `up`.
 */
import { FrontdoorError, systemClock, type Clock, type Log } from '#base';
import type { Channel } from '#net';
import type { Frame, FrameHeaders } from '#wire';
import { ctrlMessages } from '#wire/ctrl';
import { ApiSessionRegistry } from './ctrl/api-session-registry.ts';
import { CtrlHandlers } from './ctrl/ctrl-handlers.ts';
import { CtrlLink } from './ctrl/ctrl-link.ts';
import { FaultReporter } from './ctrl/fault-reporter.ts';
import { AcknowledgementQueue } from './edge/acknowledgement-queue.ts';
import { EdgeListener } from './edge/edge-listener.ts';
import type { EdgePeer } from './edge/edge-peer.ts';
import { TerminatorRegistry } from './edge/terminator-registry.ts';
import { Forwarder } from './forwarder.ts';
import { CertificateRenewal } from './renewal/certificate-renewal.ts';
import { loadRouterIdentity, type RouterIdentity } from './config/router-identity.ts';
import type { RouterConfig } from './config/router-config.ts';

export interface RouterOptions {
  readonly config: RouterConfig;
  readonly log: Log;
  /** Tells when certificates are due. */
  readonly clock?: Clock;
}

const SESSION_HEARTBEAT_MS = 60_000;

export class Router {
  readonly id: string;
  readonly #config: RouterConfig;
  readonly #log: Log;
  readonly #forwarder: Forwarder;
  readonly #sessions: ApiSessionRegistry;
  readonly #terminators: TerminatorRegistry;
  readonly #faults: FaultReporter;
  readonly #acknowledgements: AcknowledgementQueue;
  readonly #links = new Map<CtrlLink, CtrlHandlers>();
  readonly #allLinks: CtrlLink[] = [];
  readonly #sessionTimer: NodeJS.Timeout;
  readonly #renewal: CertificateRenewal;
  #identity: RouterIdentity;
  #edge: EdgeListener | undefined;

  private constructor({ config, log, clock = systemClock }: RouterOptions) {
    this.#config = config;
    this.#log = log;
    for (const { path, line, message } of config.warnings)
      log.warn({ file: config.file, line, key: path }, message);
    this.#identity = loadRouterIdentity(config);
    this.id = this.#identity.id;
    this.#faults = new FaultReporter(() => this.#channels());
    this.#forwarder = new Forwarder((circuitId) => this.#faults.onForwardFault(circuitId));
    this.#sessions = new ApiSessionRegistry((session) => this.#edge?.closeSession(session));
    this.#terminators = new TerminatorRegistry({
      log,
      requestTimeoutMs: config.ctrl.requestTimeoutMs,
      sendToControllers: (frame) => this.#sendToControllers(frame),
      onEstablished: (terminator) => this.#peerOf(terminator.channel)?.onBindEstablished(terminator),
      onFailed: (terminator, reason) => this.#peerOf(terminator.channel)?.onBindFailed(terminator, reason),
    });
    this.#acknowledgements = new AcknowledgementQueue(() => this.#edge?.peers() ?? []);
    this.#renewal = new CertificateRenewal({
      config,
      identity: () => this.#identity,
      controller: () => this.#controller()?.channel,
      use: (identity) => {
        this.#identity = identity;
        this.#edge?.setTls(identity.server);
      },
      clock,
      log,
    });
    this.#sessionTimer = setInterval(() => this.#reportSessions(), SESSION_HEARTBEAT_MS);
  }

  /** Listens, then dials the controllers; a controller that is away is dialed again and again. */
  static async start(options: RouterOptions): Promise<Router> {
    const router = new Router(options);
    try {
      await router.#listen();
    } catch (error) {
      await router.close();
      throw error;
    }
    router.#dialControllers();
    return router;
  }

  /** Port of the edge listener; 0 without one. */
  get edgePort(): number {
    return this.#edge?.port ?? 0;
  }

  get isConnected(): boolean {
    return this.#links.size > 0;
  }

  get circuitCount(): number {
    return this.#forwarder.circuitCount;
  }

  /** An edge channel for a peer in this process, whose certificate the caller vouches for. */
  acceptMemory(fingerprint: string, helloId: string, helloHeaders: FrameHeaders): Promise<Channel> {
    if (this.#edge === undefined) throw new Error('the router has no edge listener');
    return this.#edge.acceptMemory(fingerprint, helloId, helloHeaders);
  }

  /** Renews the certificates now if that is due; true: new ones are in use. Rejects with what is in the way. */
  renewCertificates(): Promise<boolean> {
    return this.#renewal.check();
  }

  async close(): Promise<void> {
    clearInterval(this.#sessionTimer);
    this.#renewal.close();
    this.#acknowledgements.close();
    await this.#edge?.close();
    this.#terminators.close();
    this.#faults.close();
    for (const link of this.#allLinks) link.close();
  }

  async #listen(): Promise<void> {
    const { edgeListener } = this.#config;
    if (edgeListener === undefined) {
      this.#log.warn({}, 'no edge listener is configured: SDKs cannot connect');
      return;
    }
    const opening = EdgeListener.open({
      routerId: this.id,
      host: edgeListener.address.host,
      port: edgeListener.address.port,
      tls: this.#identity.server,
      helloTimeoutMs: edgeListener.helloTimeoutMs,
      sessions: this.#sessions,
      log: this.#log,
      context: {
        log: this.#log,
        forwarder: this.#forwarder,
        terminators: this.#terminators,
        controller: () => this.#controller(),
        sendToControllers: (frame) => this.#sendToControllers(frame),
        reportFault: (circuitId, isTerminator) => this.#faults.onCircuitClosed(circuitId, isTerminator),
        acknowledgeLater: (circuit) => this.#acknowledgements.add(circuit),
      },
      onConnected: (identityId, isConnected, peer) => {
        this.#sendToControllers(connectEvent(identityId, isConnected, peer.address));
      },
    });
    this.#edge = await opening.catch((cause: unknown) => {
      throw listenFailure(cause, edgeListener.address.port, this.#config.file);
    });
    this.#log.info({ port: this.#edge.port }, 'edge listener is open');
  }

  #dialControllers(): void {
    const { ctrl } = this.#config;
    for (const endpoint of ctrl.endpoints) {
      const link = new CtrlLink({
        routerId: this.id,
        endpoint,
        tls: () => this.#identity.client,
        connectTimeoutMs: ctrl.connectTimeoutMs,
        heartbeat: ctrl.heartbeat,
        log: this.#log,
        onConnected: (it) => this.#onConnected(it),
        onFrame: (frame, it) => this.#links.get(it)?.onFrame(frame),
        onDisconnected: (it) => {
          this.#links.delete(it);
        },
        ...(ctrl.bind === undefined ? {} : { localAddress: ctrl.bind }),
      });
      this.#allLinks.push(link);
    }
  }

  #onConnected(link: CtrlLink): void {
    const channel = link.channel!;
    const { edgeListener } = this.#config;
    const handlers = new CtrlHandlers(
      {
        log: this.#log,
        sessions: this.#sessions,
        terminators: this.#terminators,
        forwarder: this.#forwarder,
        advertised: () =>
          edgeListener === undefined
            ? undefined
            : {
                host: edgeListener.advertise.host,
                port: edgeListener.advertise.port || this.edgePort,
                bind: `${edgeListener.address.host}:${this.edgePort}`,
              },
        peerOf: (of) => this.#peerOf(of),
        ownCircuit: (circuitId, owner) => this.#faults.own(circuitId, owner),
        disownCircuit: (circuitId) => this.#faults.disown(circuitId),
        onCertificates: (frame, from) => this.#renewal.onCertificates(frame, from),
      },
      channel,
    );
    this.#links.set(link, handlers);
    channel.send(ctrlMessages.routerLinks.frame({ links: [], fullRefresh: true }));
    this.#reportConnected(channel);
    this.#terminators.onControllerConnected();
    this.#renewal.onControllerConnected();
  }

  /** All identities that have channels here: a controller that comes back starts from nothing. */
  #reportConnected(channel: Channel): void {
    const events = [...(this.#edge?.connectedIdentities() ?? [])].map((identityId) => ({
      identityId,
      isConnected: true,
      connectTimes: [],
    }));
    channel.send(ctrlMessages.connectEvents.frame({ events, fullState: true }));
  }

  /** Keeps the sessions of standing channels from idling out. */
  #reportSessions(): void {
    const tokens = new Set([...(this.#edge?.peers() ?? [])].map((peer) => peer.session.token));
    if (tokens.size > 0)
      this.#sendToControllers(ctrlMessages.apiSessionHeartbeat.frame({ tokens: [...tokens] }));
  }

  #controller(): { channel: Channel; id: string } | undefined {
    for (const link of this.#links.keys()) {
      if (link.channel !== undefined) return { channel: link.channel, id: link.controllerId };
    }
    return undefined;
  }

  #channels(): Channel[] {
    return [...this.#links.keys()].map((link) => link.channel).filter((channel) => channel !== undefined);
  }

  #sendToControllers(frame: Frame): boolean {
    const channels = this.#channels();
    // Each channel numbers its own copy.
    for (const channel of channels) channel.send({ ...frame });
    return channels.length > 0;
  }

  #peerOf(channel: Channel): EdgePeer | undefined {
    return this.#edge?.peerOf(channel);
  }
}

function connectEvent(identityId: string, isConnected: boolean, address: string): Frame {
  const connectTimes = isConnected
    ? [{ connectTime: BigInt(Date.now()), srcAddr: address, dstAddr: '' }]
    : [];
  return ctrlMessages.connectEvents.frame({
    events: [{ identityId, isConnected, connectTimes }],
    fullState: false,
  });
}

function listenFailure(cause: unknown, port: number, file: string): unknown {
  if ((cause as NodeJS.ErrnoException).code !== 'EADDRINUSE') return cause;
  const message = `port ${port} is taken: choose another for the edge listener in ${file}`;
  return new FrontdoorError('conflict', 'port-taken', message, { cause });
}
