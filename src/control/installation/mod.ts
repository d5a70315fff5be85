/** Opens the database of an installation with its key file, and creates an administrator when credentials are lost. */
export { inviteOperator, inviteOperatorOffline } from './console-invitation.ts';
export { type InstallationOptions, beginInstallation, openInstallation } from './open-installation.ts';
export { type NewAdmin, resetAdmin } from './reset-admin.ts';
