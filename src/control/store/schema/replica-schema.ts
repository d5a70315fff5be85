/** Tables of control planes that share a database: their processes, and the keys that they have in common. */
import type { Generated } from 'kysely';

/** The certificate authorities of the overlay, one row for each generation (ADR 0062). */
export interface AuthorityTable {
  /** `root-ca` or `intermediate-ca`; later generations end in `-2` and so on. */
  name: string;
  certificate_pem: string;
  /** PKCS#8 PEM, encrypted; empty once the key was deleted. */
  key_sealed: string;
  /** The root that signed it; null for roots, and for the first intermediate. */
  parent: Generated<string | null>;
  /** When it begins to issue. */
  issues_at: Generated<number>;
  /** When it is no longer trusted; null while no other one replaces it. */
  ends_at: Generated<number | null>;
  created_at: number;
}

/** The newest root that was given to an identity. */
export interface RootReceiptTable {
  identity_id: string;
  /** The name of its row in `authority`. */
  root: string;
  received_at: number;
}

/** A private key that all control planes over the database use. */
export interface SharedKeyTable {
  name: string;
  /** PKCS#8 PEM, encrypted. */
  key_sealed: string;
  created_at: number;
}

/** A certificate of the edge API that all control planes with the same first advertised host use. */
export interface SharedLeafTable {
  host: string;
  certificate_pem: string;
  created_at: number;
}

/** A control-plane process over a shared database. Spaces separate `edge_api_urls`. */
export interface ReplicaTable {
  id: string;
  /** Its {base_url}. */
  api_url: string;
  /** `tls:host:port` that routers dial; null until it is known. */
  ctrl_address: string | null;
  controller_id: string | null;
  edge_api_urls: string | null;
  edge_certificate: string | null;
  started_at: number;
  seen_at: number;
}

/** Measurements of one replica for the others. */
export interface ReplicaStatusTable {
  replica_id: string;
  kind: 'identity' | 'service' | 'router';
  id: string;
  /** JSON. */
  state: string;
  /** Increases with each write of the replica, so that the others read only new rows. */
  version: number;
}
