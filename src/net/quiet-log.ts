/**
 * Limits the rate of a warning that a peer could cause thousands of times. Suppressed ones are counted in the
 * next one.
 */
import type { Log, LogFields } from '#base';

const INTERVAL_MS = 10_000;

export class QuietLog {
  readonly #log: Log;
  readonly #nowMs: () => number;
  readonly #kinds = new Map<string, { nextMs: number; withheld: number }>();

  constructor(log: Log, nowMs: () => number = () => performance.now()) {
    this.#log = log;
    this.#nowMs = nowMs;
  }

  /** `message` identifies the kind, so it must be constant; variable parts are in `fields`. */
  warn(fields: LogFields, message: string): void {
    const now = this.#nowMs();
    const kind = this.#kinds.get(message) ?? { nextMs: -Infinity, withheld: 0 };
    this.#kinds.set(message, kind);
    if (now < kind.nextMs) {
      kind.withheld += 1;
      return;
    }
    this.#log.warn(kind.withheld === 0 ? fields : { ...fields, alsoBefore: kind.withheld }, message);
    kind.nextMs = now + INTERVAL_MS;
    kind.withheld = 0;
  }
}
