/**
 * The tables for Kysely: one schema for the embedded database and PostgreSQL. Ids are text, times are Unix
 * milliseconds, booleans 0 or 1, JSON is text. Secrets are never stored in clear: tokens and codes as HMACs
 * (`*_hmac`, hex), secrets that must be read again encrypted with the key file (`*_sealed`).
 */
import type { Generated } from 'kysely';
import type { BackendMode } from '#domain';
import type { IngressKind } from '#domain/backend-modes';
import type { AuthProviderType } from '#domain/provider-types';
import type {
  AccessPolicyTable,
  CustomFrontendAuthProviderTable,
  DomainCertificateTable,
  HostnameClaimTable,
  LoginAttemptTable,
  LoginSessionTable,
  RequestFailureTable,
  RequestRecordTable,
  RestingNameTable,
  ShareInspectionTable,
  SharePolicyTable,
  ShareUpstreamTable,
  UnroutedFailureTable,
} from './access-schema.ts';
import type {
  ApiSessionTable,
  IdentityClientTable,
  IdentityTotpTable,
  SessionRevocationTable,
} from './edge-session-schema.ts';
import type { EdgeTables } from './edge-schema.ts';
import type { EnrollmentTable } from './enrollment-schema.ts';
import type { FabricServiceTable, TerminatorTable } from './fabric-schema.ts';
import type { NotificationTables } from './notification-schema.ts';
import type { PeopleTables } from './people-schema.ts';
import type { RequestLogTables } from './request-log-schema.ts';
import type { SealingTables } from './sealing-schema.ts';
import type {
  AuditEventTable,
  AuditExportTable,
  AuditHeadTable,
  LastBackupTable,
  MetricRollupTable,
  MetricSourceTable,
} from './record-schema.ts';
import type {
  AuthorityTable,
  ReplicaStatusTable,
  ReplicaTable,
  RootReceiptTable,
  SharedKeyTable,
  SharedLeafTable,
} from './replica-schema.ts';
import type { IdempotencyAnswerTable, IdempotencyUsageTable } from './idempotency-schema.ts';

export type {
  DomainCertificateTable,
  HostnameClaimTable,
  LoginAttemptTable,
  LoginSessionTable,
  RequestFailureTable,
  RequestRecordTable,
  RestingNameTable,
} from './access-schema.ts';
export type { EdgeEntityKind, EdgeEntityTable } from './edge-schema.ts';
export type { FabricServiceTable, TerminatorKind, TerminatorTable } from './fabric-schema.ts';
export type { AuditEventTable, AuditHeadTable, MetricRollupTable } from './record-schema.ts';
export type { ReplicaStatusTable, ReplicaTable } from './replica-schema.ts';

export interface Database
  extends EdgeTables, NotificationTables, PeopleTables, RequestLogTables, SealingTables {
  organization: OrganizationTable;
  frontdoor: FrontdoorTable;
  api_account: ApiAccountTable;
  oauth_client: OauthClientTable;
  signing_key: SigningKeyTable;
  frontend: FrontendTable;
  enrollment: EnrollmentTable;
  identity: IdentityTable;
  certificate: CertificateTable;
  api_session: ApiSessionTable;
  session_revocation: SessionRevocationTable;
  identity_totp: IdentityTotpTable;
  identity_client: IdentityClientTable;
  share: ShareTable;
  share_frontend: ShareFrontendTable;
  share_auth_provider: ShareAuthProviderTable;
  share_grant: ShareGrantTable;
  gateway_port_range: GatewayPortRangeTable;
  terminator: TerminatorTable;
  auth_provider: AuthProviderTable;
  auth_provider_key: AuthProviderKeyTable;
  collection: CollectionTable;
  audit_event: AuditEventTable;
  audit_head: AuditHeadTable;
  audit_export: AuditExportTable;
  metric_rollup: MetricRollupTable;
  metric_source: MetricSourceTable;
  authority: AuthorityTable;
  root_receipt: RootReceiptTable;
  shared_key: SharedKeyTable;
  shared_leaf: SharedLeafTable;
  replica: ReplicaTable;
  replica_status: ReplicaStatusTable;
  idempotency_answer: IdempotencyAnswerTable;
  idempotency_usage: IdempotencyUsageTable;
  fabric_service: FabricServiceTable;
  access_policy: AccessPolicyTable;
  share_policy: SharePolicyTable;
  share_upstream: ShareUpstreamTable;
  share_inspection: ShareInspectionTable;
  hostname_claim: HostnameClaimTable;
  domain_certificate: DomainCertificateTable;
  custom_frontend_auth_provider: CustomFrontendAuthProviderTable;
  resting_name: RestingNameTable;
  login_attempt: LoginAttemptTable;
  login_session: LoginSessionTable;
  request_failure: RequestFailureTable;
  unrouted_failure: UnroutedFailureTable;
  last_backup: LastBackupTable;
  inspected_request: RequestRecordTable;
}

export interface OrganizationTable {
  id: string;
  name: string;
  /** 1: an API account's id and token may be exchanged for a bearer token. */
  token_exchange: Generated<number>;
  /** 1: people who log in with a password need a second factor. */
  second_factor: Generated<number>;
  created_at: number;
}

export interface FrontdoorTable {
  id: string;
  organization_id: string;
  name: string;
  created_at: number;
}

