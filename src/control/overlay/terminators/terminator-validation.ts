/**
 * Asks routers whether known terminators still exist: after each (re)connect, a few seconds after a creation, and when a
 * dial failed because its router did not know the terminator.
 * Terminators of hosts that a router no longer knows are removed. Those that the router itself dials were set by an operator,
 * and get the lowest preference instead. Requests without a response are repeated.
 */
import type { Clock, Log } from '#base';
import type { Frame } from '#wire';
import { ctrlMessages } from '#wire/ctrl';
import type { ConnectedRouter, RouterRegistry } from '../mesh/connected-router.ts';
import { askRouter, type RemovedTerminators } from './removed-terminators.ts';
import {
  isHosted,
  type TerminatorOfHost,
  type Terminator,
  type TerminatorRegistry,
} from './terminator-registry.ts';

const AFTER_CREATE_MS = 6_000;
const ASK_AGAIN_MS = 180_000;
/** A router that does not answer is not asked more often about a terminator that dials do not find. */
const DOUBT_MS = 2_000;

export interface TerminatorValidationOptions {
  readonly terminators: TerminatorRegistry;
  readonly routers: RouterRegistry;
  readonly removed: RemovedTerminators;
  readonly clock: Clock;
  readonly log: Log;
}

export class TerminatorValidation {
  readonly #terminators: TerminatorRegistry;
  readonly #routers: RouterRegistry;
  readonly #removed: RemovedTerminators;
  readonly #clock: Clock;
  readonly #log: Log;
  /** Terminators to be checked, by when their routers were asked, in this order. */
  readonly #doubted = new Map<string, number>();
  /** When each terminator must be validated; removed once its router confirmed it. */
  readonly #due = new Map<string, number>();

  constructor(options: TerminatorValidationOptions) {
    const { terminators, routers, removed, clock, log } = options;
    this.#removed = removed;
    this.#terminators = terminators;
    this.#routers = routers;
    this.#clock = clock;
    this.#log = log;
    terminators.onChange(({ id }, change) => {
      if (change === 'added') this.#due.set(id, clock.nowMs() + AFTER_CREATE_MS);
      if (change !== 'removed') return;
      this.#due.delete(id);
      this.#doubted.delete(id);
    });
  }

  /** Terminators that wait for the answer of their router, by router. */
  get waiting(): ReadonlyMap<string, readonly string[]> {
    const waiting = new Map<string, string[]>();
    for (const id of this.#due.keys()) {
      const routerId = this.#terminators.get(id)?.routerId;
      if (routerId === undefined) continue;
      waiting.set(routerId, [...(waiting.get(routerId) ?? []), id]);
    }
    return waiting;
  }

  onConnect(router: ConnectedRouter): void {
    this.#ask(router, [...this.#terminators.ofRouter(router.id).values()]);
  }

  /**
   * A dial did not find the terminator at its router. That router decides, since its host may have bound it again after the
   * dial was routed.
   */
  doubt(terminator: TerminatorOfHost): void {
    const { id } = terminator;
    const router = this.#routers.get(terminator.routerId);
    if (router === undefined || this.#doubted.has(id)) return;
    this.#doubted.set(id, this.#clock.nowMs());
    this.#ask(router, [terminator]);
  }

  /** @throws FrontdoorError `protocol` */
  async onAnswer(router: ConnectedRouter, frame: Frame): Promise<void> {
    const { states } = ctrlMessages.validateTerminatorsV2Response.decode(frame.body);
    const own = this.#terminators.ofRouter(router.id);
    const gone: Terminator[] = [];
    for (const [id, state] of Object.entries(states)) {
      const terminator = own.get(id);
      if (terminator === undefined) this.#removed.onAnswer(router, id, state);
      this.#doubted.delete(id);
      if (terminator === undefined || terminator.marker !== state.marker) continue;
      this.#due.delete(id);
      if (!isHosted(terminator)) this.#judgeDialed(terminator, state);
      else if (!state.valid) gone.push(terminator);
    }
    if (gone.length === 0) return;
    this.#log.info(
      { router: router.id, count: gone.length },
      'removed terminators that the router does not know',
    );
    await this.#terminators.remove(gone);
  }

  #judgeDialed(
    terminator: Terminator,
    { valid, detail }: { readonly valid: boolean; readonly detail: string },
  ): void {
    if (!valid && terminator.isHealthy) {
      const fields = { router: terminator.routerId, terminator: terminator.id, detail };
      this.#log.warn(fields, 'terminator failed at its router; others have precedence now');
    }
    this.#terminators.setHealth(terminator, valid);
  }

  tick(nowMs: number): void {
    this.#removed.tick(nowMs);
    for (const [id, askedMs] of this.#doubted) {
      if (nowMs - askedMs < DOUBT_MS) break;
      this.#doubted.delete(id);
    }
    const byRouter = new Map<ConnectedRouter, Terminator[]>();
    for (const [id, dueMs] of this.#due) {
      if (dueMs > nowMs) continue;
      const terminator = this.#terminators.get(id);
      const router = terminator === undefined ? undefined : this.#routers.get(terminator.routerId);
      if (terminator === undefined || router === undefined) {
        // Validated when the router reconnects.
        this.#due.delete(id);
        continue;
      }
      const list = byRouter.get(router) ?? [];
      byRouter.set(router, list);
      list.push(terminator);
    }
    for (const [router, terminators] of byRouter) this.#ask(router, terminators);
  }

  #ask(router: ConnectedRouter, terminators: readonly Terminator[]): void {
    const againMs = this.#clock.nowMs() + ASK_AGAIN_MS;
    for (const { id } of terminators) this.#due.set(id, againMs);
    askRouter(router, terminators);
  }
}
