/** Files that survive a crash, and that only their owner reads. */
export { decodeBackup, verifiedBackup, type BackupEnd } from './compressed-backup.ts';
export { replaceFileDurably, writeFileDurably } from './durable-file.ts';
export { copyAside, setAside, setAsideAtOnce } from './set-aside.ts';
export { syncFolder, syncFolderAtOnce } from './folder-sync.ts';
export {
  checkNotWritableByOthers,
  isOpenToOthers,
  readPrivateFile,
  type PrivateFile,
} from './private-file.ts';
export { isRunning, processStart } from './process-identity.ts';
export {
  findRunningProgram,
  noteRunningProgram,
  refuseSecondProgram,
  secondProgram,
  type RunningMark,
} from './running-program.ts';
export { loadIdentityFile, saveIdentityFile, type IdentityFile } from './identity-file.ts';
