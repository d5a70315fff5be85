/**
 * Reports this router's links to controllers: all dialed links when a controller connects, then each new link, each
 * change of a link's connections, and each link that ends. A report that a controller could not take is sent again
 * until it does, or until the controller has been away for two minutes. A controller that returns gets all links.
 */
import type { Clock, Log, WorkerPool } from '#base';
import { ctrlMessages, FaultSubject, type CtrlInit } from '#wire/ctrl';
import type { Controller, Controllers } from '../ctrl/controllers.ts';
import type { LiveLink } from './link-event.ts';

export interface LinkConnection {
  /** `link.default` or `link.ack`; `payload` or `ack` for split links; `single`. */
  readonly type: string;
  /** Addresses as `tcp:ip:port`. */
  readonly localAddress: string;
  readonly remoteAddress: string;
}

export interface ReportedLink extends LiveLink {
  readonly protocol: string;
  /** The address at which the listening router is dialed. */
  readonly dialAddress: string;
  /** Incremented on every change of the connections. */
  readonly stateIteration: number;
  connections(): readonly LinkConnection[];
}

export interface LinkReporterOptions {
  readonly controllers: Controllers;
  /** The pool that limits reports together with other requests to controllers. */
  readonly pool: WorkerPool;
  readonly clock: Clock;
  readonly log: Log;
}

interface LinkEntry {
  readonly link: ReportedLink;
  /** The last state that was reported to each controller. */
  readonly states: WeakMap<Controller, number>;
}

interface Fault {
  readonly linkId: string;
  readonly iteration: number;
  /** Controllers by id that have not confirmed the report, each with the connection on which it was last sent. */
  readonly owed: Map<string, Controller | undefined>;
}

/** Interval of calls of `tick`. */
export const REPORT_INTERVAL_MS = 5_000;
const GIVEN_UP_AFTER_MS = 120_000;
const MAX_FAULTS = 10_000;

export class LinkReporter {
  readonly #controllers: Controllers;
  readonly #pool: WorkerPool;
  readonly #clock: Clock;
  readonly #log: Log;
  /** Dialed links that are open, by link id. The other router reports the links that it dialed. */
  readonly #links = new Map<string, LinkEntry>();
  readonly #faults = new Map<string, Fault>();
  readonly #awaySinceMs = new Map<string, number>();
  #isQueued = false;

