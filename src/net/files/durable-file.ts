/**
 * Replaces a file so that a crash leaves the old or the new content, never a mixture, and so that the new content
 * survives a power failure once the promise resolves.
 */
import { randomBytes } from 'node:crypto';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolder } from './folder-sync.ts';

export async function writeFileDurably(
  path: string,
  content: string | Uint8Array,
  mode = 0o600,
): Promise<void> {
  await replaceFileDurably(path, (file) => file.writeFile(content), mode);
}

/** `write` fills the new file. If it throws, the old file is not changed. */
export async function replaceFileDurably<T>(
  path: string,
  write: (file: FileHandle) => Promise<T>,
  mode = 0o600,
): Promise<T> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  let result: T;
  try {
    const file = await open(temporary, 'wx', mode);
    try {
      result = await write(file);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
  return result;
}
