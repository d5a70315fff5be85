/**
 * Creates circuits: selects terminator and path, sends a Route to every router on it, collects their responses by
 * circuit and attempt, tries twice, and cleans up. It never waits for the database. The rules are OpenZiti's; the
 * driver calls `tick` for the deadlines.
 */
import { ShortLivedMap, type Clock } from '#base';
import { headerId } from '#wire';
import {
  EdgeErrorCode,
  peerDataEntries,
  RetryHint,
  RouteErrorCode,
  type PeerData,
  type RouteResult,
} from '#wire/circuits';
import { ctrlMessages } from '#wire/ctrl';
import type { CircuitRegistry, EstablishedCircuit } from './circuit-registry.ts';
import type { ConnectedRouter, RouterRegistry } from '../mesh/connected-router.ts';
import type { Terminator } from '../terminators/terminator-registry.ts';
import type { KeyExchange } from './key-exchange-policy.ts';
import type { CircuitPath } from '../mesh/path-policy.ts';
import { newCircuitId, randomId } from '../mesh/random-ids.ts';
import { planRoute, type PathAddresses } from './route-plan-policy.ts';
import type { DialedService, TerminatorSelector } from '../terminators/terminator-selector.ts';

export const MAX_ATTEMPTS = 2;
export const ATTEMPT_TIMEOUT_MS = 10_000;
/** How long a host has to answer while the second attempt could be at another one: the first may be frozen. */
export const FIRST_HOST_MS = 2_500;
/** Attempt number of a Route that moves a circuit to another path. */
export const REROUTE_ATTEMPT = 99_969_996;

export interface CircuitWish {
  readonly service: DialedService;
  /** The dialing identity; undefined if the router itself dials. */
  readonly identityId: string | undefined;
  readonly sessionId: string | undefined;
  readonly ingress: ConnectedRouter;
  /** The dialed address. Empty: a terminator without one. */
  readonly instanceId: string;
  readonly peerData: PeerData;
  /** Called for the selected terminator and path. By default both ends get what the other sent. */
  readonly judgeKeys?: (terminator: Terminator, path: CircuitPath) => KeyExchange;
}

export interface CircuitFailure {
  /** For the dialer. It contains nothing that a host or router wrote, because they write the address of the service. */
  readonly text: string;
  /** For logs and gateways: the failure as the host or router reported it. `text` if absent. */
  readonly detail?: string;
  readonly code: number;
  readonly retryHint: number;
  readonly circuitId?: string;
  /** Set if a router could not route. */
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

const REASONS: ReadonlyMap<number, string> = new Map<number, string>([
  [RouteErrorCode.invalidTerminator, 'its host has disconnected'],
  [RouteErrorCode.misconfiguredTerminator, 'its terminator is misconfigured'],
  [RouteErrorCode.dialTimeout, 'it did not answer in time'],
  [RouteErrorCode.connectionRefused, 'it refused the connection'],
  [RouteErrorCode.rejectedByApplication, 'its host refused the dial'],
  [RouteErrorCode.dnsFailed, 'its name does not resolve'],
  [RouteErrorCode.portNotAllowed, 'its port is not allowed'],
  [RouteErrorCode.invalidLinkDestination, 'a link of the path was lost'],
  [RouteErrorCode.resourcesNotAvailable, 'its host has no resources left'],
]);

/** The words for a router's error code. */
function reasonOf(routeErrorCode: number): string {
  return REASONS.get(routeErrorCode) ?? 'a router on the path or the host refused';
}

/** The router does not know the terminator, or has no room for the moment, which says nothing about the backend. */
const UNRELATED_TO_BACKEND: ReadonlySet<number> = new Set([
  RouteErrorCode.invalidTerminator,
  RouteErrorCode.resourcesNotAvailable,
]);

export interface CircuitBuilderOptions {
  readonly routers: RouterRegistry;
  readonly selector: TerminatorSelector;
  readonly circuits: CircuitRegistry;
  readonly clock: Clock;
  /** Whether the terminator's host responded to a real dial, which counts as a probe of the share. */
  onTerminatorResult(terminator: Terminator, error: string | undefined): void;
  /** A circuit was established. The listener checks for changes that happened in the meantime. */
  onEstablished(circuit: EstablishedCircuit, creationMs: number): void;
  onFailed(circuitId: string, wish: CircuitWish, failure: CircuitFailure, creationMs: number): void;
}

/** Mutable on purpose: one per dial. */
class PendingCircuit {
  readonly id: string;
  readonly wish: CircuitWish;
  readonly done: (outcome: CircuitOutcome) => void;
  readonly startedMs: number;
  attempt = 0;
  deadlineMs = 0;
  terminator: Terminator | undefined;
  /** That of the terminator when it was selected. */
  marker = 0n;
  path: CircuitPath | undefined;
  addresses: PathAddresses | undefined;
  peerData: Map<number, Uint8Array> = new Map();
  /** Whether both ends are kept from encrypting. */
  isClear = false;
  readonly waiting = new Set<string>();
  /** Routers that were sent a Route in any attempt, and those of them that have forwarding entries. */
  readonly asked = new Set<string>();
  readonly routed = new Set<string>();

