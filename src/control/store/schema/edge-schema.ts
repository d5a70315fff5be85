/**
 * The tables of the edge management API. Its entities refer to each other by roles (`#web`) more than by ids, and are
 * evaluated in memory, so one table keeps all kinds as documents (ADR 0034).
 */

import type { Generated } from 'kysely';

export interface EdgeTables {
  edge_entity: EdgeEntityTable;
  identity_password: IdentityPasswordTable;
  management_session: ManagementSessionTable;
}

export type EdgeEntityKind =
  | 'identity'
  | 'edge-router'
  /** A router without an edge, which carries circuits of others. */
  | 'transit-router'
  | 'service'
  | 'config-type'
  | 'config'
  | 'service-policy'
  | 'edge-router-policy'
  | 'service-edge-router-policy'
  | 'external-jwt-signer'
  | 'ca'
  | 'auth-policy'
  | 'posture-check'
  /** Has a table of its own: `terminator`. */
  | 'terminator';

export interface EdgeEntityTable {
  /** For identities and routers, the id of their row in `identity`. */
  id: string;
  kind: EdgeEntityKind;
  /** Unique in its kind. */
  name: string;
  /** JSON object: the fields of the kind. */
  data: string;
  /** JSON object: free keys and values of the caller. */
  tags: string;
  created_at: number;
  updated_at: number;
}

/** User name and password of an identity. */
export interface IdentityPasswordTable {
  identity_id: string;
  /** Unique. */
  username: string;
  /** argon2id, as a PHC string. */
  password_hash: string;
  /** Attempts since the last right one, where a policy limits them. */
  failed_attempts: Generated<number>;
  /** Unix milliseconds; null while the password is not locked. */
  locked_until: number | null;
  created_at: number;
  updated_at: number;
}

/** A log-in of an administrator at the edge management API. Routers do not get these sessions. */
export interface ManagementSessionTable {
  id: string;
  identity_id: string;
  token_hmac: string;
  /** How its administrator logged in. */
  method: 'cert' | 'password' | 'ext-jwt';
  created_at: number;
  expires_at: number;
}
