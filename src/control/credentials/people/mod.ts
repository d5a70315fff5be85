/** People: their invitations, passwords, second factors, organizations, and sessions of the console. */
export {
  type ConsoleLogInRecord,
  type RoleRule,
  bindAccount,
  consoleLogInIdUsing,
  createConsoleLogIn,
  deleteConsoleLogIn,
  findConsoleLogIn,
  findConsoleLogInOf,
  listConsoleLogIns,
  offeredConsoleLogIns,
  personOfAccount,
  rolesThroughProviders,
  waitingPeople,
} from './console-log-in-store.ts';
export {
  type ConsoleSession,
  type SessionBeginning,
  type SessionClient,
  type SessionOwner,
  endConsoleSession,
  endSessionsOfOwner,
  endSessionsWithoutFactor,
  findConsoleSession,
  findConsoleSessionById,
  hasConsoleSession,
  keepProviderSession,
  listConsoleSessions,
  noteSessionUse,
  openConsoleSession,
  renewSessionCredential,
  renewSessionToken,
} from './console-session-store.ts';
export {
  type InvitationRecord,
  createInvitation,
  deleteInvitation,
  findInvitation,
  findInvitationByCode,
  listInvitations,
  takeInvitation,
  takeInvitationOf,
} from './invitation-store.ts';
export {
  type OrganizationRecord,
  changeOrganization,
  countOrganizations,
  createOrganization,
  deleteOrganization,
  findOrganization,
  firstOrganization,
  listOrganizations,
  lockOrganization,
  searchOrganizations,
} from './organization-store.ts';
export { type LinkedPerson, findPasswordLink, isLinkOf, putPasswordLink } from './password-link-store.ts';
export {
  type KnownPassword,
  countPersonAttempts,
  endPersonAttempts,
  findPersonPasswords,
  hasPassword,
  passwordOf,
  putPersonPassword,
  replacePersonPassword,
  uncountPersonAttempts,
} from './person-password-store.ts';
export { noteNetwork } from './person-network-store.ts';
export {
  type PersonRecord,
  changePerson,
  deletePerson,
  findPerson,
  insertPerson,
  listPeople,
  lockPerson,
  searchPeople,
} from './person-store.ts';
export {
  deletePersonTotp,
  demandsSecondFactor,
  findPersonTotp,
  lockPersonTotp,
} from './person-totp-store.ts';
export {
  type SignInLook,
  type SignInPageRecord,
  findSignInPage,
  lockedSignInPage,
  putSignInPage,
  signInLook,
} from './sign-in-page-store.ts';
