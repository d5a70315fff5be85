export { startControlPlane, type ControlPlane, type ControlPlaneOptions } from './control-plane.ts';
export type { ApiLimits } from './management-api/limits.ts';
export type { TrustedIssuer } from './oauth/trusted-issuer-config.ts';
export { loadTrustedIssuers } from './oauth/trusted-issuer-file.ts';
export { parsePublicApiUrl, type PublicApiUrl } from './public-api-url.ts';
export type { FirstStart } from './store/records/first-rows.ts';
export { resetAdmin, type NewAdmin } from './installation/reset-admin.ts';
export { restoreDatabase, type Restored, type RestoreOptions } from './backup/restore-target.ts';