export interface ApiAccountTable {
  id: string;
  organization_id: string;
  name: string;
  token_hmac: string;
  /** Names the secret, without being secret: what it opened refers to it. */
  secret_id: string;
  /** HMAC of the previous token, accepted until `previous_until`; null if there is none. */
  previous_hmac: string | null;
  previous_id: string | null;
  previous_until: number | null;
  /** Separated by spaces. */
  scopes: string;
  created_at: number;
  revoked_at: number | null;
  /** Written at most once a minute. */
  last_used_at: number | null;
}

export interface OauthClientTable {
  /** The client_id. */
  id: string;
  organization_id: string;
  name: string;
  secret_hmac: string;
  /** Names the secret, without being secret: what it opened refers to it. */
  secret_id: string;
  /** HMAC of the previous secret, accepted until `previous_until`; null if there is none. */
  previous_hmac: string | null;
  previous_id: string | null;
  previous_until: number | null;
  /** Separated by spaces. */
  scopes: string;
  created_at: number;
  revoked_at: number | null;
  /** Written at most once a minute. */
  last_used_at: number | null;
}

/** Keys that sign tokens and service sessions (ES256). The newest active one signs; unexpired ones verify. */
export interface SigningKeyTable {
  /** The `kid`. */
  id: string;
  purpose: 'bearer' | 'service-session' | 'origin-identity';
  algorithm: 'ES256';
  /** From this time on it signs. Before, it is only published, so that verifiers know it in time. */
  activates_at: number;
  /** PKCS#8 PEM, encrypted. */
  private_key_sealed: string;
  /** SPKI PEM. */
  public_key: string;
  created_at: number;
  expires_at: number | null;
}

/** Where public shares are served: `https?://<token>.<zone>`. Shared by frontdoors. */
export interface FrontendTable {
  id: string;
  public_name: string;
  /** DNS zone below which every public share has a name, in lower case. */
  zone: string;
  is_default: number;
  created_at: number;
}

/** Every holder of a client certificate of Frontdoor. `edge`: made through the edge management API. */
export interface IdentityTable {
  id: string;
  kind: 'environment' | 'gateway' | 'router' | 'edge';
  /** The frontdoor of an environment; null for the others. */
  frontdoor_id: string | null;
  name: string;
  /** The version that the agent reported last; null before, and for foreign clients. */
  agent_version: string | null;
  created_at: number;
  /** When it last called a control plane, or its channels to routers began or ended; written at most once a minute. */
  last_seen_at: number | null;
  /** The address of its last call to a control plane. */
  remote_address: string | null;
}

/** The certificates that an identity may present. Enrollment adds one; renewal adds one and removes the old one. */
export interface CertificateTable {
  /** SHA-1 of the DER leaf in lower-case hex (OpenZiti's fingerprint). */
  fingerprint: string;
  identity_id: string;
  /** SHA-256 of the subject public key info, hex. */
  spki_sha256: string;
  /** The entity of the authority of another party that issued it; null for ours. */
  authority_id: string | null;
  /** The name of our intermediate that issued it; null for the first one, and for certificates of other parties. */
  issuer: Generated<string | null>;
  not_after: number;
  created_at: number;
}

/** A share is an overlay service: `id` is the service id, `token` its name, unique in its frontdoor. */
export interface ShareTable {
  id: string;
  frontdoor_id: string;
  environment_id: string;
  token: string;
  /** The given name, equal to the token; null for a random token. */
  name: string | null;
  share_mode: 'public' | 'private';
  backend_mode: BackendMode;
  target: string;
  /** 1: kept until it is deleted; 0: deleted when it is released. */
  reserved: number;
  /** 1: the agent itself set this target; 0: set through the Management API. */
  target_by_agent: number;
  /** How clients reach a public share of a stream; null for all others. */
  ingress: IngressKind | null;
  /** The port of gateways with the ingress `port`, unique with its backend mode; null for all others. */
  ingress_port: number | null;
  /** Incremented when the share is reclaimed or changed. */
  epoch: number;
  /** Null: its own rules apply. */
  policy_id: string | null;
  created_at: number;
  updated_at: number;
}

export interface ShareFrontendTable {
  share_id: string;
  frontend_id: string;
  /** Copy of the share's token: unique with `frontend_id`. */
  token: string;
}

export interface ShareAuthProviderTable {
  share_id: string;
  auth_provider_id: string;
  /** In the order of the share's list. */
  position: number;
}

export interface ShareGrantTable {
  share_id: string;
  environment_id: string;
}

/** Ports at which a gateway opens listeners for shares, as it reported last. */
export interface GatewayPortRangeTable {
  gateway_id: string;
  protocol: 'tcp' | 'udp';
  first_port: number;
  last_port: number;
}

/** Authentication of inbound requests. */
export interface AuthProviderTable {
  id: string;
  frontdoor_id: string;
  name: string;
  type: AuthProviderType;
  enabled: number;
  /** JSON: the data in the form of the API, with each secret masked. */
  data: string;
  /** JSON object of the data's secrets by property, encrypted; null if there are none. */
  secrets_sealed: string | null;
  /** Incremented with changes of type, data and `enabled`. Log-ins of another version have ended. */
  version: number;
  created_at: number;
  updated_at: number;
}

/** The part of an API_KEY provider's key that is not in its data; one row for each key there. */
export interface AuthProviderKeyTable {
  auth_provider_id: string;
  name: string;
  key_hmac: string;
  last_used_at: number | null;
  created_at: number;
}

/** Row count of a frontdoor's list, and a version that changes with its order. Maintained by triggers. */
export interface CollectionTable {
  frontdoor_id: string;
  kind: 'environment' | 'share' | 'auth-provider';
  total: number;
  version: number;
}
