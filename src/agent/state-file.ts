/**
 * Small JSON files of the agent, read whole and written atomically, so that a crash leaves the old or the new
 * content.
 */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf, type Log } from '#base';
import { setAsideAtOnce, syncFolderAtOnce } from '#net/files';

/** What follows from a file that cannot be read, for the log. */
export interface StateFileLoss {
  readonly log: Log;
  /** A sentence without a full stop, with the remedy. */
  readonly consequence: string;
}

/**
 * Returns undefined if there is no file, or if it is empty, cut, of another program or of a newer version. Such a file is set
 * aside, so that the next one does not replace it, and reported with its path.
 */
export function loadStateFile<T>(
  path: string,
  shape: { readText(text: string): { readonly value: T } | { readonly problem: string } },
  { log, consequence }: StateFileLoss,
): T | undefined {
  let problem: string;
  try {
    const read = shape.readText(readFileSync(path, 'utf8'));
    if ('value' in read) return read.value;
    ({ problem } = read);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    problem = messageOf(error);
  }
  log.error({ file: path, problem, movedTo: setAsideAtOnce(path) }, consequence);
  return undefined;
}

/** Mode 0600. The file is on disk when this returns. */
export function saveJsonFile(path: string, value: unknown): void {
  const next = `${path}.${process.pid}.new`;
  const file = openSync(next, 'w', 0o600);
  try {
    writeSync(file, `${JSON.stringify(value)}\n`);
    fsyncSync(file);
  } catch (error) {
    rmSync(next, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  renameSync(next, path);
  syncFolderAtOnce(dirname(path));
}
