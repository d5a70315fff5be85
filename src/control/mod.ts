export {
  parsePublicApiUrl,
  startControlPlane,
  type ControlPlane,
  type ControlPlaneOptions,
  type PublicApiUrl,
} from './wiring/mod.ts';
export type { LocalEnds } from './overlay/mod.ts';
export type { ApiLimits } from './shares/operations/mod.ts';
export { loadTrustedIssuers, type TrustedIssuer } from './credentials/oauth/mod.ts';
export { inviteOperatorOffline, resetAdmin, type NewAdmin } from './installation/mod.ts';
export type { FirstStart } from './shares/records/mod.ts';
export { createAdministrator, type NewAdministrator } from './ziti/management-api/mod.ts';
export { readDatabaseState, schemaSteps } from './store/mod.ts';
export { restoreDatabase, type Restored, type RestoreOptions } from './backup/mod.ts';
