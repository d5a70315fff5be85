/**
 * Every table of the schema: those of a backup in an order that references permit, with the key for reading their
 * rows, and those that a backup omits. A table that is in neither list does not compile.
 */
import type { Database } from '../store/schema/mod.ts';

type Row<T extends keyof Database> = {
  readonly table: T;
  readonly key: readonly (keyof Database[T] & string)[];
};

export type BackedUpTable = { [T in keyof Database]: Row<T> }[keyof Database];

export const BACKED_UP = [
  { table: 'organization', key: ['id'] },
  { table: 'frontdoor', key: ['id'] },
  { table: 'api_account', key: ['id'] },
  { table: 'oauth_client', key: ['id'] },
  { table: 'signing_key', key: ['id'] },
  { table: 'authority', key: ['name'] },
  { table: 'shared_key', key: ['name'] },
  { table: 'sealing_key', key: ['key_id'] },
  { table: 'shared_leaf', key: ['host'] },
  { table: 'frontend', key: ['id'] },
  { table: 'enrollment', key: ['id'] },
  { table: 'identity', key: ['id'] },
  { table: 'certificate', key: ['fingerprint'] },
  { table: 'root_receipt', key: ['identity_id'] },
  { table: 'api_session', key: ['id'] },
  { table: 'identity_totp', key: ['identity_id'] },
  { table: 'identity_client', key: ['identity_id'] },
  { table: 'session_revocation', key: ['session_id'] },
  { table: 'auth_provider', key: ['id'] },
  { table: 'auth_provider_key', key: ['auth_provider_id', 'name'] },
  { table: 'access_policy', key: ['id'] },
  { table: 'share', key: ['id'] },
  { table: 'share_frontend', key: ['share_id', 'frontend_id'] },
  { table: 'share_auth_provider', key: ['share_id', 'auth_provider_id'] },
  { table: 'share_grant', key: ['share_id', 'environment_id'] },
  { table: 'share_policy', key: ['share_id'] },
  { table: 'share_upstream', key: ['share_id'] },
  { table: 'request_log_setting', key: ['frontdoor_id'] },
  { table: 'hostname_claim', key: ['id'] },
  { table: 'custom_frontend_auth_provider', key: ['custom_frontend_id', 'auth_provider_id'] },
  { table: 'resting_name', key: ['name'] },
  { table: 'fabric_service', key: ['id'] },
  { table: 'edge_entity', key: ['id'] },
  { table: 'terminator', key: ['id'] },
  { table: 'identity_password', key: ['identity_id'] },
  { table: 'person', key: ['id'] },
  { table: 'person_password', key: ['person_id'] },
  { table: 'person_network', key: ['person_id', 'network'] },
  { table: 'person_totp', key: ['person_id'] },
  { table: 'sign_in_page', key: ['organization_id'] },
  { table: 'console_log_in', key: ['id'] },
  { table: 'person_identity', key: ['auth_provider_id', 'subject'] },
  { table: 'notification_destination', key: ['id'] },
  { table: 'audit_event', key: ['organization_id', 'sequence'] },
  { table: 'audit_head', key: ['organization_id'] },
  { table: 'event_export', key: ['id'] },
  { table: 'audit_export', key: ['organization_id'] },
  { table: 'metric_rollup', key: ['scope_id', 'resolution_ms', 'starts_at'] },
  { table: 'metric_source', key: ['id'] },
  // After the rows that its triggers count.
  { table: 'collection', key: ['frontdoor_id', 'kind'] },
] as const satisfies readonly BackedUpTable[];

/** Triggers count their rows, and the backup contains the counts. */
export const COUNTED = ['share', 'identity', 'auth_provider'] as const;
export const COUNTS = 'collection';

/**
 * Omitted: the state and measurements of running processes, which are outdated when the backup is read; log-ins,
 * because an ended session must not come back; and records of requests and responses kept for repeated ones,
 * because they are short-lived, and private or contain secrets that are shown once.
 */
const LEFT_OUT = [
  'replica',
  'replica_status',
  'sealing_member',
  'login_attempt',
  'login_session',
  'management_session',
  'console_session',
  'invitation',
  'share_inspection',
  // Gateways report it again.
  'domain_certificate',
  'gateway_port_range',
  'request_failure',
  // Control planes find again what fails, and nothing is sent twice after a return.
  'reported_problem',
  'notification_event',
  'notification_delivery',
  'mail_usage',
  // A database that was restored has no backup of its own.
  'last_backup',
  'unrouted_failure',
  'logged_request',
  'request_log_usage',
  'inspected_request',
  'idempotency_answer',
  'idempotency_usage',
] as const satisfies readonly (keyof Database)[];

type Placed = (typeof BACKED_UP)[number]['table'] | (typeof LEFT_OUT)[number];
export const everyTableIsPlaced: Exclude<keyof Database, Placed> extends never ? true : never = true;
