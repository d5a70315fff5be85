/** Which interim responses of a service are passed on: a few at once, and some a second. Further ones are dropped. */
import type { GatewayLimits } from '../limits/gateway-limits.ts';

interface RateContext {
  readonly nowMs: number;
  readonly limits: Pick<GatewayLimits, 'interimBurst' | 'interimsPerS'>;
}

export class InterimRate {
  readonly #context: RateContext;
  #left: number;
  #sinceMs: number;

  constructor(context: RateContext) {
    this.#context = context;
    this.#left = context.limits.interimBurst;
    this.#sinceMs = context.nowMs;
  }

  take(): boolean {
    const { nowMs, limits } = this.#context;
    const earned = ((nowMs - this.#sinceMs) * limits.interimsPerS) / 1_000;
    this.#left = Math.min(limits.interimBurst, this.#left + earned);
    this.#sinceMs = nowMs;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
