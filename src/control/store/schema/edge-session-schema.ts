/** The tables of log-ins at the edge client API. */

export interface ApiSessionTable {
  id: string;
  identity_id: string;
  token_hmac: string;
  /** The token itself, encrypted, because routers need it. */
  token_sealed: string;
  method: 'cert' | 'password';
  /** Fingerprint of the leaf that logged in; '' for a log-in without one. */
  fingerprint: string;
  config_types: string;
  /** JSON list of the certificates that are issued to the session. */
  certificates: string;
  form: 'opaque' | 'pending' | 'signed';
  created_at: number;
  expires_at: number;
}

/** The end of a session with signed tokens, until they have expired. */
export interface SessionRevocationTable {
  session_id: string;
  ended_at: number;
}
