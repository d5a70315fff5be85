/**
 * The pool of circuits to shares. Idle circuits are kept for later requests; a request that finds none waits for
 * a dial or for a circuit that is released, whichever comes first, and client addresses take turns. Every queue
 * is bounded. A circuit is released only after request and response were cleanly framed; data or an end while it
 * is idle removes it.
 */
import { CircuitError, type Circuit, type CircuitErrorCode } from '#sdk';
import { messageOf, ShortLivedSet } from '#base';
import type { CircuitDialer } from './circuit-dialer.ts';
import type { GatewayLimits } from '../limits/gateway-limits.ts';
import { HeadBuffer } from '../http/head-buffer.ts';
import { AbsentHosts, failAll } from './absent-hosts.ts';
import { NamedDials, optionsOf, waiterOf } from './named-dials.ts';
import { CircuitRenewals } from './circuit-renewals.ts';
import { StandbyCircuits } from './standby-circuits.ts';
import { isKept, Upstream, type CircuitWaiter, type GatewayRoute } from './upstream.ts';

/**
 * A request that cannot be repeated gets no circuit that was idle for longer, because the service may be closing it. Hardly
 * any service closes sooner without announcing it: Node and Apache do after 5 s, gunicorn after 2 s.
 */
const MAX_IDLE_FOR_UNREPEATABLE_MS = 1_000;
/** Time limit for the other side to close a circuit that was ended here. */
const CLOSING_MS = 5_000;
/** A request whose dial has no answer after this time gets a standby circuit, if there is one. */
const STANDBY_AFTER_MS = 1_500;
/** Dial failures that may mean that the control plane is away. */
const UNANSWERED: ReadonlySet<CircuitErrorCode> = new Set([
  'control-away',
  'timeout',
  'channel-closed',
  'overlay',
]);

export class CircuitPool {
  readonly #dialer: CircuitDialer;
  readonly #limits: GatewayLimits;
  readonly #nowMs: () => number;
  readonly #preciseNowMs: () => number;
  /** Routes that may have idle circuits. */
  readonly #warm = new Set<GatewayRoute>();
  /** Circuits that are half-closed here, until the origin closes too. */
  readonly #closing = new ShortLivedSet<Upstream>();
  readonly #standby: StandbyCircuits;
  readonly #renewals: CircuitRenewals;
  readonly #absent: AbsentHosts;
  /** Standby circuits that were used while a dial had no answer. */
  readonly #early = new ShortLivedSet<Upstream>();
  readonly #named = new NamedDials();
  #idleCount = 0;
  #openCount = 0;
  #dialCount = 0;
  #failedDialCount = 0;
  /** Whether the last relevant dial failed because no control plane responds. */
  #isControlAway = false;
  #closed = false;
  readonly #dropUnowned = (upstream: Upstream): void => this.#drop(upstream);

