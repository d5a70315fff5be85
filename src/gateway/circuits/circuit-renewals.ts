/**
 * Replaces old circuits in the background, so that circuits also leave a draining part that cannot name them. A new
 * circuit is dialed first, and an old one leaves for it: no request waits for that, and without a control plane
 * circuits are kept at any age. Circuits that a burst of requests opened together are replaced a few at a time.
 * ADR 0053.
 */
import type { GatewayRoute, Upstream } from './upstream.ts';

/** The circuits of a share are replaced within this part of their age. */
const SPREAD = 1 / 4;
/** Dials that begin together share writes on their way. No more are under way for a share. */
const AT_ONCE = 8;
/** Interval of dials for all shares together while no control plane responds, and for a share whose last got no answer. */
const UNANSWERED_MS = 1_000;

export interface RenewalOptions {
  /** Monotonic. The gateway's own time moves only twice a second, in which a share may have many old circuits. */
  readonly preciseNowMs: () => number;
  /** Age of an old circuit. */
  readonly ageMs: number;
  /** Concurrent dials per share, with those that requests wait for. */
  readonly maxDialsPerShare: number;
  /** Begins a dial. `answered` or `unanswered` is called when it is over. */
  readonly dial: (route: GatewayRoute) => void;
  /** Whether the last dial failed because no control plane responds. */
  readonly isControlAway: () => boolean;
}

export class CircuitRenewals {
  readonly #options: RenewalOptions;
  #lastAwayMs = -Infinity;

  constructor(options: RenewalOptions) {
    this.#options = options;
  }

  isOld({ openedMs }: Upstream, nowMs: number): boolean {
    return nowMs - openedMs >= this.#options.ageMs;
  }

  /**
   * Must be called for each circuit that served a request. Returns whether it leaves the pool, because another has come
   * for it.
   */
  released(upstream: Upstream, nowMs: number): boolean {
    if (!this.isOld(upstream, nowMs)) return false;
    const { route } = upstream;
    if (route.slot.spare > 0) return true;
    if (this.#isDue(route)) {
      route.slot.renewing += 1;
      this.#options.dial(route);
    }
    return false;
  }

  /**
   * A control plane has answered a dial of `released`, with a circuit or a refusal. Returns the idle circuit that is to
   * leave; if all old ones are in use, the next of them that is released leaves.
   */
  answered({ slot }: GatewayRoute, nowMs: number): Upstream | undefined {
    slot.renewing -= 1;
    slot.isRenewalUnanswered = false;
    slot.spare += 1;
    return slot.idle.find((upstream) => this.isOld(upstream, nowMs));
  }

  unanswered({ slot }: GatewayRoute): void {
    slot.renewing -= 1;
    slot.isRenewalUnanswered = true;
    slot.renewalsLeft = 0;
  }

  /** Must be called for each circuit that is closed or ended. */
  left(upstream: Upstream, nowMs: number): void {
    const { slot } = upstream.route;
    if (slot.spare > 0 && this.isOld(upstream, nowMs)) slot.spare -= 1;
  }

  #isDue({ slot }: GatewayRoute): boolean {
    const { ageMs, maxDialsPerShare, isControlAway, preciseNowMs } = this.#options;
    if (slot.dialing >= maxDialsPerShare || slot.renewing >= Math.min(slot.open, AT_ONCE)) return false;
    const nowMs = preciseNowMs();
    if (isControlAway()) {
      if (nowMs - this.#lastAwayMs < UNANSWERED_MS) return false;
      this.#lastAwayMs = nowMs;
      return true;
    }
    if (slot.isRenewalUnanswered) {
      if (slot.renewing > 0 || nowMs - slot.renewedMs < UNANSWERED_MS) return false;
      slot.renewedMs = nowMs;
      return true;
    }
    if (slot.renewalsLeft === 0) {
      if (nowMs - slot.renewedMs < (AT_ONCE * ageMs * SPREAD) / slot.open) return false;
      slot.renewedMs = nowMs;
      slot.renewalsLeft = AT_ONCE;
    }
    slot.renewalsLeft -= 1;
    return true;
  }
}
