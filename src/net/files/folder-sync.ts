/**
 * Writes a folder's list of names to disk, so that a new or renamed file survives a power failure. Windows opens no folder, and
 * its file systems write the names themselves.
 */
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import process from 'node:process';

const HAS_SYNC = process.platform !== 'win32';

export async function syncFolder(path: string): Promise<void> {
  if (!HAS_SYNC) return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Blocks the process until it is done. */
export function syncFolderAtOnce(path: string): void {
  if (!HAS_SYNC) return;
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
