export {
  parsePublicApiUrl,
  startControlPlane,
  type ControlPlane,
  type ControlPlaneOptions,
  type PublicApiUrl,
} from './wiring/mod.ts';
export type { LocalEnds } from './overlay/mod.ts';
export type { ApiLimits } from './management-api/mod.ts';
export { loadTrustedIssuers, type TrustedIssuer } from './oauth/mod.ts';
export type { FirstStart } from './store/mod.ts';
export { createAdministrator, type NewAdministrator } from './edge-management/mod.ts';
export { inviteOperatorOffline, resetAdmin, type NewAdmin } from './installation/mod.ts';
export { restoreDatabase, type Restored, type RestoreOptions } from './backup/mod.ts';
