/**
 * Reports of routers about links and about circuits that they cannot forward: reports, states, measurements,
 * faults. A router's reports are accepted for its own links and for circuits on whose path it is.
 */
import type { Clock, Log } from '#base';
import type { Frame } from '#wire';
import { ctrlMessages, FaultSubject } from '#wire/ctrl';
import type { FabricEvents } from '../model/fabric-events.ts';
import { isAtEnd, isOnPath, type CircuitRegistry } from '../circuits/circuit-registry.ts';
import type { CircuitRerouter } from '../circuits/circuit-rerouter.ts';
import type { ConnectedRouter, RouterRegistry } from '../mesh/connected-router.ts';
import type { FabricLink, LinkRegistry } from '../mesh/link-registry.ts';
import { metricsOf } from './metrics-report.ts';
import { usageOf } from './usage-report.ts';

export interface LinkReportsOptions {
  readonly routers: RouterRegistry;
  readonly links: LinkRegistry;
  readonly circuits: CircuitRegistry;
  readonly rerouter: CircuitRerouter;
  readonly events: FabricEvents;
  readonly clock: Clock;
  readonly log: Log;
}

const MAX_CIRCUITS_PER_MESSAGE = 10_000;

export class LinkReports {
  readonly #options: LinkReportsOptions;

  constructor(options: LinkReportsOptions) {
    this.#options = options;
  }

  /** @throws FrontdoorError `protocol` */
  onLinks(router: ConnectedRouter, frame: Frame): void {
    const { links, rerouter } = this.#options;
    const report = ctrlMessages.routerLinks.decode(frame.body);
    const gone = links.report(router.id, report, report.fullRefresh);
    // Routers of 1.x never mark a report as complete; they repeat faults until they are acknowledged.
    if (!report.fullRefresh) return;
    router.hasReportedLinks = true;
    const lost = new Set(gone.map(({ id }) => id));
    // Lost while the router was away. If the other end is away too, that one may have dialed the link and may
    // return with it.
    for (const [id, otherId] of this.#usedButUnknown(router.id))
      if (this.#options.routers.get(otherId)?.hasReportedLinks === true) lost.add(id);
    rerouter.onLinksLost(lost);
  }

  /** @throws FrontdoorError `protocol` */
  onState(router: ConnectedRouter, frame: Frame): void {
    this.#options.links.setState(router.id, ctrlMessages.linkState.decode(frame.body));
  }

  /** @throws FrontdoorError `protocol` */
  onMetrics(router: ConnectedRouter, frame: Frame): void {
    const message = ctrlMessages.metrics.decode(frame.body);
    const { histograms } = message;
    const { links, rerouter, events, clock, log } = this.#options;
    // Another controller reports what must not be propagated.
    if (!message.doNotPropagate && events.has('usage')) events.emit('usage', usageOf(router.id, message));
    if (!message.doNotPropagate && events.has('metrics'))
      events.emit('metrics', metricsOf(router.id, message, links, clock.nowMs()));
    const silent = links.setLatencies(router.id, (linkId) => {
      const latency = histograms[`link.${linkId}.latency`]?.mean;
      return latency === undefined
        ? undefined
        : latency + (histograms[`link.${linkId}.queue_time`]?.mean ?? 0);
    });
    if (silent.length === 0) return;
    const linkIds = new Set(silent.map(({ id }) => id));
    const count = rerouter.onLinksSilent(linkIds);
    log.info({ links: [...linkIds], router: router.id, circuits: count }, 'silent links');
  }

  /** @throws FrontdoorError `protocol` */
  onFault(router: ConnectedRouter, frame: Frame): void {
    const { subject, id, iteration } = ctrlMessages.fault.of(frame);
    switch (subject) {
      case FaultSubject.INGRESS_FAULT:
      case FaultSubject.EGRESS_FAULT:
        this.#onEndGone(router, id);
        return;
      case FaultSubject.FORWARD_FAULT:
      case FaultSubject.UNKNOWN_OWNER_FORWARD_FAULT: {
        const isOwnerKnown = subject === FaultSubject.FORWARD_FAULT;
        for (const each of id.split(' ').slice(0, MAX_CIRCUITS_PER_MESSAGE))
          if (each !== '') this.#onForwardFault(router, each, isOwnerKnown);
        return;
      }
      case FaultSubject.LINK_FAULT:
      case FaultSubject.LINK_DUPLICATE:
        this.#onLinkFault(router, id, iteration, subject === FaultSubject.LINK_DUPLICATE);
        return;
      default:
        this.#options.log.debug({ router: router.id, subject }, 'ignored a fault of an unknown kind');
    }
  }

  /** Either end no longer uses the circuit. */
  #onEndGone(router: ConnectedRouter, circuitId: string): void {
    const { circuits, log } = this.#options;
    const circuit = circuits.get(circuitId);
    if (circuit === undefined || !isOnPath(circuit, router.id)) {
      circuits.unroute(circuitId, [router.id], false);
    } else if (isAtEnd(circuit, router.id)) circuits.end(circuit, false);
    else
      log.debug(
        { router: router.id, circuit: circuitId },
        'a router in the middle of a circuit reported its end',
      );
  }

  #onForwardFault(router: ConnectedRouter, circuitId: string, isOwnerKnown: boolean): void {
    const { circuits, rerouter } = this.#options;
    const circuit = circuits.get(circuitId);
    if (circuit !== undefined && isOnPath(circuit, router.id)) rerouter.onForwardFault(circuit);
    // Without an owner, the circuit may belong to another controller, so nobody is notified.
    else if (isOwnerKnown) circuits.unroute(circuitId, [router.id], true);
  }

  #onLinkFault(router: ConnectedRouter, linkId: string, iteration: number, isDuplicate: boolean): void {
    const { links, rerouter, log } = this.#options;
    const known = links.get(linkId);
    const link = links.remove(linkId, router.id, iteration);
    // Its dialer may be disconnected, and its reports removed, although circuits still use the link.
    if (link === undefined && (known !== undefined || !this.#usedButUnknown(router.id).has(linkId))) return;
    // Done before the router gets new Routes. A duplicate stays open for a while, and its circuits are not
    // moved.
    if (link !== undefined && !isDuplicate) this.#notifyOtherEnd(link, router.id);
    const count = rerouter.onLinksLost(new Set([linkId]));
    log.info({ link: linkId, router: router.id, circuits: count }, 'link lost');
  }

  #notifyOtherEnd({ id, iteration, sourceId, destinationId }: FabricLink, routerId: string): void {
    const otherId = sourceId === routerId ? destinationId : sourceId;
    const fault = ctrlMessages.fault.frame({ subject: FaultSubject.LINK_FAULT, id, iteration });
    this.#options.routers.get(otherId)?.send(fault);
  }

  /** Returns links of this router that circuits use although no report lists them, with the router at the other end. */
  #usedButUnknown(routerId: string): Map<string, string> {
    const { circuits, links } = this.#options;
    const found = new Map<string, string>();
    const seen = new Set<object>();
    for (const { path } of circuits.all()) {
      // Circuits with the same path share one path object.
      if (seen.has(path)) continue;
      seen.add(path);
      for (const [at, linkId] of path.linkIds.entries()) {
        const near = path.routerIds[at]!;
        const far = path.routerIds[at + 1]!;
        if (links.get(linkId) !== undefined) continue;
        if (near === routerId) found.set(linkId, far);
        else if (far === routerId) found.set(linkId, near);
      }
    }
    return found;
  }
}
