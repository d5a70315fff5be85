/** Where notifications are sent, what is reported as failing now, and the events with their deliveries. */
export const notificationTables = `
create table notification_destination (
  id text primary key not null,
  organization_id text not null references organization (id) on delete cascade,
  name text not null,
  type text not null,
  enabled integer not null default 1,
  events text not null,
  url_sealed text,
  addresses_sealed text,
  secret_sealed text,
  previous_sealed text,
  previous_until bigint,
  failures integer not null default 0,
  paused_until bigint not null default 0,
  last_success_at bigint,
  last_problem text,
  created_at bigint not null
);
create index notification_destination_by_organization_id
  on notification_destination (organization_id, created_at);

-- A row exists while the resource is reported as failing. The control plane that inserts or deletes it sends the event.
create table reported_problem (
  kind text not null,
  resource_id text not null,
  organization_id text not null,
  since bigint not null,
  constraint reported_problem_key primary key (kind, resource_id)
);
create index reported_problem_by_organization_id on reported_problem (organization_id, since);

create table notification_event (
  id text primary key not null,
  organization_id text not null,
  type text not null,
  at bigint not null,
  data text not null,
  unexported integer not null default 0
);
create index notification_event_by_age on notification_event (at);
create index notification_event_unexported on notification_event (at, id) where unexported = 1;

create table notification_delivery (
  id text primary key not null,
  destination_id text not null references notification_destination (id) on delete cascade,
  event_id text not null references notification_event (id) on delete cascade,
  state text not null,
  attempts integer not null default 0,
  due_at bigint not null,
  created_at bigint not null,
  attempted_at bigint,
  status integer,
  problem text,
  accepted text
);
create index notification_delivery_by_due on notification_delivery (state, due_at);
create index notification_delivery_by_destination
  on notification_delivery (destination_id, state, created_at);
create index notification_delivery_by_event on notification_delivery (event_id);

create table mail_usage (
  organization_id text primary key not null references organization (id) on delete cascade,
  hour bigint not null,
  recipients integer not null
);

create table event_export (
  id text primary key not null,
  url_sealed text not null,
  header text not null,
  secret_sealed text,
  compressed integer not null,
  enabled integer not null,
  paused_until bigint not null default 0,
  lease_holder text,
  lease_until bigint not null default 0,
  delivered bigint not null default 0,
  delivered_at bigint,
  failures integer not null default 0,
  last_problem text,
  created_at bigint not null
)
`;
