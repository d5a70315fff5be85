/**
 * Keeps a channel to one router while the router is listed, and redials with back-off. A channel belongs to the
 * API session of its hello; after a new log-in another channel replaces it, and the former one ends when its
 * circuits have.
 */
import { BackOff, FrontdoorError, messageOf, type Log } from '#base';
import { dialChannel, isUnderlayReachable, type Channel, type ChannelOpener } from '#net/channel';
import { HeaderWriter, headerId, versionHeader } from '#wire';
import type { EdgeApiClient } from './edge-api-client.ts';
import { EdgeChannel } from './edge-channel.ts';
import { RouterSilenceMachine, SILENCE_CHECK_MS } from './router-silence-machine.ts';

export interface RouterConnectionOptions {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** The router's cost, as the control plane lists it. */
  readonly cost: number;
  readonly api: EdgeApiClient;
  readonly log: Log;
  readonly openChannel?: ChannelOpener | undefined;
  /** Whether new circuits can use another router, so that one that is shutting down receives no circuits. */
  hasOtherWay(connection: RouterConnection): boolean;
  onUp(connection: RouterConnection): void;
  onDown(connection: RouterConnection, reason: string): void;
}

const REDIAL = { minMs: 200, maxMs: 5_000, factor: 1.6, jitter: 0.3 };
const CONNECT_TIMEOUT_MS = 10_000;
/** Limit for another connection, which shows whether the router can be reached while the channel is silent. */
const PROBE_TIMEOUT_MS = 1_500;
/** Limit for the remaining circuits of a replaced channel, and the interval of the check. */
const RETIRE_MS = 3_600_000;
const RETIRE_LOOK_MS = 1_000;
/**
 * Our routers close the channel of a client that stops sending heartbeats after it sent some. OpenZiti's edge routers do
 * not answer heartbeats, so any data counts here, and `RouterLatency` has each router send some.
 */
const HEARTBEAT = { sendIntervalMs: 2_000, closeAfterMs: 8_000, countsTraffic: true };

