/** Renames a file of ours that cannot be read, so that the program continues without it and nothing is lost. */
import { rename } from 'node:fs/promises';

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
