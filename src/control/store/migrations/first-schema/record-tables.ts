/** What happened and what was measured; and what the control planes over one database have in common. */
export const recordTables = `
create table audit_event (
  organization_id text not null,
  sequence bigint not null,
  id text not null unique,
  at bigint not null,
  actor_kind text not null,
  actor_id text,
  action text not null,
  target_kind text,
  target_id text,
  before text,
  after text,
  address text,
  result text not null,
  reason text,
  occurrences bigint not null,
  hash text not null,
  constraint audit_event_key primary key (organization_id, sequence)
);
create index audit_event_by_action on audit_event (organization_id, action, sequence);
create index audit_event_by_actor_id on audit_event (organization_id, actor_id, sequence);
create index audit_event_by_result on audit_event (organization_id, result, sequence);
create index audit_event_by_target_id on audit_event (organization_id, target_id, sequence);

create table audit_head (
  organization_id text primary key not null,
  sequence bigint not null,
  hash text not null
);

create table audit_export (
  organization_id text primary key not null,
  sequence bigint not null,
  exported_at bigint not null
);

create table metric_rollup (
  scope_id text not null,
  resolution_ms integer not null,
  starts_at bigint not null,
  scope text not null,
  requests bigint not null default 0,
  errors bigint not null default 0,
  bytes_in bigint not null default 0,
  bytes_out bigint not null default 0,
  latency text not null,
  status_2xx bigint not null default 0,
  status_3xx bigint not null default 0,
  status_4xx bigint not null default 0,
  status_5xx bigint not null default 0,
  constraint metric_rollup_key primary key (scope_id, resolution_ms, starts_at)
);
create index metric_rollup_by_age on metric_rollup (resolution_ms, starts_at);

create table metric_source (
  id text primary key not null,
  last_batch bigint not null,
  seen_at bigint not null
);

create table request_failure (
  id text primary key not null,
  frontdoor_id text not null references frontdoor (id) on delete cascade,
  share_id text not null,
  at bigint not null,
  code text not null,
  hop text not null,
  data text not null
);
create index request_failure_by_age on request_failure (at);
create index request_failure_by_frontdoor on request_failure (frontdoor_id, at, id);

create table inspected_request (
  id text primary key not null,
  frontdoor_id text not null,
  share_id text not null references share (id) on delete cascade,
  at bigint not null,
  data text not null
);
create index inspected_request_by_age on inspected_request (at);
create index inspected_request_by_share on inspected_request (share_id, at, id);

-- Without references: a sweep removes the entries of a deleted frontdoor in steps.
create table logged_request (
  id text primary key not null,
  frontdoor_id text not null,
  share_id text not null,
  share_token text not null,
  at bigint not null,
  is_served integer not null,
  outcome text not null,
  status integer not null,
  method text not null,
  host text not null,
  path text not null,
  client text not null,
  identity text,
  provider_id text,
  decision text not null,
  code text,
  hop text,
  cause text,
  trace_id text,
  gateway_id text not null,
  bytes_in bigint not null,
  bytes_out bigint not null,
  decided_us bigint,
  circuit_us bigint,
  first_byte_us bigint,
  done_us bigint,
  left_out bigint not null,
  bytes integer not null
);
create index logged_request_by_frontdoor on logged_request (frontdoor_id, at, id, is_served);

create table request_log_usage (
  frontdoor_id text not null,
  is_served integer not null,
  entries bigint not null default 0,
  bytes bigint not null default 0,
  constraint request_log_usage_key primary key (frontdoor_id, is_served)
);

create table request_log_setting (
  frontdoor_id text primary key not null references frontdoor (id) on delete cascade,
  enabled integer not null,
  kept_seconds bigint not null,
  max_entries bigint not null,
  max_bytes bigint not null
);

create table unrouted_failure (
  id text primary key not null,
  at bigint not null,
  data text not null
);
create index unrouted_failure_by_age on unrouted_failure (at, id);

-- Without references, because a creation must not wait for a transaction that has locked the row of its organization.
create table idempotency_answer (
  id text primary key not null,
  organization_id text not null,
  request_hmac text not null,
  answer_sealed text not null,
  bytes bigint not null,
  created_at bigint not null,
  expires_at bigint not null
);
create index idempotency_answer_by_age on idempotency_answer (organization_id, created_at);
create index idempotency_answer_by_end on idempotency_answer (expires_at);

create table idempotency_usage (
  organization_id text primary key not null,
  answers bigint not null,
  bytes bigint not null
);

create table authority (
  name text primary key not null,
  certificate_pem text not null,
  key_sealed text not null,
  parent text,
  issues_at bigint not null default 0,
  ends_at bigint,
  created_at bigint not null
);

create table shared_key (
  name text primary key not null,
  key_sealed text not null,
  created_at bigint not null
);

create table shared_leaf (
  host text primary key not null,
  certificate_pem text not null,
  created_at bigint not null
);

create table sealing_key (
  key_id text primary key not null,
  state text not null,
  added_at bigint not null,
  sealing_at bigint,
  worked_until bigint not null
);

create table sealing_member (
  id text primary key not null,
  name text not null,
  key_ids text not null,
  sealing_id text not null,
  seen_at bigint not null
);

create table replica (
  id text primary key not null,
  api_url text not null,
  started_at bigint not null,
  seen_at bigint not null,
  ctrl_address text,
  controller_id text,
  edge_api_urls text,
  edge_certificate text
);

create table replica_status (
  replica_id text not null references replica (id) on delete cascade,
  kind text not null,
  id text not null,
  state text not null,
  version bigint not null,
  constraint replica_status_key primary key (replica_id, kind, id)
);
create index replica_status_by_version on replica_status (replica_id, version);

create table last_backup (
  name text primary key not null,
  finished_at bigint not null
)
`;
