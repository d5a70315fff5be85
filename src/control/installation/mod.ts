/** Fills an empty database on the first start, and creates an administrator when credentials are lost. */
export { inviteOperator, inviteOperatorOffline } from './console-invitation.ts';
export { seedFirstStart } from './first-start.ts';
export { resetAdmin, type NewAdmin } from './reset-admin.ts';
export { beginInstallation, openInstallation, type InstallationOptions } from './open-installation.ts';
