/**
 * A folder of dated backups, of which the newest are kept. Only files with the names that are made here are ever removed, so
 * that other files can be in the folder.
 */
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

const NAME = /^frontdoor-\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z\.backup$/;
const UNFINISHED = /^frontdoor-\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z\.backup\.[0-9a-f]{12}\.tmp$/;
/** A backup that is being written waits for its first byte, and for each of the next, for less time. */
const ABANDONED_MS = 3_600_000;

/** Makes the folder if it does not exist, and returns the path of a backup that begins now. Its parent must exist. */
export async function datedBackupFile(folder: string, nowMs: number): Promise<string> {
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const time = new Date(nowMs).toISOString().slice(0, 19).replaceAll(':', '-');
  return join(folder, `frontdoor-${time}Z.backup`);
}

/**
 * Removes the oldest backups by the times in their names until `keep` are left, and what interrupted ones left. The backup
 * `written` is kept whatever the clock was before. Returns the names of the removed backups.
 */
export async function removeOldBackups(
  folder: string,
  { keep, written, nowMs }: { readonly keep: number; readonly written: string; readonly nowMs: number },
): Promise<string[]> {
  const names = await readdir(folder);
  const others = names.filter((name) => NAME.test(name) && name !== written).toSorted();
  const old = others.slice(0, Math.max(0, others.length - (keep - 1)));
  for (const name of old) await rm(join(folder, name), { force: true });
  for (const name of names.filter((each) => UNFINISHED.test(each))) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && nowMs - found.mtimeMs > ABANDONED_MS) await rm(path, { force: true });
  }
  return old;
}