export class RouterConnection {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** The router's cost, as the control plane lists it. */
  listedCost: number;
  /** When the control plane listed the router last, on the monotonic clock. */
  listedMs = performance.now();
  readonly #options: RouterConnectionOptions;
  readonly #backOff = new BackOff(REDIAL);
  readonly #stop = new AbortController();
  #edge: EdgeChannel | undefined;
  /** Number of the current channel, which distinguishes it from replaced ones. */
  #generation = 0;
  #token = '';
  /** Id of a channel that was lost and not yet replaced, which the router may not have noticed; empty if there is none. */
  #formerId = '';
  /** Id of the current channel while it is silent and another one replaces it; empty otherwise. */
  #silentId = '';
  /** The session of the last log-in; empty before there was one while a channel exists. */
  #wantedToken = '';
  #isConnecting = false;
  readonly #retired = new Map<EdgeChannel, NodeJS.Timeout>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RouterConnectionOptions) {
    this.name = options.name;
    this.host = options.host;
    this.port = options.port;
    this.listedCost = options.cost;
    this.#options = options;
    void this.#connect();
  }

  /** The channel, if there is one. */
  get edge(): EdgeChannel | undefined {
    return this.#edge;
  }

  /** Whether it can accept circuits now. */
  get isUp(): boolean {
    return this.#edge !== undefined && !this.#edge.isClosed;
  }

  /** Whether it carries no circuits, also on replaced channels. */
  get isIdle(): boolean {
    return (this.#edge?.circuitCount ?? 0) === 0 && this.#retired.size === 0;
  }

  /**
   * The cost of a circuit through this router: the measured round trip in whole ms, like that of a link, and the listed
   * cost. Infinity while there is no measurement.
   */
  get cost(): number {
    return Math.round(this.#edge?.latency.ms ?? Infinity) + this.listedCost;
  }

  /** After a log-in, service sessions belong to the new session, and so must the channel. */
  followSession(token: string): void {
    this.#wantedToken = token;
    if (this.#edge === undefined || this.#token === token || this.#isConnecting) return;
    clearTimeout(this.#timer);
    void this.#connect();
  }

  /** Resolves when nothing of this end is on its way; see `EdgeChannel`. */
  async settled(): Promise<void> {
    const channels = [...this.#retired.keys(), ...(this.#edge === undefined ? [] : [this.#edge])];
    await Promise.all(channels.map((channel) => channel.settled()));
  }

  close(reason: string): void {
    this.#stop.abort();
    clearTimeout(this.#timer);
    for (const [edge, timer] of this.#retired) {
      clearInterval(timer);
      edge.close(reason);
    }
    this.#retired.clear();
    this.#edge?.close(reason);
  }

  async #connect(): Promise<void> {
    const { api, log } = this.#options;
    let token = '';
    this.#isConnecting = true;
    try {
      const session = await api.session();
      token = session.token;
      const channel = await this.#open(session.identityId, token);
      if (this.#stop.signal.aborted) {
        channel.close('no longer wanted');
        return;
      }
      this.#backOff.reset();
      this.#isConnecting = false;
      this.#take(channel, token);
    } catch (error) {
      this.#isConnecting = false;
      if (this.#stop.signal.aborted) return;
      // A refusal may mean that the session has ended. If this check gets no response, the next refusal
      // repeats it.
      if (error instanceof FrontdoorError && error.code === 'channel-refused') {
        await api.checkSession(token).catch(() => {});
        if (this.#stop.signal.aborted) return;
      }
      const delayMs = this.#backOff.next();
      log.warn({ router: this.name, err: messageOf(error), retryInMs: delayMs }, 'cannot reach router');
      this.#timer = setTimeout(() => void this.#connect(), delayMs);
    }
  }

  #take(channel: Channel, token: string): void {
    const { log, onUp } = this.#options;
    const former = this.#edge;
    const generation = (this.#generation += 1);
    this.#token = token;
    this.#edge = new EdgeChannel(channel, log, {
      hasOtherWay: () => this.#options.hasOtherWay(this),
      onClosed: (reason) => this.#onClosed(generation, channel.id, reason),
    });
    if (former !== undefined && this.#silentId !== '') former.isReplaced = true;
    this.#formerId = '';
    this.#silentId = '';
    this.#watch(channel, this.#edge);
    if (former !== undefined && !former.isClosed) this.#retire(former);
    if (!this.#edge.isClosed) onUp(this);
    if (this.#wantedToken !== '') this.followSession(this.#wantedToken);
  }

  #retire(edge: EdgeChannel): void {
    const deadlineMs = performance.now() + RETIRE_MS;
    const timer = setInterval(() => {
      if (edge.circuitCount > 0 && !edge.isClosed && performance.now() < deadlineMs) return;
      clearInterval(timer);
      this.#retired.delete(edge);
      edge.close('another channel replaced it');
    }, RETIRE_LOOK_MS);
    timer.unref();
    this.#retired.set(edge, timer);
  }

  #open(identityId: string, token: string): Promise<Channel> {
    const { api, log, openChannel } = this.#options;
    const hello = new HeaderWriter()
      .text(headerId.channel.helloVersion, versionHeader(process.platform, process.arch, api.ownVersion))
      .text(headerId.edge.sessionToken, token);
    const formerId = this.#formerId || this.#silentId;
    if (formerId !== '') hello.text(headerId.edge.formerChannel, formerId);
    if (formerId !== '' && this.#formerId === '') hello.bool(headerId.edge.formerChannelIsOpen, true);
    const helloHeaders = hello.build();
    const opened = openChannel?.(this.name, identityId, helloHeaders, api.identity.certPem);
    if (opened !== undefined) return opened;
    return dialChannel({
      ...this.#address(),
      helloId: identityId,
      helloHeaders,
      timeoutMs: CONNECT_TIMEOUT_MS,
      heartbeat: HEARTBEAT,
      log,
      signal: this.#stop.signal,
    });
  }

  #address() {
    const { certPem: cert, keyPem: key, caPem: ca } = this.#options.api.identity;
    const { outward } = this.#options.api.connection;
    return { host: this.host, port: this.port, tls: { cert, key, ca }, alpn: 'ziti-edge', outward };
  }

  /** OpenZiti's routers send too little for this, and a channel within the process cannot be lost. */
  #watch(channel: Channel, edge: EdgeChannel): void {
    if (edge.isLossy || !edge.copiesData) return;
    const stop = new AbortController();
    const silence = new RouterSilenceMachine(channel.reads, performance.now());
    const timer = setInterval(() => {
      if (channel.isClosed || this.#edge !== edge) {
        clearInterval(timer);
        stop.abort();
        return;
      }
      const step = silence.check(channel.reads, performance.now());
      if (step === 'replace') this.#replace(channel);
      else if (step === 'probe')
        void isUnderlayReachable({
          ...this.#address(),
          timeoutMs: PROBE_TIMEOUT_MS,
          signal: stop.signal,
        }).then((isReachable) => silence.probed(isReachable, performance.now()));
    }, SILENCE_CHECK_MS).unref();
  }

  /** Circuits of the silent channel continue over it if it is not lost after all. */
  #replace(channel: Channel): void {
    if (this.#isConnecting) return;
    this.#options.log.info({ router: this.name }, 'nothing comes from the router, replacing the channel');
    this.#silentId = channel.id;
    clearTimeout(this.#timer);
    void this.#connect();
  }

  #onClosed(generation: number, channelId: string, reason: string): void {
    if (generation !== this.#generation) return;
    this.#formerId = channelId;
    this.#edge = undefined;
    this.#options.onDown(this, reason);
    if (this.#stop.signal.aborted || this.#isConnecting) return;
    this.#timer = setTimeout(() => void this.#connect(), this.#backOff.next());
  }
}
