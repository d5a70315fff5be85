/** Passwords and one-time passwords of the overlay's identities. */
export {
  type IdentityPassword,
  countPasswordAttempt,
  endPasswordAttempts,
  findIdentityPassword,
  hasPasswordSince,
  putIdentityPassword,
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
