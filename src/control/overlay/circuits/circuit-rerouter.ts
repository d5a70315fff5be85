/**
 * Moves circuits to other paths, router by router from the ingress, keeping both ends: after the loss of a link
 * or router, when a router cannot forward, and once a minute if another path became much cheaper. A circuit
 * without a path ends. Responses are matched with Routes by their sequence; the driver calls `tick` for the
 * deadlines.
 */
import type { Clock, Log } from '#base';
import { replyForOf, type Frame } from '#wire';
import type { RouteResult } from '#wire/circuits';
import { ctrlMessages } from '#wire/ctrl';
import { ATTEMPT_TIMEOUT_MS, REROUTE_ATTEMPT } from './circuit-builder.ts';
import { isOnPath, type CircuitRegistry, type EstablishedCircuit } from './circuit-registry.ts';
import type { ConnectedRouter, RouterRegistry } from '../mesh/connected-router.ts';
import type { PathFinder } from '../mesh/path-finder.ts';
import type { CircuitPath } from '../mesh/path-policy.ts';
import { planRoute, type RouteHop } from './route-plan-policy.ts';
import { pickSmartMoves } from './smart-reroute-policy.ts';

/** Concurrent moves; others wait. */
const MAX_MOVES = 512;
const MAX_TRIES = 2;
/** Limit for one move, because the mesh may change in the meantime. */
const MAX_RESTARTS = 8;
/** Minimum interval between two moves of a circuit because of forwarding faults. */
const MIN_REPEAT_MS = 1_000;
const SMART_EVERY_MS = 60_000;

export interface CircuitRerouterOptions {
  readonly routers: RouterRegistry;
  readonly circuits: CircuitRegistry;
  readonly paths: PathFinder;
  readonly clock: Clock;
  /** The circuit has another path now. */
  onMoved(circuit: EstablishedCircuit): void;
  readonly log: Log;
}

/** Mutable on purpose: one per circuit that is being moved. */
interface Move {
  readonly circuit: EstablishedCircuit;
  hops: readonly RouteHop[];
  /** Index of the hop whose response is pending. */
  at: number;
  sequence: number;
  deadlineMs: number;
  tries: number;
  restarts: number;
}

export class CircuitRerouter {
  readonly #options: CircuitRerouterOptions;
  /** In the order of their deadlines. */
  readonly #moves = new Map<string, Move>();
  /** Circuits whose move has not begun; bounded by the established circuits. */
  readonly #waiting = new Set<string>();
  readonly #movedAtMs = new WeakMap<EstablishedCircuit, number>();
  #nextSmartMs = 0;

  constructor(options: CircuitRerouterOptions) {
    this.#options = options;
  }

  get movingCount(): number {
    return this.#moves.size + this.#waiting.size;
  }

  /** These links were lost: circuits over them are moved or ended. Returns the number of circuits. */
  onLinksLost(linkIds: ReadonlySet<string>): number {
    const found = this.#using(linkIds);
    for (const circuit of found) this.move(circuit);
    return found.length;
  }

  /**
   * Nothing arrives over these links: circuits with another path are moved, the others wait. Returns the number
   * of circuits.
   */
  onLinksSilent(linkIds: ReadonlySet<string>): number {
    const { paths } = this.#options;
    let count = 0;
    for (const circuit of this.#using(linkIds)) {
      const { routerIds } = circuit.path;
      const best = paths.find(routerIds[0]!, routerIds.at(-1)!);
      if (best === undefined || best.linkIds.some((id) => linkIds.has(id))) continue;
      this.move(circuit);
      count += 1;
    }
    return count;
  }

