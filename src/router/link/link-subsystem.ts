/**
 * The router's links to other routers. It dials the peers that controllers announce, accepts links, keeps one link for
 * each key, passes frames between links and the forwarder, and reports links to controllers. `LinkRegistryMachine`
 * decides; this file owns the sockets and timers.
 */
import { randomBytes } from 'node:crypto';
import { base62, messageOf, RunningClock, systemClock, WorkerPool, type Clock, type Log } from '#base';
import { dialerThrough, type OutwardDialer, type ServerTls, type TlsPorts } from '#net';
import type { Channel, TlsIdentity } from '#net/channel';
import { contentType, type Frame } from '#wire';
import { ctrlMessages, FaultSubject, PeerState, type AdvertisedListener } from '#wire/ctrl';
import type { ForwarderConfig, HttpProxyConfig, LinkConfig, RouterConfig } from '../config/router-config.ts';
import type { Controllers, CtrlHandlers, InspectSource } from '../ctrl/controllers.ts';
import type { Forwarding } from '../forwarder/destination.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { dialerRules, dialLink } from './link-dialer.ts';
import type { DialOrder, LinkEffect, LinkEvent } from './link-event.ts';
import type { TracedPipes } from '../ctrl/traced-pipe.ts';
import { inspectLinks } from './link-inspection.ts';
import { LinkListener, listenerFault, type AcceptedLink } from './link-listener.ts';
import { LinkRegistryMachine } from './link-registry-machine.ts';
import { LinkReporter, REPORT_INTERVAL_MS, type LinkConnection } from './link-reporter.ts';
import { disposeLinkMetrics, Link, type LinkFacts } from './link.ts';

export interface LinkSubsystemOptions {
  readonly routerId: string;
  readonly config: LinkConfig;
  /** Returns the place of a setting for messages: file, line and key. */
  readonly placeOf: RouterConfig['placeOf'];
  readonly forwarder: Pick<ForwarderConfig, 'linkDialQueueLength' | 'linkDialWorkerCount'>;
  /** Time limit for the TLS handshake of an accepted connection. */
  readonly handshakeTimeoutMs: number;
  readonly proxy: HttpProxyConfig | undefined;
  readonly ports: TlsPorts;
  /** Returns the current identity. The caller that replaces it also updates the ports that are open already. */
  tls(): { readonly client: TlsIdentity; readonly server: ServerTls };
  readonly controllers: Controllers;
  readonly forwarding: Forwarding;
  readonly metrics: Metrics;
  /** The pool of `forwarder.rateLimited…`, shared with other requests to controllers. */
  readonly rateLimiter: WorkerPool;
  /** Traces of the links, which controllers ask for. */
  readonly pipes?: TracedPipes | undefined;
  /** Called when a link falls silent, so that its new cost is reported to controllers at once. */
  readonly onSilent?: (() => void) | undefined;
  readonly clock?: Clock | undefined;
  /** Returns a random number from 0 to 1. */
  readonly random?: (() => number) | undefined;
  readonly log: Log;
}

/** A link in the health checks. */
export interface LinkView {
  readonly linkId: string;
  readonly destRouterId: string;
  /** Mean round trip in nanoseconds; undefined before the first measurement. */
  readonly latency: number | undefined;
  readonly connections: readonly LinkConnection[];
}

/** The longest delay of the timer, because the clock can be adjusted. */
const MAX_SLEEP_MS = 60_000;
/**
 * Maximum number of links: one for each pair of dialer and listener, and links that are being replaced. Further ones
 * are refused.
 */
const MAX_LINKS_PER_PEER = 128;

export class LinkSubsystem {
  /** Dials in progress and waiting. Named `pool.link.dialer.…` in gauges. */
  readonly dialPool: WorkerPool;
  readonly #options: LinkSubsystemOptions;
  readonly #clock: Clock;
  /** Excludes the time in which this process was stopped, so that peers do not count as silent. */
  readonly #running: RunningClock;
  readonly #log: Log;
  readonly #machine: LinkRegistryMachine;
  readonly #reports: LinkReporter;
  readonly #links = new Set<Link>();
  readonly #closing = new Map<Link, { readonly atMs: number; readonly reason: string }>();
  readonly #listeners: LinkListener[] = [];
  readonly #stop = new AbortController();
  readonly #outward: OutwardDialer;
  readonly #events: LinkEvent[] = [];
  readonly #reportTimer: NodeJS.Timeout;
  readonly #checkTimer: NodeJS.Timeout;
  #timer: NodeJS.Timeout | undefined;
  #isStepping = false;

