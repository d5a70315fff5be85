/** API accounts and OAuth clients: rows, rights and look-ups. */
export { authorsNamed } from './author-names.ts';
export { type CallerKind, callerKey, callerKindAndId, provenBySecret } from './account-store.ts';
export { CallerDirectory } from './caller-directory.ts';
export {
  ADMIN_SCOPES,
  type CallerRecord,
  createCaller,
  endPreviousSecret,
  findCallerRecord,
  listCallers,
  lockCaller,
  removesLastAdmin,
  renameCaller,
  revokeCaller,
  rotateCaller,
  searchCallers,
} from './caller-store.ts';
export { writeCallerUses } from './caller-use-store.ts';
export { type RuleParts, THE_INSTALLATION, presentRights, providerCredential } from './credential-rule.ts';
