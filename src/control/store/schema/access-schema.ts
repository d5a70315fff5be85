/**
 * Tables about access to shares, and records of single requests: a part of `schema.ts`, which explains the column
 * types.
 */
import type { Generated } from 'kysely';

/** Access to a share beyond its auth providers. */
export interface SharePolicyTable {
  share_id: string;
  /** JSON: the policy as the API shows it, passwords masked. */
  data: string;
  /** JSON object: argon2id hash of each basic-auth user's password. */
  password_hashes: string;
  updated_at: number;
}

/** Rules of access with a name, which shares use instead of rules of their own. */
export interface AccessPolicyTable {
  id: string;
  frontdoor_id: string;
  name: string;
  /** As in `SharePolicyTable`. */
  data: string;
  password_hashes: string;
  created_at: number;
  updated_at: number;
}

/** How requests of a share reach its service; without a row by the defaults. */
export interface ShareUpstreamTable {
  share_id: string;
  /** JSON: the settings as the API shows them. */
  data: string;
  updated_at: number;
}

/** Shares whose requests are recorded for their owner, until that time. */
export interface ShareInspectionTable {
  share_id: string;
  max_body_bytes: number;
  until_at: number;
}

/**
 * A hostname that a frontdoor claims, with its proof: a custom frontend, which is a zone below which its public shares of the
 * frontend are served too, or the domain of one share.
 */
export interface HostnameClaimTable {
  id: string;
  frontdoor_id: string;
  /** Null for a custom frontend. */
  share_id: string | null;
  /** In lower case. */
  hostname: string;
  /** Null for the domain of a share. */
  frontend_id: string | null;
  /**
   * NEW: no gateway has reported it; PENDING: gateways lack a certificate; ACTIVE: one serves it. The domains of shares
   * stay NEW: `domain_certificate` has what gateways report of them.
   */
  status: 'NEW' | 'PENDING' | 'ACTIVE';
  /** When a gateway last reported that it has a certificate for it. */
  certified_at: number | null;
  created_at: number;
  /** PENDING is not served, and the only one that several rows of a hostname may have. */
  proof: HostnameProof;
  /** The DNS name of the record that proved it; null unless it is PROVEN or MISSING. */
  proof_name: string | null;
  /** When a PENDING claim ends, or a MISSING one is no longer served; null otherwise. */
  proof_ends_at: number | null;
  /** Why the last look-up proved nothing. */
  proof_problem: string | null;
  /** When DNS is asked next. A control plane that asks moves it ahead first. */
  proof_due_at: Generated<number>;
  /** Look-ups in a row that proved nothing. */
  proof_misses: Generated<number>;
}

/** PENDING: claimed; PROVEN: by its DNS record; GRANTED: by an operator; MISSING: proven, and the record is gone. */
export type HostnameProof = 'PENDING' | 'PROVEN' | 'GRANTED' | 'MISSING';

/** The certificate of a share's domain at one gateway, and why its last order failed. */
export interface DomainCertificateTable {
  claim_id: string;
  gateway_id: string;
  /** Null if the gateway has none. */
  valid_until: number | null;
  problem: string | null;
  /** When the next order is possible; null if no time is known. */
  retry_at: number | null;
  reported_at: number;
}

export interface CustomFrontendAuthProviderTable {
  custom_frontend_id: string;
  auth_provider_id: string;
  /** In the order of the custom frontend's list. */
  position: number;
}

/** A name that was given up, and that only its former organization may take again. */
export interface RestingNameTable {
  /** A DNS name in lower case, or the port of a share: `tcp:20000`. */
  name: string;
  kind: 'share' | 'custom-frontend' | 'share-domain';
  /** It may have been deleted. */
  organization_id: string;
  created_at: number;
  expires_at: number;
}

/** A log-in in progress. Each of its three steps happens once, by one conditional update. */
export interface LoginAttemptTable {
  /** HMAC of the state parameter. */
  state_hmac: string;
  share_id: string;
  auth_provider_id: string;
  provider_version: number;
  host: string;
  /** Port of the gateways' HTTPS, as browsers see it. */
  port: number;
  /** SHA-256 of the cookie that binds it to its browser, in base64url. */
  browser: string;
  /** The client's network, as limits count it. */
  address: string;
  /**
   * JSON of the PKCE verifier, the nonce and the target after the log-in, encrypted, because a query may contain
   * secrets.
   */
  secrets_sealed: string;
  created_at: number;
  expires_at: number;
  returned_at: number | null;
  /** JSON of the identity, once it is proven. */
  identity: string | null;
  /** HMAC of the one-time code. `expires_at` is then the code's expiry. */
  code_hmac: string | null;
  redeemed_at: number | null;
}

export interface LoginSessionTable {
  id: string;
  token_hmac: string;
  share_id: string;
  auth_provider_id: string;
  provider_version: number;
  host: string;
  /** The person's id at the provider. */
  subject: string;
  /** As in `identity`: verified, in lower case. */
  email: string | null;
  /** JSON of the identity. */
  identity: string;
  created_at: number;
  last_used_at: number;
  expires_at: number;
}

/** A record of one request: see `domain/gateway-shapes/gateway-records.ts`. */
export interface RequestRecordTable {
  id: string;
  frontdoor_id: string;
  share_id: string;
  at: number;
  /** JSON. */
  data: string;
}

/** `code` and `hop` are in the JSON, too: failures are grouped by them. */
export interface RequestFailureTable extends RequestRecordTable {
  code: string;
  hop: string;
}

/** A failed request to a host without a share. */
export interface UnroutedFailureTable {
  id: string;
  at: number;
  /** JSON. */
  data: string;
}
