/** Detects request bodies that the client sends too slowly. The sweep checks it, not every byte. */
import type { GatewayLimits } from '../limits/gateway-limits.ts';

interface RateContext {
  readonly nowMs: number;
  readonly limits: GatewayLimits;
}

export class BodyRate {
  #sinceMs: number;
  #bytes = 0;

  constructor(nowMs: number) {
    this.#sinceMs = nowMs;
  }

  /** Restarts the measurement, because something other than the client delays the body. */
  restart(nowMs: number, bytes = this.#bytes): void {
    this.#sinceMs = nowMs;
    this.#bytes = bytes;
  }

  /** Returns whether the client is too slow. `isItsTurn`: nothing else delays the body, of which `bytes` have come so far. */
  check({ nowMs, limits }: RateContext, bytes: number, isItsTurn: boolean): boolean {
    if (isItsTurn && limits.minBodyBytesPerS > 0) return this.isTooSlow(nowMs, bytes, limits);
    this.restart(nowMs, bytes);
    return false;
  }

  /** Returns whether too little arrived. `bytes` is the number of body bytes so far. */
  isTooSlow(nowMs: number, bytes: number, limits: GatewayLimits): boolean {
    const elapsedMs = nowMs - this.#sinceMs;
    if (elapsedMs < limits.bodyRateWindowMs) return false;
    const came = bytes - this.#bytes;
    this.restart(nowMs, bytes);
    return came * 1000 < limits.minBodyBytesPerS * elapsedMs;
  }
}
