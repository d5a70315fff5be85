/** Fills an empty database on the first start, and creates an administrator when credentials are lost. */
export { inviteOperator, inviteOperatorOffline } from './console-invitation.ts';
export type { FirstStart } from './first-rows.ts';
export { seedFirstStart } from './first-start.ts';
export { type InstallationOptions, beginInstallation, openInstallation } from './open-installation.ts';
export { type NewAdmin, resetAdmin } from './reset-admin.ts';
