/**
 * Which log-ins of machines become audit events: the first of an identity from a network in an hour; the ones after it
 * are counted and told with the next. A fleet that logs in over and over, or one machine that does, fills no disk.
 */
import { addressKey, type Clock } from '#base';

interface LastEvent {
  readonly atMs: number;
  untold: number;
}

const PERIOD_MS = 3_600_000;
const MAX_KEYS = 20_000;

export class LogInLedger {
  readonly #clock: Clock;
  readonly #last = new Map<string, LastEvent>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** So many log-ins does an event of this one tell; 0: it is told later. */
  due(identityId: string, address: string): number {
    const last = this.#last.get(keyOf(identityId, address));
    if (last === undefined) return 1;
    return this.#clock.nowMs() - last.atMs < PERIOD_MS ? 0 : last.untold + 1;
  }

  /** It has happened, and was told as `due` said. */
  done(identityId: string, address: string, told: number): void {
    const key = keyOf(identityId, address);
    const last = this.#last.get(key);
    if (told === 0 && last !== undefined) {
      last.untold += 1;
      return;
    }
    // Set again: the map's order is the order of events. What goes first is told anew a little early.
    this.#last.delete(key);
    this.#last.set(key, { atMs: this.#clock.nowMs(), untold: 0 });
    if (this.#last.size > MAX_KEYS) this.#last.delete(this.#last.keys().next().value!);
  }
}

function keyOf(identityId: string, address: string): string {
  return `${identityId} ${addressKey(address)}`;
}
