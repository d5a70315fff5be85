/** The file of a backup, line by line, and the names of the files of a database. */
export {
  BACKUP_FORMAT,
  BackupDecoder,
  type BackupHeader,
  type BackupItem,
  type BackupSummary,
  type BackupTrailer,
  type BackupValue,
} from './backup-decoder.ts';
export { copiedFile, EMBEDDED_DATABASE, migrationCopy } from './database-files.ts';
