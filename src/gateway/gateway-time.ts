/** The time that a gateway goes by, as a value that tests replace: they move it instead of waiting. */
import { performance } from 'node:perf_hooks';

export interface GatewayTime {
  /** Monotonic milliseconds. */
  nowMs(): number;
  /** Calls `act` again and again, `periodMs` apart, until the answer is called. */
  every(periodMs: number, act: () => void): () => void;
}

export const systemTime: GatewayTime = {
  nowMs: () => performance.now(),
  every(periodMs, act) {
    const timer = setInterval(act, periodMs);
    return () => clearInterval(timer);
  },
};
