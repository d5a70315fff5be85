/**
 * Tables about who may reach shares, and what owners are told of single requests: part of `schema.ts`, which says what
 * the types of columns mean.
 */

/** Who may reach a share, beyond its auth providers. */
export interface SharePolicyTable {
  share_id: string;
  /** JSON: the policy as the API shows it, passwords masked. */
  data: string;
  /** JSON object: argon2id hash of each basic-auth user's password. */
  password_hashes: string;
  updated_at: number;
}

/** Shares whose requests are recorded for their owner, until then. */
export interface ShareInspectionTable {
  share_id: string;
  max_body_bytes: number;
  until_at: number;
}

/** A zone of one frontdoor: its public shares of the frontend appear below it too. */
export interface CustomFrontendTable {
  id: string;
  frontdoor_id: string;
  /** Lower case. */
  hostname: string;
  frontend_id: string;
  /** NEW: no gateway has told of it; PENDING: gateways lack a certificate; ACTIVE: one serves it. */
  status: 'NEW' | 'PENDING' | 'ACTIVE';
  /** When a gateway last told that it has a certificate for it. */
  certified_at: number | null;
  created_at: number;
}

export interface CustomFrontendAuthProviderTable {
  custom_frontend_id: string;
  auth_provider_id: string;
  /** In the order in which the custom frontend names them. */
  position: number;
}

/** A name that was given up, which only the organization that had it may take again. */
export interface RestingNameTable {
  /** A DNS name in lower case. */
  name: string;
  kind: 'share' | 'custom-frontend';
  /** It may be gone. */
  organization_id: string;
  created_at: number;
  expires_at: number;
}

/** A log-in on its way: each of its three steps happens once, by one conditional update. */
export interface LoginAttemptTable {
  /** HMAC of the state parameter. */
  state_hmac: string;
  share_id: string;
  auth_provider_id: string;
  provider_version: number;
  host: string;
  /** Of the gateways' HTTPS, as browsers see it. */
  port: number;
  /** SHA-256 of the cookie that binds it to its browser, base64url. */
  browser: string;
  /** The client's network, as limits count it. */
  address: string;
  /** JSON of the PKCE verifier, the nonce and where to go afterwards, sealed: a query may hold secrets. */
  secrets_sealed: string;
  created_at: number;
  expires_at: number;
  returned_at: number | null;
  /** JSON of who logged in, once that is proven. */
  identity: string | null;
  /** HMAC of the one-time code; `expires_at` is the code's from then on. */
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
  /** Who logged in, by the provider's name for it. */
  subject: string;
  /** As it stands in `identity`: verified, in lower case. */
  email: string | null;
  /** JSON of who logged in. */
  identity: string;
  created_at: number;
  last_used_at: number;
  expires_at: number;
}

/** What an owner is told of one request: see `domain/shapes/gateway-records.ts`. */
export interface RequestRecordTable {
  id: string;
  frontdoor_id: string;
  share_id: string;
  at: number;
  /** JSON. */
  data: string;
}

/** A failed request to a host that no share has. */
export interface UnroutedFailureTable {
  id: string;
  at: number;
  /** JSON. */
  data: string;
}