  constructor(id: string, wish: CircuitWish, nowMs: number, done: (outcome: CircuitOutcome) => void) {
    this.id = id;
    this.startedMs = nowMs;
    this.wish = wish;
    this.done = done;
  }
}

export class CircuitBuilder {
  readonly #options: CircuitBuilderOptions;
  /** In the order of their deadlines. */
  readonly #pending = new ShortLivedMap<string, PendingCircuit>();

  constructor(options: CircuitBuilderOptions) {
    this.#options = options;
  }

  get pendingCount(): number {
    return this.#pending.size;
  }

  /** `done` is called once, possibly before this method returns. */
  build(wish: CircuitWish, done: (outcome: CircuitOutcome) => void): void {
    const pending = new PendingCircuit(newCircuitId(), wish, this.#options.clock.nowMs(), done);
    this.#pending.set(pending.id, pending);
    this.#start(pending);
  }

  /** Returns false if no circuit with this id is pending. */
  onRouteResult(router: ConnectedRouter, result: RouteResult): boolean {
    const pending = this.#pending.get(result.circuitId);
    if (pending === undefined) return false;
    const isExpected = result.attempt === pending.attempt && pending.waiting.has(router.id);
    if (!pending.asked.has(router.id)) {
      // The response was not requested.
      if (result.isSuccess) this.#options.circuits.unroute(pending.id, [router.id], true);
      return true;
    }
    if (result.isSuccess) pending.routed.add(router.id);
    if (!isExpected) return true;
    pending.waiting.delete(router.id);
    const isEgress = pending.terminator?.routerId === router.id;
    if (!result.isSuccess) {
      if (isEgress && this.#isCurrent(pending)) this.#onEgressFailure(pending.terminator!, result);
      const text = result.error || 'the router could not route';
      // Another attempt would take as long, after which the dialer no longer waits.
      if (result.errorCode === RouteErrorCode.dialTimeout && !this.#hasOtherHost(pending)) {
        pending.attempt += 1;
        this.#giveUp(pending, text, result.errorCode);
      } else this.#retry(pending, text, result.errorCode);
      return true;
    }
    if (isEgress) pending.peerData = new Map(result.peerData);
    if (pending.waiting.size === 0) this.#succeed(pending);
    return true;
  }

  /** Distinguishes a late response to an attempt that moved or ended from one to a reroute. */
  static isStray(result: RouteResult): boolean {
    return result.attempt !== REROUTE_ATTEMPT;
  }

  onRouterGone(router: ConnectedRouter): void {
    for (const pending of [...this.#pending.values()]) {
      if (pending.wish.ingress === router) {
        const text = 'the router of the dialer went away';
        this.#fail(pending, { text, code: EdgeErrorCode.internal, retryHint: RetryHint.none });
      } else if (pending.waiting.has(router.id)) {
        this.#retry(pending, `router ${router.id} on the path went away`, RouteErrorCode.generic);
      }
    }
  }

  /** Refuses pending circuits whose service, identity or log-in was removed. */
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
      const { terminator, waiting } = pending;
      if (terminator !== undefined && waiting.has(terminator.routerId) && this.#isCurrent(pending)) {
        this.#options.selector.onFailure(terminator, RouteErrorCode.dialTimeout, nowMs);
        this.#options.onTerminatorResult(terminator, 'no answer to the dial in time');
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
    const { clock, routers, selector } = this.#options;
    const { service, instanceId, ingress } = pending.wish;
    const found = selector.select({ service, instanceId, ingressId: ingress.id, failed: pending.terminator });
    if (typeof found === 'string') {
      this.#fail(pending, { text: found, code: EdgeErrorCode.invalidTerminator, retryHint: RetryHint.none });
      return;
    }
    const { terminator, path, hasOther } = found;
    const isFirstOfSeveral = hasOther && pending.attempt === 0 && terminator.binding === 'edge';
    const routeMs = isFirstOfSeveral ? FIRST_HOST_MS : ATTEMPT_TIMEOUT_MS;
    const keyExchange = pending.wish.judgeKeys?.(terminator, path) ?? 'exchange';
    if (keyExchange === 'refuse') {
      this.#fail(pending, {
        text: 'the service requires end-to-end encryption, and the dialer sent no key',
        code: EdgeErrorCode.encryptionDataMissing,
        retryHint: RetryHint.none,
      });
      return;
    }
    pending.isClear = keyExchange === 'clear';
    const addresses = { ingressAddress: randomId(), egressAddress: randomId() };
    pending.terminator = terminator;
    pending.marker = terminator.marker;
    pending.path = path;
    pending.addresses = addresses;
    pending.peerData.clear();
    pending.waiting.clear();
    pending.deadlineMs = clock.nowMs() + ATTEMPT_TIMEOUT_MS;
    // Moved to the end, so that the map stays ordered by deadline.
    this.#pending.delete(pending.id);
    this.#pending.set(pending.id, pending);
    const tags = Object.fromEntries(tagsOf(pending.wish, terminator));
    const dialerData = new Map(pending.wish.peerData);
    if (pending.isClear) dialerData.delete(headerId.edge.publicKey);
    const egress = {
      binding: terminator.binding,
      address: addresses.egressAddress,
      destination: terminator.address,
      peerData: peerDataEntries(dialerData),
    };
    for (const routerId of path.routerIds) {
      pending.waiting.add(routerId);
      pending.asked.add(routerId);
    }
    for (const { routerId, isEgress, forwards } of planRoute(path, addresses)) {
      const route = ctrlMessages.route.passedFrame({
        circuitId: pending.id,
        attempt: pending.attempt,
        ...(isEgress ? { egress } : {}),
        forwards: [...forwards],
        timeout: BigInt(routeMs) * 1_000_000n,
        tags,
      });
      routers.get(routerId)?.send(route);
    }
  }

  /** Whether what the host of this attempt does concerns the present bind of its terminator. */
  #isCurrent({ terminator, marker }: PendingCircuit): boolean {
    return terminator !== undefined && this.#options.selector.isCurrent(terminator, marker);
  }