  constructor({ controllers, pool, clock, log }: LinkReporterOptions) {
    this.#controllers = controllers;
    this.#pool = pool;
    this.#clock = clock;
    this.#log = log;
    controllers.onConnected((controller) => this.#onConnected(controller));
    controllers.onDisconnected((controller) => this.#awaySinceMs.set(controller.id, clock.monotonicMs()));
  }

  /** Number of faults that at least one controller may not have received. */
  get pendingFaultCount(): number {
    return this.#faults.size;
  }

  /** Returns true when the link is reported to every connected controller. */
  isReported(linkId: string): boolean {
    const entry = this.#links.get(linkId);
    return entry !== undefined && this.#controllers.all().every((controller) => entry.states.has(controller));
  }

  established(link: ReportedLink): void {
    this.#faults.delete(link.id);
    if (!link.isDialed) return;
    this.#links.set(link.id, { link, states: new WeakMap() });
    this.#report();
  }

  /** Called when the connections of the link have changed. */
  changed(link: ReportedLink): void {
    if (this.#links.get(link.id)?.link === link) this.#report();
  }

  /** Reports that circuits must move, because another link with the same key has replaced this one. */
  replaced(link: ReportedLink): void {
    if (this.#links.get(link.id)?.link === link) this.#links.delete(link.id);
    const { id, iteration } = link;
    this.#controllers.broadcast(
      ctrlMessages.fault.frame({ subject: FaultSubject.LINK_DUPLICATE, id, iteration }),
    );
  }

  lost({ id, iteration }: LiveLink): void {
    if (this.#links.get(id)?.link.iteration === iteration) this.#links.delete(id);
    const owed = new Map<string, undefined>();
    for (const controller of this.#controllers.all()) owed.set(controller.id, undefined);
    for (const controllerId of this.#awaySinceMs.keys()) owed.set(controllerId, undefined);
    if (owed.size === 0) return;
    if (this.#faults.size >= MAX_FAULTS) {
      const oldest = this.#faults.keys().next().value!;
      this.#log.warn({ linkId: oldest }, 'too many link faults wait for controllers; the oldest was dropped');
      this.#faults.delete(oldest);
    }
    this.#faults.set(id, { linkId: id, iteration, owed });
    this.#report();
  }

  /** Called every `REPORT_INTERVAL_MS`. Sends reports again that were not accepted. */
  tick(): void {
    for (const [controllerId, sinceMs] of this.#awaySinceMs) {
      const isBack = this.#controllers.byId(controllerId) !== undefined;
      if (!isBack && this.#clock.monotonicMs() - sinceMs < GIVEN_UP_AFTER_MS) continue;
      this.#awaySinceMs.delete(controllerId);
    }
    for (const fault of this.#faults.values()) this.#settle(fault);
    this.#report();
  }

  /** A fault counts as delivered if its connection is still open one tick after it was sent. */
  #settle({ linkId, owed }: Fault): void {
    for (const [controllerId, sentOver] of owed) {
      const controller = this.#controllers.byId(controllerId);
      const isDelivered = controller !== undefined && controller === sentOver;
      const isGivenUp = controller === undefined && !this.#awaySinceMs.has(controllerId);
      if (isDelivered || isGivenUp) owed.delete(controllerId);
    }
    if (owed.size === 0) this.#faults.delete(linkId);
  }

  /** A controller that reconnects gets all links, because it may have missed any change. */
  #onConnected(controller: Controller): void {
    this.#awaySinceMs.delete(controller.id);
    const links = [...this.#links.values()];
    controller.channel.send(
      ctrlMessages.routerLinks.frame({ links: links.map(({ link }) => bodyOf(link)), fullRefresh: true }),
    );
    for (const { link, states } of links) states.set(controller, link.stateIteration);
    this.#report();
  }

  #report(): void {
    if (this.#isQueued || (this.#links.size === 0 && this.#faults.size === 0)) return;
    const isTaken = this.#pool.offer(() => {
      this.#isQueued = false;
      for (const controller of this.#controllers.all()) this.#notify(controller);
    });
    this.#isQueued = isTaken;
    if (!isTaken) this.#log.warn({}, 'no room to report links; retrying later');
  }

  /** A controller that accepts no reports now is tried again at the next tick. */
  #notify(controller: Controller): void {
    const { channel } = controller;
    if (!channel.isWritable) return;
    const untold: ReportedLink[] = [];
    for (const { link, states } of this.#links.values()) {
      const state = states.get(controller);
      if (state === link.stateIteration) continue;
      states.set(controller, link.stateIteration);
      if (state === undefined) untold.push(link);
      else {
        const { id: linkId, iteration: linkIteration } = link;
        channel.send(
          ctrlMessages.linkState.frame({ linkId, linkIteration, connState: connectionStateOf(link) }),
        );
      }
    }
    if (untold.length > 0) channel.send(ctrlMessages.routerLinks.frame({ links: untold.map(bodyOf) }));
    for (const { linkId, iteration, owed } of this.#faults.values()) {
      if (!owed.has(controller.id) || owed.get(controller.id) === controller) continue;
      owed.set(controller.id, controller);
      const subject = FaultSubject.LINK_FAULT;
      channel.send(ctrlMessages.fault.frame({ subject, id: linkId, iteration }));
    }
  }
}

type RouterLink = NonNullable<CtrlInit<'routerLinks'>['links']>[number];

function bodyOf(link: ReportedLink): RouterLink {
  return {
    id: link.id,
    destRouterId: link.peerId,
    linkProtocol: link.protocol,
    dialAddress: link.dialAddress,
    iteration: link.iteration,
    connState: connectionStateOf(link),
  };
}

function connectionStateOf(link: ReportedLink): NonNullable<CtrlInit<'linkState'>['connState']> {
  return {
    stateIteration: link.stateIteration,
    conns: link.connections().map(({ type, localAddress, remoteAddress }) => ({
      type,
      localAddr: localAddress,
      remoteAddr: remoteAddress,
    })),
  };
}
