/** Tables of control planes that share a database: their processes, and the keys that they have in common. */

/** The certificate authorities of the overlay, when replicas share them. */
export interface AuthorityTable {
  name: string;
  certificate_pem: string;
  /** PKCS#8 PEM, encrypted. */
  key_sealed: string;
  created_at: number;
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

/** A control-plane process over a shared database. Spaces separate `edge_api_urls`. Older versions leave columns null. */
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
  kind: 'identity' | 'share' | 'router';
  id: string;
  /** JSON. */
  state: string;
  /** Increases with each write of the replica, so that the others read only new rows. */
  version: number;
}
