/** Tables of notifications. */
import type { Generated } from 'kysely';

export interface NotificationTables {
  notification_destination: NotificationDestinationTable;
  reported_problem: ReportedProblemTable;
  notification_event: NotificationEventTable;
  notification_delivery: NotificationDeliveryTable;
  mail_usage: MailUsageTable;
  event_export: EventExportTable;
}

export interface NotificationDestinationTable {
  id: string;
  organization_id: string;
  name: string;
  type: 'webhook' | 'email';
  enabled: Generated<number>;
  /** Types of events, separated by spaces. */
  events: string;
  /** The address of a webhook, whose path or query may hold a token. */
  url_sealed: string | null;
  /** Email addresses, separated by spaces; null for a webhook. */
  addresses_sealed: string | null;
  /** The secret that signs; null for types without signatures. */
  secret_sealed: string | null;
  /** The secret before, which signs too until `previous_until`. */
  previous_sealed: string | null;
  previous_until: number | null;
  /** Successive failures since the last success. */
  failures: Generated<number>;
  /** Nothing is sent before this time. */
  paused_until: Generated<number>;
  last_success_at: number | null;
  /** Why the last attempt failed; null if it succeeded. */
  last_problem: string | null;
  created_at: number;
}

export interface ReportedProblemTable {
  kind: 'share' | 'agent' | 'router' | 'certificate' | 'quota';
  resource_id: string;
  /** '' for the installation. */
  organization_id: string;
  since: number;
}

export interface NotificationEventTable {
  id: string;
  /** '' for the installation. */
  organization_id: string;
  type: string;
  at: number;
  /** JSON: `data` of the message. */
  data: string;
  /** 1: the collector of the installation has to get it. */
  unexported: Generated<number>;
}

export interface NotificationDeliveryTable {
  id: string;
  destination_id: string;
  event_id: string;
  state: 'PENDING' | 'DELIVERED' | 'FAILED';
  attempts: Generated<number>;
  /** When it is sent next; while it is sent, when another control plane may repeat it. */
  due_at: number;
  created_at: number;
  attempted_at: number | null;
  /** HTTP status of the last answer. */
  status: number | null;
  /** Why the last attempt failed. */
  problem: string | null;
  /** Marks of the email addresses that have it, separated by spaces; null: none. */
  accepted: string | null;
}

/** How many recipients an organization has sent mail to in an hour. */
export interface MailUsageTable {
  organization_id: string;
  /** Hours since 1970. */
  hour: number;
  recipients: number;
}

/** The collector of all events, which has one row at most. */
export interface EventExportTable {
  id: string;
  /** Its path or query may hold a token. */
  url_sealed: string;
  /** The header that has the secret. */
  header: string;
  secret_sealed: string | null;
  compressed: number;
  enabled: number;
  /** Nothing is sent before this time. */
  paused_until: Generated<number>;
  /** The control plane that sends, until `lease_until`. */
  lease_holder: string | null;
  lease_until: Generated<number>;
  delivered: Generated<number>;
  delivered_at: number | null;
  /** Successive failures since the last success. */
  failures: Generated<number>;
  last_problem: string | null;
  created_at: number;
}
