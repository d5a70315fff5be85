/** Reads a small file with secrets. A file that other users may read or write is refused with the remedy. */
import type { Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import process from 'node:process';
import { FrontdoorError } from '#base';

const MAX_FILE_BYTES = 1_048_576;
const OTHERS_ACCESS = 0o077;
const OTHERS_WRITE = 0o022;
/** What an orchestrator gives a secret that it mounts for the group of a container: nobody may write it. */
const MOUNTED_MODE = 0o440;
/** What an administrator gives a file of a service: root may write it, and the group of the service may read it. */
const SERVICE_MODE = 0o640;
const ROOT = 0;

export type PrivateFile =
  | { readonly text: string }
  | { readonly problem: string; readonly isMissing: boolean; readonly cause?: unknown };

/** `problem` is the end of a sentence that begins with the file. */
export async function readPrivateFile(path: string): Promise<PrivateFile> {
  try {
    const info = await stat(path);
    if (isOpenToOthers(info)) return refused(`other users can access it; run: chmod 600 ${path}`);
    if (!info.isFile() || info.size > MAX_FILE_BYTES) return refused('it is not a small regular file');
    return { text: await readFile(path, 'utf8') };
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    return { problem: isMissing ? 'it does not exist' : 'it cannot be read', isMissing, cause };
  }
}

/**
 * Whether other users may read or write the file. A group of this process may read one that nobody, or only root, can write. Under
 * Windows the mode says nothing: a file there has the access rules of its folder.
 */
export function isOpenToOthers(
  { mode, gid, uid }: Pick<Stats, 'mode' | 'gid' | 'uid'>,
  reader = { uid: process.getuid?.(), groups: groupsOfProcess() },
): boolean {
  if (process.platform === 'win32' || (mode & OTHERS_ACCESS) === 0) return false;
  const rights = mode & 0o777;
  const isForGroup =
    rights === MOUNTED_MODE || (rights === SERVICE_MODE && uid === ROOT && reader.uid !== ROOT);
  return !isForGroup || !reader.groups.includes(gid);
}

/** Refuses a file that other users can write, because it decides what this machine publishes. */
export function checkNotWritableByOthers(path: string, { mode }: Pick<Stats, 'mode'>): void {
  if (process.platform === 'win32' || (mode & OTHERS_WRITE) === 0) return;
  throw new FrontdoorError(
    'forbidden',
    'file-writable-by-others',
    `other users can write to ${path} (mode ${(mode & 0o777).toString(8)}); run: chmod go-w ${path}`,
  );
}

function groupsOfProcess(): readonly number[] {
  return [process.getegid?.() ?? -1, ...(process.getgroups?.() ?? [])];
}

function refused(problem: string): PrivateFile {
  return { problem, isMissing: false };
}
