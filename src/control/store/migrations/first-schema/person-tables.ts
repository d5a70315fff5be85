/** People of an organization, how they log in, and their sessions at the console. */
export const personTables = `
create table person (
  id text primary key not null,
  organization_id text not null references organization (id) on delete cascade,
  name text not null,
  email text,
  role text,
  last_seen_at bigint,
  created_at bigint not null
);
create index person_by_organization_id on person (organization_id);
-- People without a role, who are counted before another one is added.
create index person_waiting on person (organization_id) where role is null;

create table person_network (
  person_id text not null references person (id) on delete cascade,
  network text not null,
  last_seen_at bigint not null,
  constraint person_network_key primary key (person_id, network)
);

create table person_password (
  person_id text primary key not null references person (id) on delete cascade,
  organization_id text not null,
  email text not null,
  password_hash text not null,
  failed_attempts integer not null default 0,
  locked_until bigint,
  link_hmac text,
  link_expires_at bigint,
  link_maker_kind text,
  link_maker_id text,
  link_maker_credential text,
  updated_at bigint not null
);
create unique index person_password_by_address on person_password (email, organization_id);
create unique index person_password_by_link on person_password (link_hmac);

create table person_totp (
  person_id text primary key not null references person (id) on delete cascade,
  secret_sealed text,
  recovery_sealed text not null,
  last_step bigint not null default 0,
  pending_sealed text,
  pending_until bigint,
  failed_attempts integer not null default 0,
  locked_until bigint,
  enrolled_at bigint,
  updated_at bigint not null
);

create table invitation (
  id text primary key not null,
  organization_id text not null references organization (id) on delete cascade,
  name text not null,
  email text,
  role text not null,
  code_hmac text not null unique,
  maker_kind text not null,
  maker_id text not null,
  maker_credential text not null,
  created_at bigint not null,
  expires_at bigint not null
);
create index invitation_by_organization_id on invitation (organization_id);

create table console_log_in (
  id text primary key not null,
  organization_id text not null references organization (id) on delete cascade,
  auth_provider_id text not null unique references auth_provider (id) on delete cascade,
  roles text not null,
  created_at bigint not null
);
create index console_log_in_by_organization_id on console_log_in (organization_id);

create table sign_in_page (
  organization_id text primary key not null references organization (id) on delete cascade,
  title text,
  logo text
);

create table console_session (
  id text primary key not null,
  token_hmac text not null unique,
  organization_id text not null references organization (id) on delete cascade,
  person_id text references person (id) on delete cascade,
  account_id text references api_account (id) on delete cascade,
  address text not null,
  browser text not null,
  proven_at bigint not null,
  last_used_at bigint not null,
  auth_provider_id text references auth_provider (id) on delete cascade,
  second_factor integer not null default 0,
  credential text,
  created_at bigint not null,
  expires_at bigint not null
);
create index console_session_by_account_id on console_session (account_id);
create index console_session_by_organization_id on console_session (organization_id);
create index console_session_by_person_id on console_session (person_id);

create table person_identity (
  auth_provider_id text not null references auth_provider (id) on delete cascade,
  subject text not null,
  person_id text not null references person (id) on delete cascade,
  constraint person_identity_key primary key (auth_provider_id, subject)
);
create index person_identity_by_person_id on person_identity (person_id)
`;
