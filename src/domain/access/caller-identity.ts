/** Who a caller turned out to be, as gateways decide by it and tell origins of it. */
export interface CallerIdentity {
  /** Of the auth provider that proved it; null: basic auth or a client certificate. */
  readonly providerId: string | null;
  readonly kind: 'session' | 'token' | 'api-key' | 'basic' | 'certificate';
  /** Of the identity provider; the name of a key, a user, a certificate. */
  readonly subject: string;
  /** Verified, lower case; null when there is none. */
  readonly email: string | null;
  readonly name: string | null;
  readonly groups: readonly string[];
  /** What claim rules look at; texts, numbers, booleans, lists and objects of those; at most 8 KiB as JSON. */
  readonly claims: Readonly<Record<string, unknown>>;
}

export const MAX_IDENTITY_BYTES = 8_192;
