/** Organizations whose name servers do not answer: their look-ups pause, longer after each failure, so that others continue. */
import type { Clock } from '#base';

/** Failures in a row that are taken for chance. */
const FREE_FAILURES = 4;
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 3_600_000;
const MAX_ORGANIZATIONS = 1_000;

interface Failing {
  failures: number;
  untilMs: number;
}

export class OrganizationPauses {
  readonly #clock: Clock;
  /** The newest failure is the last. */
  readonly #failing = new Map<string, Failing>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(organizationId: string, isAnswered: boolean): void {
    const failures = isAnswered ? 0 : (this.#failing.get(organizationId)?.failures ?? 0) + 1;
    this.#failing.delete(organizationId);
    if (failures === 0) return;
    const doublings = Math.min(failures - FREE_FAILURES, 20);
    const pauseMs = doublings < 0 ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** doublings);
    this.#failing.set(organizationId, { failures, untilMs: this.#clock.monotonicMs() + pauseMs });
    if (this.#failing.size > MAX_ORGANIZATIONS) this.#failing.delete(this.#failing.keys().next().value!);
  }

  paused(): string[] {
    const nowMs = this.#clock.monotonicMs();
    return [...this.#failing].filter(([, { untilMs }]) => untilMs > nowMs).map(([id]) => id);
  }
}
