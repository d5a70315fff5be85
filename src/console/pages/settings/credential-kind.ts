/** API accounts and OAuth clients differ in the names of their operations and of their secret alone. */
import type { AnswerOf, BodyOf } from '#contract';
import { useAnswer, useChange } from '../../api/queries.ts';

export type CredentialEntry = AnswerOf<'getApiAccount'> | AnswerOf<'getOauthClient'>;
export type NewCredential = BodyOf<'createApiAccount'>;

export interface ShownSecret {
  readonly id: string;
  readonly secret: string;
}

type OnSecret = (shown: ShownSecret) => void;

export interface CredentialKind {
  readonly path: 'accounts' | 'clients';
  readonly list: 'listApiAccounts' | 'listOauthClients';
  readonly useOne: (
    id: string,
  ) => ReturnType<typeof useAnswer<'getApiAccount'>> | ReturnType<typeof useAnswer<'getOauthClient'>>;
  readonly useCreate: (
    onSecret: OnSecret,
  ) => ReturnType<typeof useChange<'createApiAccount'>> | ReturnType<typeof useChange<'createOauthClient'>>;
  readonly useRename: (
    onDone: () => void,
  ) => ReturnType<typeof useChange<'changeApiAccount'>> | ReturnType<typeof useChange<'changeOauthClient'>>;
  readonly useRotate: (
    onSecret: OnSecret,
  ) => ReturnType<typeof useChange<'rotateApiAccount'>> | ReturnType<typeof useChange<'rotateOauthClient'>>;
  readonly useEndPrevious: (
    onDone: () => void,
  ) => ReturnType<typeof useChange<'endPreviousToken'>> | ReturnType<typeof useChange<'endPreviousSecret'>>;
  readonly useRevoke: (
    onDone: () => void,
  ) => ReturnType<typeof useChange<'deleteApiAccount'>> | ReturnType<typeof useChange<'deleteOauthClient'>>;
  /** Until when the secret before the last rotation is accepted. */
  readonly previousUntil: (entry: CredentialEntry) => string | undefined;
}

const accountRefreshes = { refreshes: ['account'] };
const clientRefreshes = { refreshes: ['client'] };

export const ACCOUNTS: CredentialKind = {
  path: 'accounts',
  list: 'listApiAccounts',
  useOne: (id) => useAnswer('getApiAccount', { parameters: { id } }),
  useCreate: (onSecret) =>
    useChange('createApiAccount', {
      ...accountRefreshes,
      onDone: ({ body: { id, token } }) => onSecret({ id, secret: token }),
    }),
  useRename: (onDone) => useChange('changeApiAccount', { ...accountRefreshes, onDone }),
  useRotate: (onSecret) =>
    useChange('rotateApiAccount', {
      ...accountRefreshes,
      onDone: ({ body: { id, token } }) => onSecret({ id, secret: token }),
    }),
  useEndPrevious: (onDone) => useChange('endPreviousToken', { ...accountRefreshes, onDone }),
  useRevoke: (onDone) => useChange('deleteApiAccount', { ...accountRefreshes, onDone }),
  previousUntil: (entry) => ('previousTokenUntil' in entry ? entry.previousTokenUntil : undefined),
};

export const CLIENTS: CredentialKind = {
  path: 'clients',
  list: 'listOauthClients',
  useOne: (id) => useAnswer('getOauthClient', { parameters: { id } }),
  useCreate: (onSecret) =>
    useChange('createOauthClient', {
      ...clientRefreshes,
      onDone: ({ body: { id, secret } }) => onSecret({ id, secret }),
    }),
  useRename: (onDone) => useChange('changeOauthClient', { ...clientRefreshes, onDone }),
  useRotate: (onSecret) =>
    useChange('rotateOauthClient', {
      ...clientRefreshes,
      onDone: ({ body: { id, secret } }) => onSecret({ id, secret }),
    }),
  useEndPrevious: (onDone) => useChange('endPreviousSecret', { ...clientRefreshes, onDone }),
  useRevoke: (onDone) => useChange('deleteOauthClient', { ...clientRefreshes, onDone }),
  previousUntil: (entry) => ('previousSecretUntil' in entry ? entry.previousSecretUntil : undefined),
};
