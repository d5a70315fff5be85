/** Files of programs that run. */
import { readFileSync } from 'node:fs';

/** Empty for a file that is gone: what is written again lies under another name for a moment. */
export function contentOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}
