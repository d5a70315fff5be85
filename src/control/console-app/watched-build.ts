/** What `frontdoor dev console --watch` has built last: a line in the folder of builds, with the watcher's process and the key. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export const WATCHED_FILE = 'watched.txt';

/** Returns the key of the last build of a watcher that runs. */
export async function watchedKey(folder: string): Promise<string | undefined> {
  const text = await readFile(join(folder, WATCHED_FILE), 'utf8').catch(() => '');
  const [, pid, key] = /^(\d+) ([0-9a-f]+)$/.exec(text.trim()) ?? [];
  return key !== undefined && isRunning(Number(pid)) ? key : undefined;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
