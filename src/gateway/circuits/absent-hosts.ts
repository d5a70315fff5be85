/**
 * Requests to a share that is hosted, and whose host is away or does not answer: they wait for its return, with one dial at
 * a time. A host that answers nothing may be frozen, so each request waits for a shorter time then. The state of a share is
 * in its slot.
 */
import type { CircuitError } from '#sdk';
import type { GatewayLimits } from '../limits/gateway-limits.ts';
import type { GatewayRoute } from './upstream.ts';

/** Interval of dials for requests that wait for an agent to return. */
const REDIAL_MS = 200;

export interface AbsentHostsOptions {
  readonly limits: Pick<GatewayLimits, 'absenceHoldMs' | 'silenceHoldMs'>;
  readonly nowMs: () => number;
  /** Starts the next dial, if requests wait. */
  readonly redial: (route: GatewayRoute) => void;
}

export class AbsentHosts {
  readonly #options: AbsentHostsOptions;
  /** Shares whose hosts did not answer. */
  readonly #silent = new Set<GatewayRoute>();

  constructor(options: AbsentHostsOptions) {
    this.#options = options;
  }

  /** A dial reached a host. */
  found(route: GatewayRoute): void {
    const { slot } = route;
    slot.wasHosted = true;
    slot.absentSinceMs = undefined;
    slot.silence = undefined;
    this.#silent.delete(route);
  }

  /**
   * A dial failed. `isSilent`: only after a while, so that a host was there and did not answer. Returns whether requests
   * continue to wait because the host may return. Those that have waited for too long get the failure.
   */
  failed(route: GatewayRoute, failure: CircuitError, { isSilent }: { readonly isSilent: boolean }): boolean {
    const { slot } = route;
    if (failure.code !== 'no-terminator' && !(isSilent && failure.code === 'service-timeout')) return false;
    if (isSilent) slot.wasHosted = true;
    if (!slot.wasHosted) return false;
    const nowMs = this.#options.nowMs();
    if (isSilent || slot.silence !== undefined) {
      slot.silence = failure;
      this.#silent.add(route);
    }
    slot.absentSinceMs ??= nowMs;
    if (route.revoked || nowMs - slot.absentSinceMs >= this.#options.limits.absenceHoldMs) {
      failAll(route, failure);
      return true;
    }
    this.#failOverdue(route, nowMs);
    slot.redial ??= setTimeout(() => {
      slot.redial = undefined;
      this.#options.redial(route);
    }, REDIAL_MS);
    return true;
  }

  sweep(nowMs: number): void {
    for (const route of this.#silent) {
      if (route.retired) this.#silent.delete(route);
      this.#failOverdue(route, nowMs);
    }
  }

  #failOverdue({ slot: { silence, waiters } }: GatewayRoute, nowMs: number): void {
    if (silence === undefined || waiters.size === 0) return;
    for (const waiter of waiters.overdue(nowMs - this.#options.limits.silenceHoldMs))
      waiter.circuitFailed(silence);
  }
}

export function failAll({ slot: { waiters } }: GatewayRoute, failure: CircuitError): void {
  for (let waiter = waiters.next(false); waiter !== undefined; waiter = waiters.next(false))
    waiter.circuitFailed(failure);
}
