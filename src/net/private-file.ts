/** Reads a small file with secrets. A file that other users may read or write is refused with the remedy. */
import { readFile, stat } from 'node:fs/promises';

const MAX_FILE_BYTES = 1_048_576;
const OTHERS_ACCESS = 0o077;

export type PrivateFile =
  | { readonly text: string }
  | { readonly problem: string; readonly isMissing: boolean; readonly cause?: unknown };

/** `problem` is the end of a sentence that begins with the file. */
export async function readPrivateFile(path: string): Promise<PrivateFile> {
  try {
    const info = await stat(path);
    if ((info.mode & OTHERS_ACCESS) !== 0)
      return refused(`other users can access it; run: chmod 600 ${path}`);
    if (!info.isFile() || info.size > MAX_FILE_BYTES) return refused('it is not a small regular file');
    return { text: await readFile(path, 'utf8') };
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    return { problem: isMissing ? 'it does not exist' : 'it cannot be read', isMissing, cause };
  }
}

function refused(problem: string): PrivateFile {
  return { problem, isMissing: false };
}
