/** What `frontdoor dev console --watch` has built last: a file beside the build, with the watcher's process and the key. */
import { readFile } from 'node:fs/promises';

export function watchedFile(folder: string): string {
  return `${folder}.watched`;
}

/** Returns the key of the last build of a watcher that runs. */
export async function watchedKey(folder: string): Promise<string | undefined> {
  const text = await readFile(watchedFile(folder), 'utf8').catch(() => '');
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