  /** `nowMs` may stand still between sweeps. */
  constructor(dialer: CircuitDialer, limits: GatewayLimits, nowMs: () => number, preciseNowMs: () => number) {
    this.#dialer = dialer;
    this.#limits = limits;
    this.#nowMs = nowMs;
    this.#preciseNowMs = preciseNowMs;
    this.#absent = new AbsentHosts({ limits, nowMs, redial: (route) => this.#startDials(route) });
    this.#standby = new StandbyCircuits({
      limits,
      dial: (route) => this.#dialStandby(route),
      finish: (upstream) => this.finish(upstream),
    });
    this.#renewals = new CircuitRenewals({
      preciseNowMs,
      ageMs: limits.circuitAgeMs,
      maxDialsPerShare: limits.maxDialsPerShare,
      isControlAway: () => this.#isControlAway,
      dial: (route) => void this.#dial(route, true),
    });
  }

  get idleCount(): number {
    return this.#idleCount;
  }

  get openCount(): number {
    return this.#openCount;
  }

  /** Number of dials since the start. */
  get dialCount(): number {
    return this.#dialCount;
  }

  get failedDialCount(): number {
    return this.#failedDialCount;
  }

  /** Returns an idle circuit of the route, the most recently used one first. */
  takeIdle(route: GatewayRoute, isRepeatable: boolean): Upstream | undefined {
    const { idle } = route.slot;
    const nowMs = this.#nowMs();
    route.slot.wantedMs = nowMs;
    for (;;) {
      const upstream = idle.at(-1);
      if (upstream === undefined) return undefined;
      const usable = isKept(upstream, nowMs);
      if (usable && !isRepeatable && this.#preciseNowMs() >= upstream.surelyOpenUntilMs) return undefined;
      idle.pop();
      this.#idleCount -= 1;
      if (usable) return upstream;
      this.finish(upstream);
    }
  }

  /** Waits for a circuit. Returns false if too many requests are waiting. */
  wait(route: GatewayRoute, waiter: CircuitWaiter): boolean {
    const { waiters } = route.slot;
    if (waiters.size >= this.#limits.maxWaitingPerShare) return false;
    waiters.add(waiter);
    this.#startDials(route);
    return true;
  }

  cancel(route: GatewayRoute, waiter: CircuitWaiter): void {
    route.slot.waiters.delete(waiter);
  }

  /** A request has no sign of its agent. A dial shows whether it, or another one, answers. */
  suspect(route: GatewayRoute): void {
    const { slot } = route;
    if (this.#closed || route.retired || slot.dialing > 0 || slot.redial !== undefined) return;
    void this.#dial(route);
  }

  /** Returns a clean circuit to the pool. `keepMs` is how long the origin keeps it open; -1 if unknown. */
  release(upstream: Upstream, keepMs: number): void {
    const { route } = upstream;
    const { slot } = route;
    const nowMs = this.#nowMs();
    let idleMs = this.#limits.idleCircuitMs;
    // The circuit leaves the pool before the origin closes it, so that no request crosses with that close.
    if (keepMs >= 0) idleMs = Math.min(idleMs, keepMs > 2_000 ? keepMs - 1_000 : keepMs / 2);
    upstream.owner = undefined;
    upstream.uses += 1;
    this.#early.delete(upstream);
    const isOver = upstream.closed || upstream.ended || idleMs <= 0;
    const mustGo =
      isOver || this.#closed || route.retired || route.isForOneUse || upstream.circuit.isLeaving === true;
    if (mustGo || this.#renewals.released(upstream, nowMs)) {
      this.finish(upstream);
      return;
    }
    upstream.resume();
    const waiter = slot.waiters.next(true);
    if (waiter !== undefined) {
      waiter.circuitReady(upstream);
      return;
    }
    const full =
      slot.idle.length >= this.#limits.maxIdleCircuitsPerShare ||
      this.#idleCount >= this.#limits.maxIdleCircuits;
    if (full) {
      this.finish(upstream);
      return;
    }
    upstream.surelyOpenUntilMs = this.#preciseNowMs() + Math.min(idleMs, MAX_IDLE_FOR_UNREPEATABLE_MS);
    upstream.idleUntilMs = nowMs + idleMs;
    if (slot.idle.length === 0) this.#warm.add(route);
    slot.idle.push(upstream);
    this.#idleCount += 1;
  }

  /** Closes a circuit that must not be used again; pending data is dropped. */
  discard(upstream: Upstream, reason: string): void {
    if (this.#uncount(upstream)) upstream.destroy(reason);
  }

  /** Half-closes a circuit after its last data, so that the origin sees a clean end. */
  finish(upstream: Upstream): void {
    if (!this.#uncount(upstream)) return;
    upstream.owner = undefined;
    if (upstream.closed) return;
    upstream.resume();
    upstream.idleUntilMs = this.#nowMs() + CLOSING_MS;
    this.#closing.add(upstream);
    upstream.circuit.end();
  }

  /** Ends the idle circuits of a replaced route. Its waiting requests fail. */
  retire(route: GatewayRoute): void {
    for (const upstream of route.slot.idle.splice(0)) {
      this.#idleCount -= 1;
      this.finish(upstream);
    }
    this.#warm.delete(route);
    this.#standby.drop(route);
    if (route.revoked)
      failAll(route, new CircuitError('not-authorized', 'control', 'the share was withdrawn'));
  }

  /** Ends circuits that were idle for too long. */
  sweep(): void {
    const nowMs = this.#nowMs();
    this.#absent.sweep(nowMs);
    this.#standby.sweep(nowMs, this.#isControlAway);
    for (const route of this.#warm) {
      const { idle } = route.slot;
      for (let i = idle.length - 1; i >= 0; i -= 1) {
        const upstream = idle[i]!;
        if (isKept(upstream, nowMs)) continue;
        idle.splice(i, 1);
        this.#idleCount -= 1;
        this.finish(upstream);
      }
      if (idle.length === 0) this.#warm.delete(route);
    }
    for (const upstream of this.#closing) {
      if (upstream.idleUntilMs > nowMs) continue;
      this.#closing.delete(upstream);
      upstream.destroy('not closed by the service');
    }
  }

  close(): void {
    this.#closed = true;
    for (const route of this.#warm) this.retire(route);
    this.#standby.close();
    for (const upstream of this.#closing) upstream.destroy('gateway closes');
    this.#closing.clear();
  }

  #startDials(route: GatewayRoute): void {
    const { slot } = route;
    if (slot.redial !== undefined || this.#closed) return;
    // One dial is enough to find out whether circuits can be made again.
    const most = slot.wait === undefined ? this.#limits.maxDialsPerShare : 1;
    while (slot.dialing < slot.waiters.size && slot.dialing < most) void this.#dial(route);
  }

  async #dial(route: GatewayRoute, isRenewal = false): Promise<void> {
    const { slot } = route;
    const named = this.#named.begin(route);
    slot.dialing += 1;
    let upstream: Upstream | undefined;
    let failure: CircuitError | undefined;
    this.#dialCount += 1;
    const late = isRenewal ? undefined : setTimeout(() => this.#serveStandby(route, true), STANDBY_AFTER_MS);
    const startedMs = this.#nowMs();
    const preciseMs = this.#preciseNowMs();
    try {
      const options = optionsOf(route, named);
      const circuit = await this.#dialer.dial(route.share.id, this.#limits.dialTimeoutMs, options);
      upstream = this.#open(circuit, route);
      slot.answered = { startedMs, endedMs: this.#nowMs() };
      this.#absent.found(route);
      this.#isControlAway = false;
      if (route.path === undefined && !route.isForOneUse) this.#standby.want(route, this.#nowMs());
    } catch (error) {
      this.#failedDialCount += 1;
      failure =
        error instanceof CircuitError
          ? error
          : new CircuitError('overlay', 'gateway', messageOf(error), { cause: error });
      this.#noteFailure(failure.code);
    }
    clearTimeout(late);
    this.#named.end(named);
    slot.dialing -= 1;
    if (failure?.code === 'service-timeout') this.#failEarly(route, failure);
    if (isRenewal) this.#renewed(route, failure);
    const isSlow = this.#preciseNowMs() - preciseMs >= STANDBY_AFTER_MS;
    if (failure?.code === 'control-away') this.#serveStandby(route, false);
    if (failure !== undefined && this.#absent.failed(route, failure, { isSlow })) return;
    const waiter = waiterOf(route, named);
    try {
      if (upstream !== undefined) this.#hand(upstream, waiter);
      else if (failure !== undefined) waiter?.circuitFailed(failure);
    } catch (error) {
      upstream?.owner?.upstreamFault(error);
    }
    this.#startDials(route);
  }

  /**
   * Requests get standby circuits, since no control plane is there. `isEarly`: one does, since a dial has no answer, perhaps
   * because the control plane is frozen. It may still be answered, for another request.
   */
  #serveStandby(route: GatewayRoute, isEarly: boolean): void {
    const { waiters } = route.slot;
    while (waiters.size > 0) {
      const upstream = this.#standby.take(route);
      if (upstream === undefined) return;
      if (isEarly) this.#early.add(upstream);
      try {
        waiters.next(false)!.circuitReady(upstream);
      } catch (error) {
        upstream.owner?.upstreamFault(error);
      }
      if (isEarly) return;
    }
  }

  /** It is the agent that does not answer, so that a request over its standby circuits waits in vain. */
  #failEarly(route: GatewayRoute, failure: CircuitError): void {
    for (const upstream of this.#early) {
      if (upstream.route !== route || upstream.hasData) continue;
      const { owner } = upstream;
      this.discard(upstream, failure.message);
      try {
        owner?.upstreamClosed(failure);
      } catch (error) {
        owner?.upstreamFault(error);
      }
    }
  }

  async #dialStandby(route: GatewayRoute): Promise<Upstream> {
    this.#dialCount += 1;
    try {
      return this.#open(
        await this.#dialer.dial(route.share.id, this.#limits.dialTimeoutMs, { isStandby: true }),
        route,
      );
    } catch (error) {
      this.#failedDialCount += 1;
      if (error instanceof CircuitError) this.#noteFailure(error.code);
      throw error;
    }
  }

  #noteFailure(code: CircuitErrorCode): void {
    if (code === 'control-away') this.#isControlAway = true;
    else if (!UNANSWERED.has(code)) this.#isControlAway = false;
  }

  /** A refusal counts as an answer: what can no longer be dialed must not stay open. */
  #renewed(route: GatewayRoute, failure: CircuitError | undefined): void {
    if (failure !== undefined && UNANSWERED.has(failure.code)) {
      this.#renewals.unanswered(route);
      return;
    }
    const old = this.#renewals.answered(route, this.#nowMs());
    if (old === undefined) return;
    this.#leaveIdle(old);
    this.finish(old);
  }

  #hand(upstream: Upstream, waiter: CircuitWaiter | undefined): void {
    if (waiter !== undefined) waiter.circuitReady(upstream);
    else {
      // The request got another circuit in the meantime, so this unused one waits for the next request.
      this.release(upstream, -1);
      upstream.uses = 0;
    }
  }

  #open(circuit: Circuit, route: GatewayRoute): Upstream {
    const { maxResponseHeadBytes } = this.#limits;
    this.#openCount += 1;
    route.slot.open += 1;
    const { isLenient } = route.share.upstream ?? {};
    const heads = new HeadBuffer(maxResponseHeadBytes, maxResponseHeadBytes, { isLenient });
    const upstream = new Upstream(circuit, route, heads, this.#dropUnowned);
    upstream.openedMs = this.#nowMs();
    return upstream;
  }

  /** Removes a circuit that sent data, ended or closed while nobody owned it. */
  #drop(upstream: Upstream): void {
    if (this.#closing.has(upstream)) {
      if (upstream.closed) this.#closing.delete(upstream);
      return;
    }
    if (this.#standby.lost(upstream, this.#nowMs())) {
      if (upstream.closed) this.discard(upstream, 'closed');
      else this.finish(upstream);
      return;
    }
    this.#leaveIdle(upstream);
    if (upstream.ended && !upstream.closed) this.finish(upstream);
    else this.discard(upstream, 'sent data while idle');
  }

  #leaveIdle(upstream: Upstream): void {
    const { idle } = upstream.route.slot;
    const at = idle.indexOf(upstream);
    if (at === -1) return;
    idle.splice(at, 1);
    this.#idleCount -= 1;
  }

  #uncount(upstream: Upstream): boolean {
    if (!upstream.counted) return false;
    upstream.counted = false;
    this.#early.delete(upstream);
    this.#openCount -= 1;
    upstream.route.slot.open -= 1;
    this.#renewals.left(upstream, this.#nowMs());
    return true;
  }
}
