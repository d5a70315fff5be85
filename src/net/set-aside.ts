/** Moves a file of ours that cannot be read out of the way: the program goes on without it, and nothing is lost. */
import { rename } from 'node:fs/promises';

const SUFFIX = '.unreadable';

/** Returns the new path; a file set aside earlier is replaced. Undefined: it could not be moved. Never rejects. */
export async function setAside(path: string): Promise<string | undefined> {
  const moved = `${path}${SUFFIX}`;
  try {
    await rename(path, moved);
    return moved;
  } catch {
    return undefined;
  }
}
