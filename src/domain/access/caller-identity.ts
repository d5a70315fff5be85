/** The identity of a caller, on which gateways base decisions and which they send to origins. */
export interface CallerIdentity {
  /** The auth provider that proved it; null for basic auth or a client certificate. */
  readonly providerId: string | null;
  readonly kind: 'session' | 'token' | 'api-key' | 'basic' | 'certificate';
  /** The subject at the identity provider, or the name of a key, a user or a certificate. */
  readonly subject: string;
  /** Verified, in lower case; null if there is none. */
  readonly email: string | null;
  readonly name: string | null;
  readonly groups: readonly string[];
  /** Input of claim rules: texts, numbers, booleans, and lists and objects of those; at most 8 KiB as JSON. */
  readonly claims: Readonly<Record<string, unknown>>;
}

export const MAX_IDENTITY_BYTES = 8_192;
