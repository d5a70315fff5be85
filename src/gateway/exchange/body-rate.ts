/** Whether a request's body trickles while nothing but its client holds it up. Looked at by the sweep, not per byte. */
import type { GatewayLimits } from '../limits/gateway-limits.ts';

export class BodyRate {
  #sinceMs: number;
  #bytes = 0;

  constructor(nowMs: number) {
    this.#sinceMs = nowMs;
  }

  /** Whoever holds the body up now is not its client: measuring starts again. */
  restart(nowMs: number, bytes = this.#bytes): void {
    this.#sinceMs = nowMs;
    this.#bytes = bytes;
  }

  /** True when too little has come of the body, of which there are so many bytes by now. */
  isTooSlow(nowMs: number, bytes: number, limits: GatewayLimits): boolean {
    const elapsedMs = nowMs - this.#sinceMs;
    if (elapsedMs < limits.bodyRateWindowMs) return false;
    const came = bytes - this.#bytes;
    this.restart(nowMs, bytes);
    return came * 1000 < limits.minBodyBytesPerS * elapsedMs;
  }
}
