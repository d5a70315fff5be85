/**
 * The access rules of a share, as gateways receive them and as every decision uses them. The auth providers are
 * listed separately, by host. Times are in milliseconds, passwords are argon2id hashes. `contract`'s share policy
 * is the form of the API.
 */
export interface AccessRules {
  /**
   * One pattern must match the verified e-mail address of a log-in or token; empty: any address.
   * `ann@example.com`, `*@example.com`.
   */
  readonly emails: readonly string[];
  /** Rules that a log-in or token must all satisfy. */
  readonly claims: readonly ClaimRule[];
  readonly basicAuth: readonly BasicUser[];
  readonly clientCertificate: ClientCertificateRule | null;
  /** CIDRs or addresses. `deny` has precedence; with an allow list, all other addresses are denied. */
  readonly ip: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  /** `/health`, `/static/*`: paths that require no identity. All other rules apply to them. */
  readonly publicPaths: readonly string[];
  /** Every request is refused from this time on, in Unix milliseconds. */
  readonly expiresAtMs: number | null;
  readonly rateLimit: RateLimit | null;
  readonly session: SessionLimits;
  /** Canonical origins whose pages may act for callers that browsers identify by themselves. */
  readonly allowedOrigins: readonly string[];
  /** Whether CORS preflights, which carry no credential, are forwarded to the service. */
  readonly allowPreflights: boolean;
  /** Time limit for the first byte of the service's response; null: the gateway's own limit. */
  readonly responseTimeoutMs: number | null;
  /** The owner's contact for people who are refused: an e-mail address or a web address. */
  readonly contact: string | null;
}

export interface ClaimRule {
  /** `groups`, or the name of a claim; `a.b` selects a field of an object. */
  readonly claim: string;
  /** The claim equals one of these values, or contains one. */
  readonly anyOf: readonly string[];
}

export interface BasicUser {
  readonly name: string;
  /** PHC string: `$argon2id$v=19$m=…,t=…,p=…$salt$hash`. */
  readonly passwordHash: string;
}

export interface ClientCertificateRule {
  /** PEM certificates of the trusted authorities. */
  readonly authorities: readonly string[];
  /**
   * One must equal the subject's common name, a DNS name or an e-mail address of the leaf (`*` as in e-mail
   * patterns); empty: any name.
   */
  readonly names: readonly string[];
}

/** Applies per caller: an identity if there is one, otherwise an address. */
export interface RateLimit {
  readonly requests: number;
  readonly perMs: number;
}

export interface SessionLimits {
  readonly idleMs: number;
  readonly absoluteMs: number;
}

export const DEFAULT_SESSION_LIMITS: SessionLimits = { idleMs: 8 * 3_600_000, absoluteMs: 7 * 86_400_000 };

/** The rules of a share without a policy. */
export const OPEN_RULES: AccessRules = {
  emails: [],
  claims: [],
  basicAuth: [],
  clientCertificate: null,
  ip: { allow: [], deny: [] },
  publicPaths: [],
  expiresAtMs: null,
  rateLimit: null,
  session: DEFAULT_SESSION_LIMITS,
  allowedOrigins: [],
  allowPreflights: false,
  responseTimeoutMs: null,
  contact: null,
};
