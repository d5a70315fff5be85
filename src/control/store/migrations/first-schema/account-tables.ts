/** Organizations, frontdoors and their callers; identities, how they enroll, and their sessions; the entities of the edge API. */
export const accountTables = `
create table organization (
  id text primary key not null,
  name text not null,
  token_exchange integer not null default 0,
  second_factor integer not null default 0,
  created_at bigint not null
);

create table frontdoor (
  id text primary key not null,
  organization_id text not null references organization (id) on delete cascade,
  name text not null,
  created_at bigint not null
);
create index frontdoor_by_organization on frontdoor (organization_id, created_at, id);

create table api_account (
  id text primary key not null,
  organization_id text not null references organization (id) on delete cascade,
  name text not null,
  token_hmac text not null,
  scopes text not null,
  revoked_at bigint,
  previous_hmac text,
  previous_until bigint,
  last_used_at bigint,
  secret_id text not null,
  previous_id text,
  created_at bigint not null
);
create index api_account_by_organization on api_account (organization_id);

create table oauth_client (
  id text primary key not null,
  organization_id text not null references organization (id) on delete cascade,
  name text not null,
  secret_hmac text not null,
  scopes text not null,
  revoked_at bigint,
  previous_hmac text,
  previous_until bigint,
  last_used_at bigint,
  secret_id text not null,
  previous_id text,
  created_at bigint not null
);
create index oauth_client_by_organization on oauth_client (organization_id);

create table signing_key (
  id text primary key not null,
  purpose text not null,
  algorithm text not null,
  activates_at bigint not null,
  private_key_sealed text not null,
  public_key text not null,
  created_at bigint not null,
  expires_at bigint
);

create table identity (
  id text primary key not null,
  kind text not null,
  frontdoor_id text references frontdoor (id) on delete cascade,
  name text not null,
  agent_version text,
  last_seen_at bigint,
  remote_address text,
  created_at bigint not null
);
create index identity_by_age on identity (frontdoor_id, created_at, id);
create index identity_by_frontdoor on identity (frontdoor_id, name, id);
create index identity_by_kind on identity (kind, name, id);

create table enrollment (
  id text primary key not null,
  kind text not null,
  frontdoor_id text references frontdoor (id) on delete cascade,
  identity_id text not null,
  code_hmac text unique,
  refused_csr_count integer not null default 0,
  claimed_at bigint,
  username text,
  authority_id text,
  name text,
  created_at bigint not null,
  expires_at bigint not null
);
create index enrollment_by_expiry on enrollment (expires_at);
create index enrollment_by_frontdoor on enrollment (frontdoor_id);
create index enrollment_by_identity on enrollment (identity_id);

create table certificate (
  fingerprint text primary key not null,
  identity_id text not null references identity (id) on delete cascade,
  spki_sha256 text not null,
  not_after bigint not null,
  authority_id text,
  issuer text,
  created_at bigint not null
);
create index certificate_by_authority on certificate (authority_id);
create index certificate_by_identity on certificate (identity_id);
create index certificate_by_issuer on certificate (issuer);

create table root_receipt (
  identity_id text primary key not null references identity (id) on delete cascade,
  root text not null,
  received_at bigint not null
);

create table api_session (
  id text primary key not null,
  identity_id text not null references identity (id) on delete cascade,
  token_hmac text not null unique,
  token_sealed text not null,
  fingerprint text not null,
  config_types text not null,
  form text not null default 'opaque',
  method text not null default 'cert',
  certificates text not null default '[]',
  posture text,
  signer_id text,
  second_signer_id text,
  certificate_ends_at bigint,
  refresh_id text,
  refresh_before_id text,
  refreshed_at bigint,
  created_at bigint not null,
  expires_at bigint not null
);
create index api_session_by_identity on api_session (identity_id);

create table session_revocation (
  session_id text primary key not null,
  ended_at bigint not null
);
create index session_revocation_by_end on session_revocation (ended_at);

create table identity_totp (
  identity_id text primary key not null references identity (id) on delete cascade,
  id text not null,
  secret_sealed text not null,
  recovery_sealed text not null,
  is_verified integer not null,
  last_step bigint not null,
  created_at bigint not null,
  updated_at bigint not null
);

create table identity_client (
  identity_id text primary key not null references identity (id) on delete cascade,
  env_info text not null,
  sdk_info text not null
);

create table identity_password (
  identity_id text primary key not null references identity (id) on delete cascade,
  username text not null unique,
  password_hash text not null,
  failed_attempts integer not null default 0,
  locked_until bigint,
  created_at bigint not null,
  updated_at bigint not null
);

create table management_session (
  id text primary key not null,
  identity_id text not null references identity (id) on delete cascade,
  token_hmac text not null unique,
  method text not null,
  created_at bigint not null,
  expires_at bigint not null
);
create index management_session_by_identity on management_session (identity_id);

create table edge_entity (
  id text primary key not null,
  kind text not null,
  name text not null,
  data text not null,
  tags text not null,
  created_at bigint not null,
  updated_at bigint not null,
  constraint edge_entity_name unique (kind, name)
);

create table fabric_service (
  id text primary key not null,
  name text not null unique,
  terminator_strategy text not null,
  created_at bigint not null
)
`;
