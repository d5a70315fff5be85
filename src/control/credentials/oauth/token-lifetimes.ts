/** Lifetimes of our tokens, and the tolerance for callers' clocks. */
export const TOKEN_LIFETIME_SECONDS = 3_600;
export const TOKEN_LIFETIME_MS = TOKEN_LIFETIME_SECONDS * 1_000;
export const SERVICE_TOKEN_LIFETIME_MS = 365 * 86_400_000;
export const CLOCK_SKEW_MS = 60_000;

/** Whether a token claims to be issued at a later time than now, beyond the difference that clocks may have. */
export function isIssuedAhead(issuedAtS: unknown, nowMs: number): boolean {
  return issuedAtS !== undefined && !(Number(issuedAtS) * 1_000 <= nowMs + CLOCK_SKEW_MS);
}
/** Lifetime of the identity tokens that gateways send to origins. */
export const IDENTITY_TOKEN_LIFETIME_MS = 5 * 60_000;
