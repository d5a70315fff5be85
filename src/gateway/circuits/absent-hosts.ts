/**
 * Requests to a share that no circuit can be made to for the moment, because its host is away or does not answer, or no
 * control plane does: they wait, with one dial at a time. A host that answers nothing may be frozen, and a control plane may
 * be away for long, so each request has a limit of its own then. The state of a share is in its slot.
 */
import type { CircuitError } from '#sdk';
import type { GatewayLimits } from '../limits/gateway-limits.ts';
import type { CircuitWait, GatewayRoute } from './upstream.ts';

/** Interval of dials for requests that wait. */
const REDIAL_MS = 200;

export interface AbsentHostsOptions {
  readonly limits: Pick<GatewayLimits, 'absenceHoldMs' | 'silenceHoldMs' | 'controlAwayHoldMs'>;
  readonly nowMs: () => number;
  /** Starts the next dial, if requests wait. */
  readonly redial: (route: GatewayRoute) => void;
}

export class AbsentHosts {
  readonly #options: AbsentHostsOptions;
  /** Shares whose requests have a limit of their own. */
  readonly #limited = new Set<GatewayRoute>();

  constructor(options: AbsentHostsOptions) {
    this.#options = options;
  }

  /** A dial reached a host. */
  found(route: GatewayRoute): void {
    const { slot } = route;
    slot.wasHosted = true;
    slot.absentSinceMs = undefined;
    slot.wait = undefined;
    this.#limited.delete(route);
  }

  /**
   * A dial failed. `isSlow`: only after a while, so that a host was there and did not answer. Returns whether requests
   * continue to wait. Those that have waited for too long get the failure.
   */
  failed(route: GatewayRoute, failure: CircuitError, { isSlow }: { readonly isSlow: boolean }): boolean {
    const { slot } = route;
    const { nowMs, redial } = this.#options;
    const wait = this.#waitFor(route, failure, isSlow);
    if (wait === undefined) return false;
    slot.wait = wait;
    if (wait.eachMs < Infinity) this.#limited.add(route);
    if (route.revoked || nowMs() >= wait.untilMs) {
      failAll(route, failure);
      return true;
    }
    failOverdue(route, nowMs());
    if (slot.waiters.size === 0) return true;
    slot.redial ??= setTimeout(() => {
      slot.redial = undefined;
      redial(route);
    }, REDIAL_MS);
    return true;
  }

  sweep(nowMs: number): void {
    for (const route of this.#limited) {
      if (route.retired) this.#limited.delete(route);
      failOverdue(route, nowMs);
    }
  }

  #waitFor({ slot }: GatewayRoute, failure: CircuitError, isSlow: boolean): CircuitWait | undefined {
    const { limits, nowMs } = this.#options;
    if (failure.code === 'control-away')
      return { failure, eachMs: limits.controlAwayHoldMs, untilMs: Infinity, isSilent: false };
    if (failure.code !== 'no-terminator' && !(isSlow && failure.code === 'service-timeout')) return undefined;
    if (isSlow) slot.wasHosted = true;
    if (!slot.wasHosted) return undefined;
    slot.absentSinceMs ??= nowMs();
    const isSilent = isSlow || slot.wait?.isSilent === true;
    const eachMs = isSilent ? limits.silenceHoldMs : Infinity;
    return { failure, eachMs, untilMs: slot.absentSinceMs + limits.absenceHoldMs, isSilent };
  }
}

function failOverdue({ slot: { wait, waiters } }: GatewayRoute, nowMs: number): void {
  if (wait === undefined || waiters.size === 0) return;
  for (const waiter of waiters.overdue(nowMs - wait.eachMs)) waiter.circuitFailed(wait.failure);
}

export function failAll({ slot: { waiters } }: GatewayRoute, failure: CircuitError): void {
  for (let waiter = waiters.next(false); waiter !== undefined; waiter = waiters.next(false))
    waiter.circuitFailed(failure);
}
