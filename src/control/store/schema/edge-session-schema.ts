/** The tables of log-ins at the edge client API. */

export interface ApiSessionTable {
  id: string;
  identity_id: string;
  token_hmac: string;
  /** The token itself, encrypted, because routers need it. */
  token_sealed: string;
  method: 'cert' | 'password' | 'ext-jwt';
  /** Entity of the signer whose token logged in, or of the authority that named the identity in its certificate. */
  signer_id: string | null;
  /** Entity of the signer whose token was the second factor. */
  second_signer_id: string | null;
  /** Fingerprint of the leaf that logged in; '' for a log-in without one. */
  fingerprint: string;
  /** Its end; null for a log-in without a certificate. */
  certificate_ends_at: number | null;
  config_types: string;
  /** JSON list of the certificates that are issued to the session. */
  certificates: string;
  /** JSON of what its device reported about itself; null: nothing. */
  posture: string | null;
  form: 'opaque' | 'pending' | 'signed';
  /** Id of its refresh token; null until the first one was used. */
  refresh_id: string | null;
  /** Id of the refresh token that was used for it, at `refreshed_at`. */
  refresh_before_id: string | null;
  refreshed_at: number | null;
  created_at: number;
  expires_at: number;
}

/** The end of a session with signed tokens, until they have expired. */
export interface SessionRevocationTable {
  session_id: string;
  ended_at: number;
}

/** One-time passwords (TOTP) of an identity. */
export interface IdentityTotpTable {
  identity_id: string;
  id: string;
  /** Base64, encrypted. */
  secret_sealed: string;
  /** JSON list, encrypted, because the identity may read them again. */
  recovery_sealed: string;
  /** 1: a first code was shown, and each log-in needs one. */
  is_verified: number;
  /** The step of the last code that was accepted, so that none is accepted twice. */
  last_step: number;
  created_at: number;
  updated_at: number;
}

/** What the client of an identity last reported about itself; each part is a JSON object of texts. */
export interface IdentityClientTable {
  identity_id: string;
  env_info: string;
  sdk_info: string;
}
