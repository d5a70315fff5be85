/**
 * Who may reach a share, as gateways are told it and as the decision is made everywhere: providers stand beside it, by
 * host. Times in milliseconds, passwords as argon2id hashes. What the API shows of it is `contract`'s share policy.
 */
export interface AccessRules {
  /** One of them must fit the verified e-mail of a log-in or token; none: any. `ann@example.com`, `*@example.com`. */
  readonly emails: readonly string[];
  /** All must hold for a log-in or token. */
  readonly claims: readonly ClaimRule[];
  readonly basicAuth: readonly BasicUser[];
  readonly clientCertificate: ClientCertificateRule | null;
  /** CIDRs or addresses. What is denied is denied; with an allow list everything else is too. */
  readonly ip: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  /** `/health`, `/static/*`: need no identity. All other rules hold for them. */
  readonly publicPaths: readonly string[];
  /** Unix milliseconds; from then on nobody gets in. */
  readonly expiresAtMs: number | null;
  readonly rateLimit: RateLimit | null;
  readonly session: SessionLimits;
  /** Canonical web origins whose pages may act in the name of callers whom browsers identify by themselves. */
  readonly allowedOrigins: readonly string[];
  /** Whether CORS preflights, which carry no credential, go to the service. */
  readonly allowPreflights: boolean;
  /** How long the service may take until the first byte of its answer; null: as long as the gateway's own limit. */
  readonly responseTimeoutMs: number | null;
  /** Whom people may ask when they are not let in: an e-mail address or a web address. */
  readonly contact: string | null;
}

export interface ClaimRule {
  /** `groups`, or the name of a claim; `a.b` goes into an object. */
  readonly claim: string;
  /** The claim is, or holds, one of these. */
  readonly anyOf: readonly string[];
}

export interface BasicUser {
  readonly name: string;
  /** PHC string: `$argon2id$v=19$m=…,t=…,p=…$salt$hash`. */
  readonly passwordHash: string;
}

export interface ClientCertificateRule {
  /** PEM certificates of the authorities that are believed. */
  readonly authorities: readonly string[];
  /** One must equal the subject's common name, a DNS name or an e-mail of the leaf (`*` as in e-mail patterns); none: any. */
  readonly names: readonly string[];
}

/** Per caller: an identity where there is one, else an address. */
export interface RateLimit {
  readonly requests: number;
  readonly perMs: number;
}

export interface SessionLimits {
  readonly idleMs: number;
  readonly absoluteMs: number;
}

export const DEFAULT_SESSION_LIMITS: SessionLimits = { idleMs: 8 * 3_600_000, absoluteMs: 7 * 86_400_000 };

/** Of a share that has no policy. */
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
