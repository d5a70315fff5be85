/** API accounts and OAuth clients differ only in the names of their operations and of their secret. */
import type { AnswerOf, BodyOf } from '#contract';

export type CredentialEntry = AnswerOf<'getApiAccount'> | AnswerOf<'getOauthClient'>;
export type NewCredential = BodyOf<'createApiAccount'>;

export interface ShownSecret {
  readonly id: string;
  readonly secret: string;
}

export interface CredentialKind {
  readonly path: 'accounts' | 'clients';
  /** As the stream of changes names it. */
  readonly kind: 'account' | 'client';
  readonly list: 'listApiAccounts' | 'listOauthClients';
  readonly get: 'getApiAccount' | 'getOauthClient';
  readonly create: 'createApiAccount' | 'createOauthClient';
  readonly rename: 'changeApiAccount' | 'changeOauthClient';
  readonly rotate: 'rotateApiAccount' | 'rotateOauthClient';
  readonly endPrevious: 'endPreviousToken' | 'endPreviousSecret';
  readonly revoke: 'deleteApiAccount' | 'deleteOauthClient';
}

export const ACCOUNTS: CredentialKind = {
  path: 'accounts',
  kind: 'account',
  list: 'listApiAccounts',
  get: 'getApiAccount',
  create: 'createApiAccount',
  rename: 'changeApiAccount',
  rotate: 'rotateApiAccount',
  endPrevious: 'endPreviousToken',
  revoke: 'deleteApiAccount',
};

export const CLIENTS: CredentialKind = {
  path: 'clients',
  kind: 'client',
  list: 'listOauthClients',
  get: 'getOauthClient',
  create: 'createOauthClient',
  rename: 'changeOauthClient',
  rotate: 'rotateOauthClient',
  endPrevious: 'endPreviousSecret',
  revoke: 'deleteOauthClient',
};

export function secretIn(
  made: AnswerOf<'createApiAccount' | 'rotateApiAccount' | 'createOauthClient' | 'rotateOauthClient'>,
): ShownSecret {
  return { id: made.id, secret: 'token' in made ? made.token : made.secret };
}

/** Until when the secret before the last rotation is accepted. */
export function previousUntil(entry: CredentialEntry): string | undefined {
  if ('previousTokenUntil' in entry) return entry.previousTokenUntil;
  return 'previousSecretUntil' in entry ? entry.previousSecretUntil : undefined;
}
