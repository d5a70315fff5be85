/** Writes a backup of an installation, and restores one into an empty database. */
export { lastBackupMs, noteBackup } from './last-backup.ts';
export { openBackup } from './backup-stream.ts';
export { openCopiedStore } from './migration-backup.ts';
export { restoreDatabase, type Restored, type RestoreOptions } from './restore-target.ts';
