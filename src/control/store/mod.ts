/** The store: both databases behind one interface, pages, locks, the feed of changes, and migrations. */
export { type MigrationCopies, MigrationCopyFolder } from './engine/copy-before-migration.ts';
export { countedPage, matchedPage, orderedPage } from './engine/counted-page.ts';
export { databaseFileBytes } from './engine/database-file.ts';
export { type Write, writeJointly } from './engine/joint-writes.ts';
export { type LastUse, LastUses, usesBySecond } from './engine/last-uses.ts';
export {
  type ListFilter,
  containsIn,
  isFiltered,
  isOfClass,
  jsonField,
  lowered,
  narrowed,
} from './engine/list-filter.ts';
export { type ListOrder, listTotal } from './engine/list-pages.ts';
export { inOrderOf, measuredIds } from './engine/measured-page.ts';
export { openStore } from './engine/open-store.ts';
export { databaseState, readDatabaseState, schemaSteps } from './engine/read-schema.ts';
export type { Page, PageRequest } from './engine/page.ts';
export { type Remembered, RememberedLookup } from './engine/remembered-lookup.ts';
export { type ResourceChange, resourceChangeOf, touchResource } from './engine/resource-change.ts';
export { lockedByName, lockedForShare, lockedForUpdate } from './engine/row-lock.ts';
export {
  type Migrations,
  NewerSchema,
  isNewestSchema,
  isUnreleasedSchema,
  migrationsOf,
} from './engine/schema-migration.ts';
export { isUniqueViolation } from './engine/store-errors.ts';
export { type StoreFollower, followStore } from './engine/store-follower.ts';
export { StoreSweep, type SweepParts } from './engine/store-sweep.ts';
export {
  type Change,
  type Queries,
  type Store,
  type StoreTransaction,
  type Touch,
  concerns,
} from './engine/store.ts';
export type {
  HostnameProof,
  LoginAttemptTable,
  LoginSessionTable,
  SharePolicyTable,
} from './schema/access-schema.ts';
export { isPostgres } from './schema/database-kind.ts';
export type { ApiSessionTable } from './schema/edge-session-schema.ts';
export type { EnrollmentKind } from './schema/enrollment-schema.ts';
export type { InvitationTable, PersonTable, PersonTotpTable } from './schema/people-schema.ts';
export type {
  AuditEventTable,
  AuditHeadTable,
  AuthProviderTable,
  DomainCertificateTable,
  HostnameClaimTable,
  Database,
  EdgeEntityKind,
  EdgeEntityTable,
  FabricServiceTable,
  IdentityTable,
  MetricRollupTable,
  ReplicaStatusTable,
  ReplicaTable,
  RestingNameTable,
  ShareTable,
  SigningKeyTable,
  TerminatorKind,
  TerminatorTable,
} from './schema/schema.ts';
