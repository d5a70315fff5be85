/** Passwords and one-time passwords of the overlay's identities. */
export {
  type IdentityPassword,
  type StoredUserName,
  countPasswordAttempt,
  deleteIdentityPassword,
  endPasswordAttempts,
  findIdentityPassword,
  hasPasswordSince,
  putIdentityPassword,
  userNames,
} from './identity-password-store.ts';
export {
  type IdentityTotp,
  changeTotp,
  deleteTotp,
  findTotp,
  identitiesWithTotp,
  insertTotp,
  lockTotp,
  needsTotp,
} from './totp-store.ts';
