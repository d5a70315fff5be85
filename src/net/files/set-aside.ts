/** Renames a file of Frontdoor that cannot be read, so that the program continues without it and nothing is lost. */
import { renameSync } from 'node:fs';
import { copyFile, rename } from 'node:fs/promises';

const SUFFIX = '.unreadable';

/**
 * Returns the new path. A file that was set aside earlier is replaced. Resolves to undefined if the file could
 * not be renamed, and never rejects.
 */
export async function setAside(path: string): Promise<string | undefined> {
  const moved = `${path}${SUFFIX}`;
  try {
    await rename(path, moved);
    return moved;
  } catch {
    return undefined;
  }
}

/** As `setAside`, for a file that is read at once. */
export function setAsideAtOnce(path: string): string | undefined {
  const moved = `${path}${SUFFIX}`;
  try {
    renameSync(path, moved);
    return moved;
  } catch {
    return undefined;
  }
}

/** As `setAside`, but the file stays where it is, too, because a part of it is in use. */
export async function copyAside(path: string): Promise<string | undefined> {
  const copied = `${path}${SUFFIX}`;
  try {
    await copyFile(path, copied);
    return copied;
  } catch {
    return undefined;
  }
}
