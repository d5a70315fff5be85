/** Tables of the people who use the console: who they are, how they log in, and their sessions. */
import type { Generated } from 'kysely';
import type { Role } from '#domain';

export interface PeopleTables {
  person: PersonTable;
  person_password: PersonPasswordTable;
  person_totp: PersonTotpTable;
  person_network: PersonNetworkTable;
  invitation: InvitationTable;
  console_session: ConsoleSessionTable;
  console_log_in: ConsoleLogInTable;
  person_identity: PersonIdentityTable;
  sign_in_page: SignInPageTable;
}

export interface PersonTable {
  id: string;
  organization_id: string;
  name: string;
  email: string | null;
  /** Null while the person waits for an administrator. */
  role: Role | null;
  created_at: number;
  /** To the minute. */
  last_seen_at: number | null;
}

/** A network that a person signed in from. */
export interface PersonNetworkTable {
  person_id: string;
  network: string;
  last_seen_at: number;
}

export interface PersonPasswordTable {
  person_id: string;
  /** That of the person. */
  organization_id: string;
  /** In lower case. Unique in its organization. */
  email: string;
  /** argon2id, as a PHC string. */
  password_hash: string;
  /** Attempts since the last right one. */
  failed_attempts: Generated<number>;
  locked_until: number | null;
  /** HMAC of the code with which the person sets a new password; null while there is no link. */
  link_hmac: Generated<string | null>;
  link_expires_at: Generated<number | null>;
  /** The caller that made the link, and its credential, which is named as in `console_session`. */
  link_maker_kind: Generated<string | null>;
  link_maker_id: Generated<string | null>;
  link_maker_credential: Generated<string | null>;
  /** When the password was set. */
  updated_at: number;
}

/** The second factor of a person with a password. */
export interface PersonTotpTable {
  person_id: string;
  /** Null until a first code was shown. */
  secret_sealed: string | null;
  recovery_sealed: string;
  /** The step of the last code that was accepted. */
  last_step: number;
  /** A secret that takes the place of the other with its first code. */
  pending_sealed: string | null;
  pending_until: number | null;
  /** Wrong codes since the last right one. */
  failed_attempts: number;
  locked_until: number | null;
  enrolled_at: number | null;
  updated_at: number;
}

export interface InvitationTable {
  id: string;
  organization_id: string;
  name: string;
  email: string | null;
  role: Role;
  code_hmac: string;
  /** The caller that made it, and its credential, named as in `console_session`. */
  maker_kind: string;
  maker_id: string;
  maker_credential: string;
  created_at: number;
  expires_at: number;
}

/** A log-in at the console, of a person or of an API account: one of both ids is set. */
export interface ConsoleSessionTable {
  id: string;
  token_hmac: string;
  organization_id: string;
  person_id: string | null;
  account_id: string | null;
  /** Null for a log-in by password or token. */
  auth_provider_id: string | null;
  /** Names the credential that opened it (`credential-rule.ts`); null if that had ended before. */
  credential: string | null;
  /** 1: the log-in had a second factor, or the session's owner enrolled in it. */
  second_factor: Generated<number>;
  address: string;
  browser: string;
  created_at: number;
  /** When the session's owner last proved the identity, by password or through a provider. */
  proven_at: number;
  /** To the minute. */
  last_used_at: number;
  expires_at: number;
}

/** An auth provider with which people log in at the console. */
export interface ConsoleLogInTable {
  id: string;
  organization_id: string;
  /** Unique. */
  auth_provider_id: string;
  /** JSON: rules that give newcomers a role. */
  roles: string;
  created_at: number;
}

/** Which person an account of an auth provider is. */
export interface PersonIdentityTable {
  auth_provider_id: string;
  subject: string;
  person_id: string;
}

/** How the sign-in pages of an organization look. */
export interface SignInPageTable {
  organization_id: string;
  title: string | null;
  /** A PNG image in base64. */
  logo: string | null;
}
