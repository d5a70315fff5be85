/** Backups of a whole installation, and their way back into an empty database. */
export { openBackup } from './backup-stream.ts';
export { restoreDatabase, type Restored, type RestoreOptions } from './restore-target.ts';
