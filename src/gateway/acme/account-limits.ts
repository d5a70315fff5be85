/**
 * Refusals of the authority because of its rate limits (429). It does not name the limit, so one refusal pauses its
 * organization and, for a minute, all others; refusals of two organizations in a row are the account's, and pause new names
 * for all as long as the authority says, at most an hour.
 */
import type { Clock } from '#base';

const MINUTE_MS = 60_000;
const LONGEST_MS = 3_600_000;
const MAX_ORGANIZATIONS = 1_000;

export class AccountLimits {
  readonly #clock: Clock;
  /** Until when, by organization. The newest is the last. */
  readonly #organizations = new Map<string, number>();
  #last: { readonly organizationId: string; readonly untilMs: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether new names of the organization pause. */
  pauses(organizationId: string): boolean {
    const nowMs = this.#clock.monotonicMs();
    return nowMs < (this.#last?.untilMs ?? 0) || nowMs < (this.#organizations.get(organizationId) ?? 0);
  }

  /** Returns for how long new names pause for all. */
  note(organizationId: string, retryAfterMs: number): number {
    const nowMs = this.#clock.monotonicMs();
    const ownMs = Math.min(LONGEST_MS, Math.max(MINUTE_MS, retryAfterMs));
    const isAccount = this.#last !== undefined && this.#last.organizationId !== organizationId;
    const allMs = isAccount ? ownMs : MINUTE_MS;
    this.#last = { organizationId, untilMs: nowMs + allMs };
    this.#organizations.delete(organizationId);
    this.#organizations.set(organizationId, nowMs + ownMs);
    if (this.#organizations.size > MAX_ORGANIZATIONS)
      this.#organizations.delete(this.#organizations.keys().next().value!);
    return allMs;
  }

  /** The authority has issued a certificate. */
  noteIssued(organizationId: string): void {
    this.#last = undefined;
    this.#organizations.delete(organizationId);
  }

  clear(): void {
    this.#last = undefined;
    this.#organizations.clear();
  }
}