  /**
   * The router's control channel was lost, and with it the reported `linkIds`. It may still forward, so circuits
   * without another path stay until a link is reported as lost.
   */
  onRouterGone(router: ConnectedRouter, linkIds: ReadonlySet<string>): void {
    const { circuits, paths } = this.#options;
    for (const move of [...this.#moves.values()]) {
      if (move.hops[move.at]?.routerId === router.id) this.#retry(move);
    }
    for (const circuit of [...circuits.all()]) {
      const { routerIds, linkIds: used } = circuit.path;
      const isConcerned = routerIds.includes(router.id) || used.some((id) => linkIds.has(id));
      if (isConcerned && paths.find(routerIds[0]!, routerIds.at(-1)!) !== undefined) this.move(circuit);
    }
  }

  /** No circuit may pass through the router from now on. Those with another path are moved, the others stay. */
  onTraversalEnded(routerId: string): void {
    const { circuits, paths } = this.#options;
    for (const circuit of [...circuits.all()]) {
      const { routerIds } = circuit.path;
      if (!routerIds.slice(1, -1).includes(routerId)) continue;
      if (paths.find(routerIds[0]!, routerIds.at(-1)!) !== undefined) this.move(circuit);
    }
  }

  /** A router on the path had no entry to forward by. */
  onForwardFault(circuit: EstablishedCircuit): void {
    const movedAtMs = this.#movedAtMs.get(circuit) ?? 0;
    if (this.#options.clock.nowMs() - movedAtMs >= MIN_REPEAT_MS) this.move(circuit);
  }

  /** A circuit was established while its path may have changed. */
  onEstablished(circuit: EstablishedCircuit): void {
    if (this.#options.paths.costOf(circuit.path) === undefined) this.move(circuit);
  }

  /** Moves to the cheapest current path, which may be the same one: its routers get new Routes. */
  move(circuit: EstablishedCircuit): void {
    const move = this.#moves.get(circuit.id);
    if (move === undefined) {
      this.#waiting.add(circuit.id);
      this.#fill();
      return;
    }
    move.restarts += 1;
    if (move.restarts > MAX_RESTARTS) this.#giveUp(move, 'the mesh changes too fast');
    else this.#begin(move);
  }

  /** Returns false if this is no response to a move. */
  onRouteResult(router: ConnectedRouter, frame: Frame, result: RouteResult): boolean {
    if (result.attempt !== REROUTE_ATTEMPT) return false;
    const move = this.#moves.get(result.circuitId);
    if (move === undefined) return false;
    const replyFor = replyForOf(frame);
    const isAwaited =
      move.hops[move.at]?.routerId === router.id && (replyFor === undefined || replyFor === move.sequence);
    if (!isAwaited) {
      // The response belongs to an earlier Route of the same move, unless the router is not part of it.
      if (result.isSuccess && !isOnPath(move.circuit, router.id))
        this.#options.circuits.unroute(result.circuitId, [router.id], true);
      return true;
    }
    if (!result.isSuccess) {
      this.#options.log.info(
        { circuit: result.circuitId, router: router.id, reason: result.error, code: result.errorCode },
        'router could not accept a moved circuit',
      );
      this.#retry(move);
      this.#fill();
      return true;
    }
    move.at += 1;
    if (move.at < move.hops.length) this.#send(move);
    else this.#finish(move);
    return true;
  }

  tick(nowMs: number): void {
    for (const move of [...this.#overdue(nowMs)]) this.#retry(move);
    this.#fill();
    if (this.#nextSmartMs === 0) this.#nextSmartMs = nowMs + SMART_EVERY_MS;
    if (nowMs < this.#nextSmartMs) return;
    this.#nextSmartMs = nowMs + SMART_EVERY_MS;
    this.#moveDearest();
  }

  #moveDearest(): void {
    const { circuits, paths, log } = this.#options;
    const moves = pickSmartMoves(circuits.all(), circuits.size, (path) => {
      const now = paths.costOf(path);
      const best = paths.find(path.routerIds[0]!, path.routerIds.at(-1)!);
      return now === undefined || best === undefined ? undefined : { now, best: best.cost };
    });
    for (const { circuit, now, best } of moves) {
      if (this.#moves.has(circuit.id)) continue;
      log.info({ circuit: circuit.id, cost: now, newCost: best }, 'moving circuit to a cheaper path');
      this.move(circuit);
    }
  }

  #using(linkIds: ReadonlySet<string>): EstablishedCircuit[] {
    if (linkIds.size === 0) return [];
    const found: EstablishedCircuit[] = [];
    for (const circuit of this.#options.circuits.all()) {
      if (circuit.path.linkIds.some((id) => linkIds.has(id))) found.push(circuit);
    }
    return found;
  }

  #fill(): void {
    for (const id of this.#waiting) {
      if (this.#moves.size >= MAX_MOVES) return;
      this.#waiting.delete(id);
      const circuit = this.#options.circuits.get(id);
      if (circuit === undefined) continue;
      const move: Move = { circuit, hops: [], at: 0, sequence: 0, deadlineMs: 0, tries: 0, restarts: 0 };
      this.#moves.set(id, move);
      this.#begin(move);
    }
  }

  #begin(move: Move): void {
    const { paths, clock } = this.#options;
    const { circuit } = move;
    this.#movedAtMs.set(circuit, clock.nowMs());
    const { routerIds } = circuit.path;
    const path = paths.find(routerIds[0]!, routerIds.at(-1)!);
    if (path === undefined) {
      this.#giveUp(move, 'no path is left');
      return;
    }
    this.#takePath(circuit, path);
    move.hops = planRoute(path, circuit);
    move.at = 0;
    this.#send(move);
  }

  #takePath(circuit: EstablishedCircuit, path: CircuitPath): void {
    const earlier = (circuit.earlierRouterIds ??= new Set());
    for (const id of circuit.path.routerIds) earlier.add(id);
    circuit.path = path;
  }

  #send(move: Move): void {
    const { routers, clock } = this.#options;
    const { id } = move.circuit;
    const { routerId, forwards } = move.hops[move.at]!;
    const router = routers.get(routerId);
    if (this.#options.circuits.get(id) !== move.circuit) {
      this.#moves.delete(id);
      return;
    }
    if (router === undefined) {
      this.#retry(move);
      return;
    }
    // Without an egress, because a lost end must not be dialed again in the middle of a stream.
    const route = ctrlMessages.route.frame({
      circuitId: id,
      attempt: REROUTE_ATTEMPT,
      forwards: [...forwards],
      timeout: BigInt(ATTEMPT_TIMEOUT_MS) * 1_000_000n,
    });
    router.send(route);
    move.sequence = route.sequence;
    move.deadlineMs = clock.nowMs() + ATTEMPT_TIMEOUT_MS;
    // Moved to the end, so that the map stays ordered by deadline.
    this.#moves.delete(id);
    this.#moves.set(id, move);
  }

  *#overdue(nowMs: number): Generator<Move> {
    for (const move of this.#moves.values()) {
      if (move.deadlineMs > nowMs) return;
      yield move;
    }
  }

  #retry(move: Move): void {
    move.tries += 1;
    if (move.tries >= MAX_TRIES) this.#giveUp(move, 'its routers could not take it');
    else this.#begin(move);
  }

  #finish(move: Move): void {
    const { circuit } = move;
    this.#moves.delete(circuit.id);
    const { circuits, log, onMoved } = this.#options;
    const unused = [...(circuit.earlierRouterIds ?? [])].filter((id) => !circuit.path.routerIds.includes(id));
    circuit.earlierRouterIds = undefined;
    if (circuits.get(circuit.id) === circuit) {
      circuits.unroute(circuit.id, unused, true);
      log.debug({ circuit: circuit.id, path: circuit.path.routerIds }, 'circuit moved');
      onMoved(circuit);
    }
    this.#fill();
  }

  #giveUp(move: Move, reason: string): void {
    const { circuits, log } = this.#options;
    const { circuit } = move;
    this.#moves.delete(circuit.id);
    if (circuits.get(circuit.id) !== circuit) return;
    log.warn({ circuit: circuit.id, reason }, 'circuit ended');
    circuits.end(circuit, true);
  }
}
