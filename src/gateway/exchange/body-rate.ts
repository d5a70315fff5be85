/** Measures how fast the client sends a request body. The sweep checks it, not every byte. */
import type { GatewayLimits } from '../limits/gateway-limits.ts';
import type { SlowBodies, SlowBody } from './slow-bodies.ts';

interface RateContext {
  readonly nowMs: number;
  readonly limits: GatewayLimits;
}

export class BodyRate implements SlowBody {
  readonly address: string;
  wasFast = false;
  readonly #slowBodies: SlowBodies;
  #sinceMs: number;
  #bytes = 0;
  /** Since when the client has been slow; -1: it is not. */
  #slowSinceMs = -1;
  #isCut = false;

  constructor(slowBodies: SlowBodies, address: string, nowMs: number) {
    this.#slowBodies = slowBodies;
    this.address = address;
    this.#sinceMs = nowMs;
  }

  /** Restarts the measurement, because something other than the client delays the body. */
  restart(nowMs: number, bytes = this.#bytes): void {
    this.end();
    this.#isCut = false;
    this.#sinceMs = nowMs;
    this.#bytes = bytes;
  }

  /** Returns whether the client is too slow. `isItsTurn`: nothing else delays the body, of which `bytes` have come so far. */
  check({ nowMs, limits }: RateContext, bytes: number, isItsTurn: boolean): boolean {
    if (!isItsTurn || limits.minBodyBytesPerS === 0) {
      this.restart(nowMs, bytes);
      return false;
    }
    const elapsedMs = nowMs - this.#sinceMs;
    if (elapsedMs >= limits.bodyRateWindowMs) {
      const isFast = (bytes - this.#bytes) * 1_000 >= limits.minBodyBytesPerS * elapsedMs;
      if (isFast) this.#becomeFast();
      else this.#becomeSlow(nowMs);
      this.#sinceMs = nowMs;
      this.#bytes = bytes;
    }
    return this.#isCut || (this.#slowSinceMs >= 0 && nowMs - this.#slowSinceMs > limits.slowBodyMs);
  }

  cut(): void {
    this.#isCut = true;
  }

  /** Nothing more is measured. */
  end(): void {
    if (this.#slowSinceMs < 0) return;
    this.#slowSinceMs = -1;
    this.#slowBodies.leave(this);
  }

  #becomeFast(): void {
    this.wasFast = true;
    this.#isCut = false;
    this.end();
  }

  #becomeSlow(nowMs: number): void {
    if (this.#slowSinceMs >= 0) return;
    this.#slowSinceMs = this.#sinceMs;
    this.#slowBodies.join(this, nowMs);
  }
}
