/**
 * Makes circuits: picks terminator and path, sends a Route to every router on it, collects their answers by circuit
 * and attempt, tries twice, cleans up behind itself. Nothing here waits for the database. OpenZiti's rules; the
 * driver calls `tick` for the deadlines.
 */
import { randomBytes } from 'node:crypto';
import { base62, type Clock, type Log } from '#base';
import {
  EdgeErrorCode,
  headerId,
  peerDataRecord,
  RetryHint,
  RouteErrorCode,
  type PeerData,
  type RouteResult,
} from '#wire';
import { ctrlMessages } from '#wire/ctrl';
import type { Service } from '../model/overlay-model.ts';
import type { CircuitRegistry, EstablishedCircuit } from './circuit-registry.ts';
import type { ConnectedRouter, RouterRegistry } from './connected-router.ts';
import type { LinkRegistry } from './link-registry.ts';
import { planOneRouter, planTwoRouters, type RoutePlan } from './route-plan-policy.ts';
import { chooseTerminator } from './terminator-choice-policy.ts';
import { Precedence, type Terminator, type TerminatorRegistry } from './terminator-registry.ts';

export const MAX_ATTEMPTS = 2;
export const ATTEMPT_TIMEOUT_MS = 10_000;
/** Attempt number of a Route that moves a circuit to another path. */
const REROUTE_ATTEMPT = 99_969_996;

export interface CircuitWish {
  readonly service: Service;
  readonly identityId: string;
  readonly sessionId: string;
  readonly ingress: ConnectedRouter;
  /** Empty: any terminator. */
  readonly instanceId: string;
  readonly peerData: PeerData;
}

export interface CircuitFailure {
  readonly text: string;
  readonly code: number;
  readonly retryHint: number;
  readonly circuitId?: string;
  /** Present when a router could not route: why. */
  readonly routeErrorCode?: number;
}

export type CircuitOutcome =
  | {
      readonly isMade: true;
      readonly circuit: EstablishedCircuit;
      readonly ingressAddress: string;
      readonly peerData: PeerData;
      readonly tags: ReadonlyMap<string, string>;
    }
  | ({ readonly isMade: false } & CircuitFailure);

export interface CircuitBuilderOptions {
  readonly routers: RouterRegistry;
  readonly terminators: TerminatorRegistry;
  readonly links: LinkRegistry;
  readonly circuits: CircuitRegistry;
  readonly clock: Clock;
  readonly log: Log;
  readonly random?: () => number;
  /** Whether the terminator's host answered a real dial: counts as a probe of the share. */
  onTerminatorResult(terminator: Terminator, error: string | undefined): void;
}

/** Mutable on purpose: one per dial. */
class PendingCircuit {
  readonly id: string;
  readonly wish: CircuitWish;
  readonly done: (outcome: CircuitOutcome) => void;
  attempt = 0;
  deadlineMs = 0;
  terminator: Terminator | undefined;
  linkId: string | undefined;
  plan: RoutePlan | undefined;
  peerData: Map<number, Uint8Array> = new Map();
  readonly waiting = new Set<string>();
  /** Routers that hold forwarding entries of any attempt. */
  readonly routed = new Set<string>();

  constructor(id: string, wish: CircuitWish, done: (outcome: CircuitOutcome) => void) {
    this.id = id;
    this.wish = wish;
    this.done = done;
  }
}

export class CircuitBuilder {
  readonly #options: CircuitBuilderOptions;
  readonly #random: () => number;
  /** In the order of their deadlines. */
  readonly #pending = new Map<string, PendingCircuit>();

  constructor(options: CircuitBuilderOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
  }

  get pendingCount(): number {
    return this.#pending.size;
  }

  /** `done` is called once, maybe before this returns. */
  build(wish: CircuitWish, done: (outcome: CircuitOutcome) => void): void {
    const pending = new PendingCircuit(base62(randomBytes(16)), wish, done);
    this.#pending.set(pending.id, pending);
    this.#start(pending);
  }