  #onEgressFailure(terminator: Terminator, result: RouteResult): void {
    const { selector, clock } = this.#options;
    selector.onFailure(terminator, result.errorCode, clock.nowMs());
    if (UNRELATED_TO_BACKEND.has(result.errorCode)) return;
    this.#options.onTerminatorResult(terminator, result.error || 'refused');
  }

  #retry(pending: PendingCircuit, error: string, routeErrorCode: number): void {
    pending.attempt += 1;
    if (pending.attempt < MAX_ATTEMPTS && !pending.wish.ingress.channel.isClosed) {
      this.#start(pending);
      return;
    }
    this.#giveUp(pending, error, routeErrorCode);
  }

  /** Whether the next attempt would be at another bind than the last one. */
  #hasOtherHost({ wish, terminator, marker }: PendingCircuit): boolean {
    const { service, instanceId, ingress } = wish;
    const next = this.#options.selector.select({
      service,
      instanceId,
      ingressId: ingress.id,
      failed: terminator,
    });
    if (typeof next === 'string') return false;
    return next.terminator.id !== terminator?.id || next.terminator.marker !== marker;
  }

  #giveUp(pending: PendingCircuit, error: string, routeErrorCode: number): void {
    const { attempt } = pending;
    const attempts = attempt === 1 ? '1 attempt' : `${attempt} attempts`;
    const outcome = `no circuit to service ${pending.wish.service.name} after ${attempts}`;
    this.#fail(pending, {
      text: `${outcome}: ${reasonOf(routeErrorCode)}`,
      detail: `${outcome}: ${error}`,
      code: EdgeErrorCode.internal,
      retryHint: RetryHint.none,
      routeErrorCode,
    });
  }

  #fail(pending: PendingCircuit, failure: CircuitFailure): void {
    this.#pending.delete(pending.id);
    const { circuits, clock, onFailed } = this.#options;
    circuits.unroute(pending.id, pending.routed, true);
    onFailed(pending.id, pending.wish, failure, clock.nowMs() - pending.startedMs);
    pending.done({ isMade: false, circuitId: pending.id, ...failure });
  }

  #succeed(pending: PendingCircuit): void {
    const { circuits, clock, selector } = this.#options;
    const { wish } = pending;
    const terminator = pending.terminator!;
    const path = pending.path!;
    const { ingressAddress, egressAddress } = pending.addresses!;
    this.#pending.delete(pending.id);
    const stray = [...pending.routed].filter((id) => !path.routerIds.includes(id));
    circuits.unroute(pending.id, stray, true);
    const circuit: EstablishedCircuit = {
      id: pending.id,
      serviceId: wish.service.id,
      identityId: wish.identityId,
      sessionId: wish.sessionId,
      terminatorId: terminator.id,
      instanceId: wish.instanceId,
      hostId: terminator.identityId,
      path,
      earlierRouterIds: undefined,
      ingressAddress,
      egressAddress,
      createdAtMs: clock.nowMs(),
    };
    selector.onDialed(terminator);
    circuits.add(circuit);
    if (this.#isCurrent(pending)) this.#options.onTerminatorResult(terminator, undefined);
    const peerData = new Map([...terminator.peerData, ...pending.peerData]);
    for (
      let key: number = headerId.peerData.terminatorLocalAddress;
      key <= headerId.peerData.initiatorRemoteAddress;
      key += 1
    ) {
      peerData.delete(key);
    }
    if (pending.isClear) peerData.delete(headerId.edge.publicKey);
    pending.done({ isMade: true, circuit, ingressAddress, peerData, tags: tagsOf(wish, terminator) });
    this.#options.onEstablished(circuit, circuit.createdAtMs - pending.startedMs);
  }
}

function tagsOf(wish: CircuitWish, terminator: Terminator): ReadonlyMap<string, string> {
  return new Map([
    ['serviceId', wish.service.id],
    ...(wish.identityId === undefined ? [] : [['clientId', wish.identityId] as const]),
    ...(terminator.identityId === undefined ? [] : [['hostId', terminator.identityId] as const]),
  ]);
}
