/** Lifetimes of our tokens, and the tolerance for callers' clocks. */
export const TOKEN_LIFETIME_SECONDS = 3_600;
export const TOKEN_LIFETIME_MS = TOKEN_LIFETIME_SECONDS * 1_000;
export const SERVICE_TOKEN_LIFETIME_MS = 365 * 86_400_000;
export const CLOCK_SKEW_MS = 60_000;
/** Lifetime of the identity tokens that gateways send to origins. */
export const IDENTITY_TOKEN_LIFETIME_MS = 5 * 60_000;