  /** False when no circuit waits under this id. */
  onRouteResult(router: ConnectedRouter, result: RouteResult): boolean {
    const pending = this.#pending.get(result.circuitId);
    if (pending === undefined) return false;
    const isExpected = result.attempt === pending.attempt && pending.waiting.has(router.id);
    if (result.isSuccess && pending.routed.size < 16) pending.routed.add(router.id);
    if (!isExpected) return true;
    pending.waiting.delete(router.id);
    const isEgress = pending.terminator?.routerId === router.id;
    if (!result.isSuccess) {
      if (isEgress) this.#onEgressFailure(pending, result);
      this.#retry(pending, result.error || 'the router could not route', result.errorCode);
      return true;
    }
    if (isEgress) pending.peerData = new Map(result.peerData);
    if (pending.waiting.size === 0) this.#succeed(pending);
    return true;
  }

  /** A late answer to an attempt that moved or ended is told apart from one to a reroute. */
  static isStray(result: RouteResult): boolean {
    return result.attempt !== REROUTE_ATTEMPT;
  }

  onRouterGone(router: ConnectedRouter): void {
    for (const pending of [...this.#pending.values()]) {
      if (pending.wish.ingress === router) {
        const text = 'the router of the dialer went away';
        this.#fail(pending, { text, code: EdgeErrorCode.internal, retryHint: RetryHint.none });
      } else if (pending.waiting.has(router.id)) {
        this.#retry(pending, 'the router of the terminator went away', RouteErrorCode.generic);
      }
    }
  }

  /** The service, identity or log-in behind them went. */
  refuseWhere(isOver: (wish: CircuitWish) => boolean): void {
    for (const pending of [...this.#pending.values()]) {
      if (!isOver(pending.wish)) continue;
      this.#fail(pending, {
        text: 'Invalid Session',
        code: EdgeErrorCode.invalidSession,
        retryHint: RetryHint.startOver,
      });
    }
  }

  tick(nowMs: number): void {
    for (const pending of [...this.#overdue(nowMs)]) {
      const names = [...pending.waiting].join(', ');
      if (pending.terminator !== undefined && pending.waiting.has(pending.terminator.routerId)) {
        this.#options.onTerminatorResult(pending.terminator, 'no answer to the dial in time');
      }
      const text = `no answer from router ${names} in time`;
      this.#retry(pending, text, RouteErrorCode.dialTimeout);
    }
  }

  *#overdue(nowMs: number): Generator<PendingCircuit> {
    for (const pending of this.#pending.values()) {
      if (pending.deadlineMs > nowMs) return;
      yield pending;
    }
  }

