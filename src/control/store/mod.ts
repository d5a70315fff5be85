/** The store: both databases behind one interface, the tables, and the queries of each resource. */
export { containsIn, jsonField, lowered, narrowed, type ListFilter } from './engine/list-filter.ts';
export { LastUses } from './engine/last-uses.ts';
export { writeJointly } from './engine/joint-writes.ts';
export { databaseFileBytes } from './engine/database-file.ts';
export { openStore } from './engine/open-store.ts';
export type { Page, PageRequest } from './engine/page.ts';
export { resourceChangeOf, touchResource, type ResourceChange } from './engine/resource-change.ts';
export { lockedByName, lockedForUpdate } from './engine/row-lock.ts';
export { isNewestSchema, migrationsOf, type Migrations } from './engine/schema-migration.ts';
export { MigrationCopyFolder, type MigrationCopies } from './engine/copy-before-migration.ts';
export { StoreSweep, type SweepParts } from './engine/store-sweep.ts';
export {
  concerns,
  type Change,
  type Queries,
  type Store,
  type StoreTransaction,
  type Touch,
} from './engine/store.ts';
export { countFrontdoor, countInstallation, expiringCertificates } from './records/summary-store.ts';
export {
  deleteEnrollment,
  listAgentEnrollments,
  lockAgentEnrollment,
  type AgentEnrollmentRecord,
} from './records/agent-enrollment-store.ts';
export {
  frontdoorsOf,
  searchCustomFrontends,
  searchOrganizations,
  searchProviders,
} from './records/search-store.ts';
export { CallerDirectory } from './records/caller-directory.ts';
export { FrontdoorDirectory } from './records/frontdoor-directory.ts';
export {
  callerKey,
  hasCredential,
  provenBySecret,
  type ApiCaller,
  type CallerKind,
  type ProvenCaller,
} from './records/account-store.ts';
export {
  countSharesUsing,
  deleteAuthProvider,
  findAuthProvider,
  insertAuthProvider,
  listAuthProviders,
  listSharesUsing,
  lockAuthProvider,
  updateAuthProvider,
  type AuthProviderRecord,
} from './records/auth-provider-store.ts';
export {
  createCaller,
  endPreviousSecret,
  findCallerRecord,
  listCallers,
  lockCaller,
  renameCaller,
  removesLastAdmin,
  revokeCaller,
  rotateCaller,
  type CallerRecord,
} from './records/caller-store.ts';
export {
  addRenewedCertificate,
  dropOlderCertificates,
  insertCertificate,
  overdueCertificates,
  type NewCertificate,
} from './records/certificate-store.ts';
export {
  changeCustomFrontend,
  deleteCustomFrontend,
  findCustomFrontend,
  insertCustomFrontend,
  listCustomFrontends,
  listFrontendsUsing,
  lockCustomFrontend,
  zoneOf,
  type CustomFrontendRecord,
} from './records/custom-frontend-store.ts';
export {
  deleteEdgeEntity,
  edgeEntitiesAfter,
  edgeEntitiesNaming,
  findEdgeEntities,
  findEdgeEntity,
  findEdgeIdentityByExternalId,
  insertEdgeEntity,
  insertEdgeIdentity,
  isEdgeNameTaken,
  lockEdgeEntities,
  MAX_EDGE_ENTITIES,
  updateEdgeEntity,
  type EdgeEntityRecord,
  type JsonObject,
} from './records/edge-entity-store.ts';
export {
  changeProof,
  contestOf,
  endClaim,
  hastenProof,
  isProvenByAnother,
  listClaims,
  lockClaim,
  noteLookUp,
  takeDueProofs,
  type HostnameClaim,
  type ProofChange,
} from './records/hostname-proof-store.ts';
export {
  claimEnrollment,
  createEnrollment,
  findByCode,
  findByToken,
  mintJti,
  pruneEnrollments,
  refuseCsr,
  type Enrollment,
  type EnrollmentKind,
} from './records/enrollment-store.ts';
export {
  countSharesOf,
  deleteEnvironment,
  findEnvironment,
  lockEnvironment,
  renameEnvironment,
  listEnvironments,
  type EnvironmentRecord,
} from './records/environment-store.ts';
export {
  changeFabricService,
  createFabricService,
  deleteFabricService,
  fabricServicesAfter,
  findFabricService,
  findFabricServices,
  listFabricServices,
  lockFabricService,
  type FabricServiceRecord,
} from './records/fabric-service-store.ts';
export {
  changeFabricRouter,
  createFabricNode,
  deleteFabricNode,
  findFabricNode,
  listFabricNodes,
  type FabricKind,
  type FabricNode,
  type NewFabricNode,
} from './records/fabric-store.ts';
export {
  changeFabricTerminator,
  createFabricTerminator,
  deleteFabricTerminators,
  fabricTerminatorsAfter,
  findFabricTerminators,
  lockFabricTerminator,
  type FabricTerminator,
} from './records/fabric-terminator-store.ts';
export {
  deleteManagedTerminator,
  findManagedTerminators,
  insertManagedTerminator,
  managedTerminatorsAfter,
  updateManagedTerminator,
  type ManagedTerminator,
} from './records/managed-terminator-store.ts';
export { FabricTerminatorWriter } from './records/fabric-terminator-writer.ts';
export {
  ADMIN_SCOPES,
  checkKeyFile,
  seedFirstRows,
  type FirstStart,
  type FirstStartOptions,
  hasFirstRows,
} from './records/first-rows.ts';
export {
  createFrontdoor,
  deleteFrontdoor,
  firstFrontdoor,
  lockFrontdoor,
  renameFrontdoor,
  grantFrontdoor,
  type GrantedFrontdoor,
} from './records/frontdoor-store.ts';
export { listFrontends } from './records/frontend-store.ts';
export { heldByEnvironment, heldByFrontdoor } from './records/held-resources.ts';
export {
  findKeptAnswer,
  forgetKeptAnswers,
  keepAnswer,
  type KeptAnswer,
  type KeyedRequest,
} from './records/idempotency-store.ts';
export { IdempotencySweep } from './records/idempotency-sweep.ts';
export {
  findIdentityClient,
  identityClients,
  putIdentityClient,
  UNKNOWN_CLIENT,
  type IdentityClient,
} from './records/identity-client-store.ts';
export {
  countPasswordAttempt,
  endPasswordAttempts,
  findIdentityPassword,
  hasPasswordSince,
  putIdentityPassword,
  type IdentityPassword,
} from './records/identity-password-store.ts';
export {
  changeOrganization,
  createOrganization,
  deleteOrganization,
  findOrganization,
  firstOrganization,
  hasFrontdoor,
  listFrontdoors,
  listOrganizations,
  lockOrganization,
  type OrganizationRecord,
} from './records/organization-store.ts';
export {
  endManagementSession,
  extendManagementSession,
  findAdministratorSession,
  openManagementSession,
  type ManagementSession,
} from './records/management-session-store.ts';
export {
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
  type ConsoleLogInRecord,
  type RoleRule,
} from './records/console-log-in-store.ts';
export {
  endConsoleSession,
  endSessionsOfPerson,
  endSessionsWithoutFactor,
  findConsoleSession,
  findConsoleSessionById,
  hasConsoleSession,
  listConsoleSessions,
  keepProviderSession,
  noteSessionUse,
  openConsoleSession,
  renewSessionCredential,
  renewSessionToken,
  type ConsoleSession,
  type SessionBeginning,
  type SessionClient,
  type SessionOwner,
} from './records/console-session-store.ts';
export {
  createInvitation,
  deleteInvitation,
  findInvitation,
  findInvitationByCode,
  listInvitations,
  takeInvitation,
  takeInvitationOf,
  type InvitationRecord,
} from './records/invitation-store.ts';
export {
  findPasswordLink,
  isLinkOf,
  putPasswordLink,
  type LinkedPerson,
} from './records/password-link-store.ts';
export {
  FIRST_SECRET,
  ISSUER_CREDENTIAL,
  presentRights,
  providerCredential,
  THE_INSTALLATION,
  type RuleParts,
} from './records/credential-rule.ts';
export {
  countPersonAttempts,
  endPersonAttempts,
  findPersonPasswords,
  hasPassword,
  passwordOf,
  putPersonPassword,
  replacePersonPassword,
  uncountPersonAttempts,
  type KnownPassword,
} from './records/person-password-store.ts';
export {
  deletePersonTotp,
  demandsSecondFactor,
  findPersonTotp,
  lockPersonTotp,
  putPersonTotp,
  type EnrolledTotp,
  type PersonTotp,
} from './records/person-totp-store.ts';
export {
  changePerson,
  deletePerson,
  findPerson,
  insertPerson,
  listPeople,
  lockPerson,
  type PersonRecord,
} from './records/person-store.ts';
export { writeCallerUses, writeIdentityUses } from './records/last-use-store.ts';
export { decodePeerData, encodePeerData } from './records/peer-data-column.ts';
export {
  deleteInspected,
  findFailure,
  findInspected,
  listFailures,
  listInspected,
  putFailures,
  putInspected,
  type StoredFailure,
} from './records/request-record-store.ts';
export { RequestRecordSweep } from './records/request-record-sweep.ts';
export { listRestingNames, releaseRestingName, type RestingName } from './records/resting-name-store.ts';
export { RestingNameSweep } from './records/resting-name-sweep.ts';
export { findGuardedShares, guardedSharesAfter, type GuardedShare } from './records/share-guard.ts';
export { findInspection, putInspection } from './records/share-inspection-store.ts';
export { PolicyCheck } from './records/policy-check.ts';
export {
  checkNotNeededForPeople,
  checkPeopleProvable,
  warnedPolicies,
  warningsOfPolicy,
} from './records/policy-warning-store.ts';
export { findSharePolicy, putSharePolicy } from './records/share-policy-store.ts';
export {
  findShare,
  findShareForUpdate,
  findShareId,
  findShareIdForUpdate,
  findSharesInOrder,
  listShares,
  listSharesOf,
  type LockedShare,
  type ShareRecord,
} from './records/share-record.ts';
export {
  changeShare,
  createOrTakeBackShare,
  createShare,
  deleteShare,
  releaseShare,
} from './records/share-store.ts';
export {
  createSigningKey,
  deleteExpiredSigningKeys,
  endOtherSigningKeys,
  listSigningKeys,
  lockNewestSigningKey,
  type SigningKey,
  type SigningPurpose,
} from './records/signing-key-store.ts';
export {
  changeTotp,
  deleteTotp,
  findTotp,
  identitiesWithTotp,
  insertTotp,
  lockTotp,
  needsTotp,
  type IdentityTotp,
} from './records/totp-store.ts';
export { findUnroutedFailure, putUnroutedFailures } from './records/unrouted-failure-store.ts';
export type { HostnameProof, LoginAttemptTable, LoginSessionTable } from './schema/access-schema.ts';
export type { ApiSessionTable } from './schema/edge-session-schema.ts';
export { isPostgres } from './schema/database-kind.ts';
export type {
  AuditEventTable,
  AuditHeadTable,
  AuthProviderTable,
  Database,
  EdgeEntityKind,
  EdgeTerminatorTable,
  MetricRollupTable,
  ReplicaStatusTable,
  ReplicaTable,
  TerminatorTable,
} from './schema/schema.ts';
