/** Shares, where they are served and who may open them; terminators of all services; counted lists. */
export const shareTables = `
create table frontend (
  id text primary key not null,
  public_name text not null unique,
  zone text not null unique,
  is_default integer not null,
  created_at bigint not null
);

create table auth_provider (
  id text primary key not null,
  frontdoor_id text not null references frontdoor (id) on delete cascade,
  name text not null,
  type text not null,
  enabled integer not null,
  data text not null,
  secrets_sealed text,
  version bigint not null,
  created_at bigint not null,
  updated_at bigint not null
);
create index auth_provider_by_created_at on auth_provider (frontdoor_id, created_at, id);
create index auth_provider_by_enabled on auth_provider (frontdoor_id, enabled, id);
create index auth_provider_by_id on auth_provider (frontdoor_id, id);
create index auth_provider_by_name on auth_provider (frontdoor_id, name, id);
create index auth_provider_by_type on auth_provider (frontdoor_id, type, id);

create table auth_provider_key (
  auth_provider_id text not null references auth_provider (id) on delete cascade,
  name text not null,
  key_hmac text not null,
  last_used_at bigint,
  created_at bigint not null,
  constraint auth_provider_key_key primary key (auth_provider_id, name)
);

create table access_policy (
  id text primary key not null,
  frontdoor_id text not null references frontdoor (id) on delete cascade,
  name text not null,
  data text not null,
  password_hashes text not null,
  created_at bigint not null,
  updated_at bigint not null,
  constraint access_policy_name unique (frontdoor_id, name)
);

create table share (
  id text primary key not null,
  frontdoor_id text not null references frontdoor (id) on delete cascade,
  environment_id text not null references identity (id) on delete cascade,
  token text not null,
  name text,
  share_mode text not null,
  backend_mode text not null,
  target text not null,
  reserved integer not null,
  target_by_agent integer not null,
  ingress text,
  ingress_port integer,
  epoch bigint not null,
  policy_id text references access_policy (id),
  created_at bigint not null,
  updated_at bigint not null,
  constraint share_token unique (frontdoor_id, token)
);
create unique index share_ingress_port on share (backend_mode, ingress_port) where ingress_port is not null;
create index share_by_environment on share (environment_id);
create index share_by_policy on share (policy_id, token);
create index share_by_name on share (frontdoor_id, coalesce(name, ''), token);

create table share_frontend (
  share_id text not null references share (id) on delete cascade,
  frontend_id text not null references frontend (id) on delete cascade,
  token text not null,
  constraint share_frontend_key primary key (share_id, frontend_id),
  constraint share_frontend_token unique (frontend_id, token)
);

create table share_auth_provider (
  share_id text not null references share (id) on delete cascade,
  auth_provider_id text not null references auth_provider (id),
  position integer not null,
  constraint share_auth_provider_key primary key (share_id, auth_provider_id)
);
create index share_auth_provider_by_provider on share_auth_provider (auth_provider_id);

create table share_grant (
  share_id text not null references share (id) on delete cascade,
  environment_id text not null references identity (id) on delete cascade,
  constraint share_grant_key primary key (share_id, environment_id)
);
create index share_grant_by_environment on share_grant (environment_id);

create table gateway_port_range (
  gateway_id text not null references identity (id) on delete cascade,
  protocol text not null,
  first_port integer not null,
  last_port integer not null,
  constraint gateway_port_range_key primary key (gateway_id, protocol)
);

create table share_policy (
  share_id text primary key not null references share (id) on delete cascade,
  data text not null,
  password_hashes text not null,
  updated_at bigint not null
);

create table share_upstream (
  share_id text primary key not null references share (id) on delete cascade,
  data text not null,
  updated_at bigint not null
);

create table share_inspection (
  share_id text primary key not null references share (id) on delete cascade,
  max_body_bytes integer not null,
  until_at bigint not null
);

-- A custom frontend, or with share_id the own name of one share.
create table hostname_claim (
  id text primary key not null,
  frontdoor_id text not null references frontdoor (id) on delete cascade,
  share_id text references share (id) on delete cascade,
  hostname text not null,
  frontend_id text references frontend (id),
  status text not null,
  certified_at bigint,
  proof text not null,
  proof_name text,
  proof_ends_at bigint,
  proof_problem text,
  proof_due_at bigint not null default 0,
  proof_misses integer not null default 0,
  created_at bigint not null,
  constraint hostname_claim_kind check ((share_id is null) <> (frontend_id is null))
);
create index hostname_claim_by_frontdoor on hostname_claim (frontdoor_id, created_at, id);
create index hostname_claim_by_hostname on hostname_claim (hostname);
create index hostname_claim_by_proof_due_at on hostname_claim (proof_due_at);
create index hostname_claim_by_proof_name on hostname_claim (proof_name);
create index hostname_claim_by_share on hostname_claim (share_id);
-- Several organizations may claim a hostname, and at most one of them is served.
create unique index hostname_claim_served on hostname_claim (hostname) where proof <> 'PENDING';

-- The certificate of a share's domain at one gateway, as that reported it.
create table domain_certificate (
  claim_id text not null references hostname_claim (id) on delete cascade,
  gateway_id text not null references identity (id) on delete cascade,
  valid_until bigint,
  problem text,
  retry_at bigint,
  reported_at bigint not null,
  constraint domain_certificate_key primary key (claim_id, gateway_id)
);
create index domain_certificate_by_gateway on domain_certificate (gateway_id);

create table custom_frontend_auth_provider (
  custom_frontend_id text not null references hostname_claim (id) on delete cascade,
  auth_provider_id text not null references auth_provider (id),
  position integer not null,
  constraint custom_frontend_auth_provider_key primary key (custom_frontend_id, auth_provider_id)
);
create index custom_frontend_auth_provider_by_provider on custom_frontend_auth_provider (auth_provider_id);

-- Without a reference, because the names of a deleted organization rest as well.
create table resting_name (
  name text primary key not null,
  kind text not null,
  organization_id text not null,
  created_at bigint not null,
  expires_at bigint not null
);
create index resting_name_by_expiry on resting_name (expires_at);
create index resting_name_by_organization on resting_name (organization_id, created_at);

create table login_attempt (
  state_hmac text primary key not null,
  share_id text not null references share (id) on delete cascade,
  auth_provider_id text not null references auth_provider (id) on delete cascade,
  provider_version bigint not null,
  host text not null,
  port integer not null,
  browser text not null,
  address text not null,
  secrets_sealed text not null,
  returned_at bigint,
  identity text,
  code_hmac text unique,
  redeemed_at bigint,
  created_at bigint not null,
  expires_at bigint not null
);
create index login_attempt_by_auth_provider_id on login_attempt (auth_provider_id);
create index login_attempt_by_expires_at on login_attempt (expires_at);
create index login_attempt_by_share_id on login_attempt (share_id);

create table login_session (
  id text primary key not null,
  token_hmac text not null unique,
  share_id text not null references share (id) on delete cascade,
  auth_provider_id text not null references auth_provider (id) on delete cascade,
  provider_version bigint not null,
  host text not null,
  subject text not null,
  identity text not null,
  last_used_at bigint not null,
  email text,
  created_at bigint not null,
  expires_at bigint not null
);
create index login_session_by_age on login_session (auth_provider_id, created_at, id);
create index login_session_by_email on login_session (auth_provider_id, email);
create index login_session_by_expires_at on login_session (expires_at);
create index login_session_by_person on login_session (auth_provider_id, subject);
create index login_session_by_share_id on login_session (share_id);
create index login_session_by_subject on login_session (share_id, subject, created_at);

create table collection (
  frontdoor_id text not null references frontdoor (id) on delete cascade,
  kind text not null,
  total bigint not null,
  version bigint not null,
  constraint collection_key primary key (frontdoor_id, kind)
);

-- One of the three references to a service is set, by the kind.
create table terminator (
  id text primary key not null,
  kind text not null,
  share_id text references share (id) on delete cascade,
  entity_id text references edge_entity (id) on delete cascade,
  fabric_service_id text references fabric_service (id) on delete cascade,
  router_id text not null references identity (id) on delete cascade,
  identity_id text references identity (id) on delete cascade,
  binding text not null,
  address text not null,
  instance_id text not null,
  cost integer not null,
  precedence integer not null,
  peer_data text not null,
  tags text not null default '{}',
  created_at bigint not null,
  updated_at bigint
);
create index terminator_by_entity_id on terminator (entity_id);
create index terminator_by_fabric_service_id on terminator (fabric_service_id);
create index terminator_by_identity_id on terminator (identity_id);
create index terminator_by_router_id on terminator (router_id);
create index terminator_by_share_id on terminator (share_id)
`;