  private constructor(options: LinkSubsystemOptions) {
    const { config, routerId, controllers, forwarder, log, random = Math.random } = options;
    this.#options = options;
    this.#outward = dialerThrough(options.proxy, 'the router file');
    this.#clock = options.clock ?? systemClock;
    this.#log = log;
    const stepMs = Math.max(2 * config.heartbeat.checkIntervalMs, 2_000);
    this.#running = new RunningClock(stepMs, () => performance.now());
    this.#machine = new LinkRegistryMachine({
      routerId,
      dialers: dialerRules(config),
      newLinkId: () => base62(randomBytes(16)),
      random,
    });
    this.#reports = new LinkReporter({ controllers, pool: options.rateLimiter, clock: this.#clock, log });
    this.dialPool = new WorkerPool({
      name: 'link.dialer',
      queueLength: forwarder.linkDialQueueLength,
      workerCount: forwarder.linkDialWorkerCount,
      log,
    });
    this.#reportTimer = setInterval(() => this.#reports.tick(), REPORT_INTERVAL_MS).unref();
    this.#checkTimer = setInterval(() => this.#checkLinks(), config.heartbeat.checkIntervalMs).unref();
    this.#schedule();
  }

  /** Opens the listeners. Rejects with a `FrontdoorError` that names the one that cannot be opened. */
  static async open(options: LinkSubsystemOptions): Promise<LinkSubsystem> {
    const subsystem = new LinkSubsystem(options);
    try {
      await subsystem.#listen();
      return subsystem;
    } catch (error) {
      await subsystem.close();
      throw error;
    }
  }

  /** Returns the link listeners that the router's hello announces to controllers. */
  advertised(): AdvertisedListener[] {
    return this.#listeners.map(({ advertised }) => advertised);
  }

  handlers(): CtrlHandlers {
    return new Map([
      [contentType.peerStateChanges, (frame: Frame) => this.#onPeers(frame)],
      [contentType.fault, (frame: Frame) => this.#onFault(frame)],
    ]);
  }

  readonly inspect: InspectSource = (name) => {
    if (name !== 'links') return undefined;
    const { config } = this.#options;
    return inspectLinks({
      links: this.#current(),
      peers: this.#machine.peers(),
      dialers: config.dialers,
      rules: dialerRules(config),
      isReported: (linkId) => this.#reports.isReported(linkId),
    });
  };

  links(): LinkView[] {
    return this.#current().map((link) => ({
      linkId: link.id,
      destRouterId: link.peerId,
      latency: link.latencyNs,
      connections: link.connections(),
    }));
  }

  get linkCount(): number {
    return this.#current().length;
  }

  /** Closes links and starts dials that are due. Also called by a timer. */
  tick(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [link, { atMs, reason }] of this.#closing) if (atMs <= nowMs) link.close(reason);
    this.#step({ kind: 'tick' });
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.dialPool.close();
    clearInterval(this.#reportTimer);
    clearInterval(this.#checkTimer);
    clearTimeout(this.#timer);
    await Promise.all(this.#listeners.map((listener) => listener.close()));
    for (const link of this.#links) link.close('router is stopping');
  }

  async #listen(): Promise<void> {
    const { ports, config, placeOf, routerId, controllers, handshakeTimeoutMs, tls } = this.#options;
    for (const listener of config.listeners) {
      const { host } = listener.bind;
      const place = placeOf(listener.path, 'bind');
      const port = await ports.open({
        host,
        port: listener.bind.port,
        place,
        tls: tls().server,
        handshakeTimeoutMs,
      });
      try {
        const opened = await LinkListener.open({
          routerId,
          config,
          listener,
          port,
          ca: () => tls().client.ca,
          controllers,
          clock: this.#clock,
          log: this.#log,
          onLink: (facts, channel) => this.#onAccepted(facts, channel),
        });
        this.#listeners.push(opened);
        this.#log.info(
          { listener: listener.path, advertise: opened.advertised.address },
          'link listener is open',
        );
      } catch (error) {
        throw listenerFault(error, place);
      }
    }
  }

  #onPeers(frame: Frame): void {
    for (const { id, version, state, listeners } of ctrlMessages.peerStateChanges.decode(frame.body)
      .changes) {
      if (state === PeerState.HEALTHY) this.#step({ kind: 'peerHealthy', peerId: id, version, listeners });
      else if (state === PeerState.REMOVED) this.#step({ kind: 'peerRemoved', peerId: id });
      else this.#step({ kind: 'peerUnhealthy', peerId: id });
    }
  }

  #onFault(frame: Frame): void {
    const { subject, id, iteration } = ctrlMessages.fault.decode(frame.body);
    if (subject === FaultSubject.LINK_FAULT) this.#step({ kind: 'linkFault', linkId: id, iteration });
  }

  /** Effects can cause events, which wait until the earlier effects are done. */
  #step(event: LinkEvent): void {
    this.#events.push(event);
    if (this.#isStepping || this.#stop.signal.aborted) return;
    this.#isStepping = true;
    try {
      for (let next = this.#events.shift(); next !== undefined; next = this.#events.shift()) {
        for (const effect of this.#machine.step(next, this.#clock.monotonicMs())) this.#perform(effect);
      }
    } finally {
      this.#isStepping = false;
    }
    this.#schedule();
  }

  #perform(effect: LinkEffect): void {
    if (effect.kind === 'dial') {
      const { order } = effect;
      const isTaken = this.dialPool.offer(() => this.#dial(order));
      if (isTaken) return;
      this.#log.warn({ routerId: order.peerId, linkId: order.linkId }, 'too many links wait to be dialed');
      this.#step({ kind: 'dialFailed', order, fault: 'queueFull' });
      return;
    }
    // The machine handles no other kind of link.
    const link = effect.link as Link;
    const fields = { linkId: link.id, iteration: link.iteration, routerId: link.peerId };
    switch (effect.kind) {
      case 'close':
        if (effect.afterMs === 0) link.close(effect.reason);
        else
          this.#closing.set(link, {
            atMs: this.#clock.monotonicMs() + effect.afterMs,
            reason: effect.reason,
          });
        break;
      case 'established':
        this.#log.info({ ...fields, isDialed: link.isDialed }, 'link is established');
        this.#reports.established(link);
        break;
      case 'replaced':
        this.#log.info(fields, 'link is replaced by another of its key');
        this.#reports.replaced(link);
        break;
      case 'lost':
        this.#options.metrics.meter('faults.link').mark(1);
        this.#reports.lost(link);
        break;
    }
  }

  async #dial(order: DialOrder): Promise<void> {
    if (!this.#machine.isWanted(order) || this.#stop.signal.aborted) return;
    const { routerId, config, tls } = this.#options;
    const fields = { routerId: order.peerId, address: order.address, linkId: order.linkId };
    try {
      const { signal } = this.#stop;
      const channel = await dialLink(order, {
        routerId,
        config,
        outward: this.#outward,
        tls: tls().client,
        signal,
        log: this.#log,
      });
      const { linkId: id, key, peerId, iteration, peerVersion, address: dialAddress } = order;
      const facts = { id, key, peerId, iteration, isDialed: true, peerVersion, protocol: 'tls', dialAddress };
      this.#take(facts, channel, order);
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      this.#log.warn({ ...fields, err: messageOf(error) }, 'link could not be dialed');
      this.#step({ kind: 'dialFailed', order, fault: 'failed' });
    }
  }

  #onAccepted(accepted: AcceptedLink, channel: Channel): void {
    const fault = this.#acceptFault(accepted);
    if (fault !== undefined) {
      const { id: linkId, peerId: routerId } = accepted;
      this.#log.warn({ peer: channel.peer.address, routerId, linkId, reason: fault }, 'link refused');
      channel.close(fault);
      return;
    }
    const peerVersion = this.#machine.peer(accepted.peerId)?.version ?? '';
    this.#take({ ...accepted, peerVersion }, channel);
    channel.resumeReading();
  }

  /** The dialer chose the id. With the id of another peer's link, it would receive the circuits of that link. */
  #acceptFault({ id, peerId }: AcceptedLink): string | undefined {
    let count = 0;
    for (const link of this.#links) {
      if (link.id === id && link.peerId !== peerId) return 'another router has a link of this id';
      if (link.peerId === peerId) count += 1;
    }
    return count >= MAX_LINKS_PER_PEER ? 'the router has too many links' : undefined;
  }

  #take(facts: LinkFacts, channel: Channel, order?: DialOrder): void {
    if (this.#stop.signal.aborted) {
      channel.close('router is stopping');
      return;
    }
    const { forwarding, metrics, config } = this.#options;
    const link = new Link({
      facts,
      channel,
      forwarding,
      metrics,
      graceMs: 2 * config.heartbeat.closeUnresponsiveMs,
      openedMs: this.#running.nowMs(),
      clock: this.#clock,
      log: this.#log,
      onConnections: (changed) => this.#reports.changed(changed),
      onClosed: (closed, reason) => this.#onClosed(closed, reason),
    });
    if (!link.isClosed) {
      this.#links.add(link);
      this.#options.pipes?.add(link);
      this.#step({ kind: 'linkUp', link });
    } else if (order !== undefined) {
      this.#step({ kind: 'dialFailed', order, fault: 'duplicate' });
    }
  }

  #onClosed(link: Link, reason: string): void {
    this.#links.delete(link);
    this.#options.pipes?.remove(link);
    this.#closing.delete(link);
    if (![...this.#links].some(({ id }) => id === link.id))
      disposeLinkMetrics(this.#options.metrics, link.id);
    this.#log.info({ linkId: link.id, routerId: link.peerId, reason }, 'link closed');
    this.#step({ kind: 'linkClosed', link });
  }

  #current(): Link[] {
    return [...this.#machine.links()].filter((link) => link instanceof Link);
  }

  #checkLinks(): void {
    const nowMs = this.#running.nowMs();
    let isOneSilent = false;
    for (const link of this.#links) if (link.check(nowMs)) isOneSilent = true;
    if (isOneSilent) this.#options.onSilent?.();
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    let dueMs = this.#machine.nextDueMs;
    for (const { atMs } of this.#closing.values()) if (atMs < dueMs) dueMs = atMs;
    const delayMs = Math.min(MAX_SLEEP_MS, Math.max(0, dueMs - this.#clock.monotonicMs()));
    this.#timer = setTimeout(() => this.tick(), delayMs).unref();
  }
}

/** Controllers expect a value of every router: one without the section `link` has no links. */
export function inspectLinkSubsystem(links: LinkSubsystem | undefined, name: string): unknown {
  if (links !== undefined) return links.inspect(name);
  return name === 'links' ? { links: [], destinations: [], errors: null } : undefined;
}
