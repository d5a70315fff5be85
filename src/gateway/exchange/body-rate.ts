/** Detects request bodies that the client sends too slowly. The sweep checks it, not every byte. */
import type { GatewayLimits } from '../limits/gateway-limits.ts';

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

  /** Returns whether too little arrived. `bytes` is the number of body bytes so far. */
  isTooSlow(nowMs: number, bytes: number, limits: GatewayLimits): boolean {
    const elapsedMs = nowMs - this.#sinceMs;
    if (elapsedMs < limits.bodyRateWindowMs) return false;
    const came = bytes - this.#bytes;
    this.restart(nowMs, bytes);
    return came * 1000 < limits.minBodyBytesPerS * elapsedMs;
  }
}
