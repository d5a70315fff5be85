/** Tables of what happened: the audit trail, and traffic. */
import type { Generated } from 'kysely';

/** Audit events in a chain per organization: each hash covers its event and the previous hash. Never changed. */
export interface AuditEventTable {
  id: string;
  /** '' for events without an organization. */
  organization_id: string;
  /** From 1, without gaps, in its chain. */
  sequence: number;
  at: number;
  actor_kind: string;
  actor_id: string | null;
  /** Id of the operation, or of a machine's action. */
  action: string;
  target_kind: string | null;
  target_id: string | null;
  /** JSON with masked secrets; null if there was nothing, or nothing to compare. */
  before: string | null;
  after: string | null;
  address: string | null;
  result: 'ok' | 'refused';
  /** Code of a refusal. */
  reason: string | null;
  /** Equal refusals in quick succession are one event. */
  occurrences: number;
  /** Hex. */
  hash: string;
}

/** The end of each audit chain. */
export interface AuditHeadTable {
  organization_id: string;
  sequence: number;
  hash: string;
}

/** The last event of each chain that the collector of the installation has. */
export interface AuditExportTable {
  organization_id: string;
  sequence: number;
  exported_at: number;
}

/** When a backup was finished last. One row. */
export interface LastBackupTable {
  name: 'installation';
  finished_at: number;
}

/** Traffic of one scope in one span of time. */
export interface MetricRollupTable {
  /** Width of the span: 10 s, 1 min, 1 h, 1 d. */
  resolution_ms: number;
  starts_at: number;
  scope: 'frontdoor' | 'environment' | 'share';
  scope_id: string;
  requests: number;
  errors: number;
  status_2xx: Generated<number>;
  status_3xx: Generated<number>;
  status_4xx: Generated<number>;
  status_5xx: Generated<number>;
  bytes_in: number;
  bytes_out: number;
  /** Latency histogram, see the metric store. */
  latency: string;
}

/** The last accepted batch of each process of a gateway. */
export interface MetricSourceTable {
  /** `<gateway identity>/<process>`. */
  id: string;
  last_batch: number;
  seen_at: number;
}
