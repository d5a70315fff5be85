/** The failure of an order, with the time after which the certificate authority takes the next one. */
import { FrontdoorError } from '#base';

/** An authority that names more is asked again after a day. */
const LONGEST_RETRY_MS = 86_400_000;

export interface OrderLimit {
  readonly retryAfterMs: number;
  /** Whether the authority refused it because of its rate limits (429). */
  readonly isLimited: boolean;
}

export class OrderFailure extends FrontdoorError implements OrderLimit {
  readonly retryAfterMs: number;
  readonly isLimited: boolean;

  constructor(message: string, { retryAfterMs, isLimited }: OrderLimit, cause?: unknown) {
    super('unavailable', 'acme-failed', message, { cause });
    this.retryAfterMs = retryAfterMs;
    this.isLimited = isLimited;
  }
}

/** Whether the authority refused an order because of its rate limits. */
export function isRateLimited(error: unknown): boolean {
  return error instanceof OrderFailure && error.isLimited;
}

/** 0 if the authority names no time. */
export function retryAfterOf(error: unknown): number {
  return error instanceof OrderFailure ? Math.min(LONGEST_RETRY_MS, error.retryAfterMs) : 0;
}

/** Reads a Retry-After field: seconds, or a date. */
export function parseRetryAfter(value: unknown, nowMs: number): number {
  if (typeof value !== 'string') return 0;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? 0 : Math.max(0, atMs - nowMs);
}
