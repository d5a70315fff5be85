/**
 * Selects the log-ins of machines that become audit events: the first of an identity from a network within an
 * hour. Later ones are counted and included in the next event, so that frequent log-ins do not fill the disk.
 */
import { addressKey, type Clock } from '#base';

interface LastEvent {
  readonly atMs: number;
  uncovered: number;
}

const PERIOD_MS = 3_600_000;
const MAX_KEYS = 20_000;

export class LogInLedger {
  readonly #clock: Clock;
  readonly #last = new Map<string, LastEvent>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns how many log-ins an event for this one covers; 0: it will be covered by a later one. */
  due(identityId: string, address: string): number {
    const last = this.#last.get(keyOf(identityId, address));
    if (last === undefined) return 1;
    return this.#clock.nowMs() - last.atMs < PERIOD_MS ? 0 : last.uncovered + 1;
  }

  /** Records that the log-in happened and was covered as `due` returned. */
  done(identityId: string, address: string, covered: number): void {
    const key = keyOf(identityId, address);
    const last = this.#last.get(key);
    if (covered === 0 && last !== undefined) {
      last.uncovered += 1;
      return;
    }
    // Set again, because the map's order is the order of events. An evicted entry is covered by an event a
    // little early.
    this.#last.delete(key);
    this.#last.set(key, { atMs: this.#clock.nowMs(), uncovered: 0 });
    if (this.#last.size > MAX_KEYS) this.#last.delete(this.#last.keys().next().value!);
  }
}

function keyOf(identityId: string, address: string): string {
  return `${identityId} ${addressKey(address)}`;
}