  #start(pending: PendingCircuit): void {
    const { clock, routers } = this.#options;
    const found = this.#findPath(pending);
    if (typeof found === 'string') {
      this.#fail(pending, { text: found, code: EdgeErrorCode.invalidTerminator, retryHint: RetryHint.none });
      return;
    }
    const { terminator, plan } = found;
    pending.terminator = terminator;
    pending.linkId = found.linkId;
    pending.plan = plan;
    pending.peerData.clear();
    pending.waiting.clear();
    pending.deadlineMs = clock.nowMs() + ATTEMPT_TIMEOUT_MS;
    // Behind all others: the map stays in the order of the deadlines.
    this.#pending.delete(pending.id);
    this.#pending.set(pending.id, pending);
    const tags = Object.fromEntries(tagsOf(pending.wish, terminator));
    for (const { routerId } of plan.hops) pending.waiting.add(routerId);
    for (const { routerId, isEgress, forwards } of plan.hops) {
      const egress = {
        binding: terminator.binding,
        address: plan.egressAddress,
        destination: terminator.address,
        peerData: peerDataRecord(pending.wish.peerData),
      };
      const route = ctrlMessages.route.frame({
        circuitId: pending.id,
        attempt: pending.attempt,
        ...(isEgress ? { egress } : {}),
        forwards: [...forwards],
        timeout: BigInt(ATTEMPT_TIMEOUT_MS) * 1_000_000n,
        tags,
      });
      routers.get(routerId)?.send(route);
    }
  }

  #findPath(
    pending: PendingCircuit,
  ): { terminator: Terminator; plan: RoutePlan; linkId: string | undefined } | string {
    const { terminators, routers, links } = this.#options;
    const { service, instanceId, ingress } = pending.wish;
    let hosts = 0;
    let awayRouterId = '';
    const reachable: Terminator[] = [];
    for (const terminator of terminators.ofService(service.id).values()) {
      if (instanceId !== '' && terminator.instanceId !== instanceId) continue;
      hosts += 1;
      const { routerId } = terminator;
      const isLinked = routerId === ingress.id || links.between(ingress.id, routerId) !== undefined;
      if (isLinked && routers.get(routerId) !== undefined) reachable.push(terminator);
      else awayRouterId = routerId;
    }
    const terminator = chooseTerminator(reachable, this.#random, pending.terminator);
    if (terminator === undefined) {
      if (hosts === 0) return `service ${service.name} has no terminators: no agent hosts it now`;
      return `service ${service.name} is hosted at router ${awayRouterId}, which router ${ingress.id} cannot reach`;
    }
    const addresses = { ingressAddress: base62(randomBytes(16)), egressAddress: base62(randomBytes(16)) };
    if (terminator.routerId === ingress.id) {
      return { terminator, plan: planOneRouter(ingress.id, addresses), linkId: undefined };
    }
    const linkId = links.between(ingress.id, terminator.routerId)!.id;
    return { terminator, plan: planTwoRouters(ingress.id, linkId, terminator.routerId, addresses), linkId };
  }

  #onEgressFailure(pending: PendingCircuit, result: RouteResult): void {
    const terminator = pending.terminator!;
    const { terminators, log } = this.#options;
    if (result.errorCode === RouteErrorCode.invalidTerminator) {
      log.info(
        { terminator: terminator.id, router: terminator.routerId },
        'terminator unknown to its router removed',
      );
      terminators.remove([terminator]).catch((error: unknown) => {
        log.warn({ err: error, terminator: terminator.id }, 'terminator not removed from the store');
      });
      return;
    }
    if (result.errorCode === RouteErrorCode.misconfiguredTerminator) {
      terminators.update(terminator, { precedence: Precedence.failed }).catch((error: unknown) => {
        log.warn({ err: error, terminator: terminator.id }, 'terminator not changed in the store');
      });
    }
    this.#options.onTerminatorResult(terminator, result.error || 'refused');
  }

  #retry(pending: PendingCircuit, error: string, routeErrorCode: number): void {
    pending.attempt += 1;
    if (pending.attempt < MAX_ATTEMPTS && !pending.wish.ingress.channel.isClosed) {
      this.#start(pending);
      return;
    }
    this.#fail(pending, {
      text: `no circuit to service ${pending.wish.service.name} after ${pending.attempt} attempts: ${error}`,
      code: EdgeErrorCode.internal,
      retryHint: RetryHint.none,
      routeErrorCode,
    });
  }

  #fail(pending: PendingCircuit, failure: CircuitFailure): void {
    this.#pending.delete(pending.id);
    this.#options.circuits.unroute(pending.id, pending.routed, true);
    pending.done({ isMade: false, circuitId: pending.id, ...failure });
  }

  #succeed(pending: PendingCircuit): void {
    const { circuits, clock } = this.#options;
    const { wish } = pending;
    const terminator = pending.terminator!;
    const plan = pending.plan!;
    this.#pending.delete(pending.id);
    const routerIds = plan.hops.map(({ routerId }) => routerId);
    const stray = [...pending.routed].filter((id) => !routerIds.includes(id));
    circuits.unroute(pending.id, stray, true);
    const circuit: EstablishedCircuit = {
      id: pending.id,
      serviceId: wish.service.id,
      identityId: wish.identityId,
      sessionId: wish.sessionId,
      terminatorId: terminator.id,
      routerIds,
      linkId: pending.linkId,
      createdAtMs: clock.nowMs(),
    };
    circuits.add(circuit);
    this.#options.onTerminatorResult(terminator, undefined);
    const peerData = new Map([...terminator.peerData, ...pending.peerData]);
    for (
      let key: number = headerId.peerData.terminatorLocalAddress;
      key <= headerId.peerData.initiatorRemoteAddress;
      key += 1
    ) {
      peerData.delete(key);
    }
    const { ingressAddress } = plan;
    pending.done({ isMade: true, circuit, ingressAddress, peerData, tags: tagsOf(wish, terminator) });
  }
}

function tagsOf(wish: CircuitWish, terminator: Terminator): ReadonlyMap<string, string> {
  return new Map([
    ['serviceId', wish.service.id],
    ['clientId', wish.identityId],
    ['hostId', terminator.identityId],
  ]);
}
