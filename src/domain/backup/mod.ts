/** The file of a backup, line by line. */
export {
  BACKUP_FORMAT,
  BackupDecoder,
  type BackupHeader,
  type BackupItem,
  type BackupSummary,
  type BackupTrailer,
  type BackupValue,
} from './backup-decoder.ts';
