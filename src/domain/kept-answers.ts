/** The response to a creation with an Idempotency-Key is kept for its key for this time. */
export const IDEMPOTENCY_KEY_TTL_MS = 24 * 3_600_000;
