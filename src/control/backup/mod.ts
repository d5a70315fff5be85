/** Writes a backup of an installation, and restores one into an empty database. */
export { openBackup } from './backup-stream.ts';
export { lastBackupMs, noteBackup } from './last-backup.ts';
export { openCopiedStore } from './migration-backup.ts';
export { type RestoreOptions, type Restored, restoreDatabase } from './restore-target.ts';
