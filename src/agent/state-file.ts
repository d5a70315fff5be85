/**
 * Small JSON files of the agent, read whole and written atomically, so that a crash leaves the old or the new
 * content.
 */
import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { FrontdoorError } from '#base';

/** Returns undefined if there is none. Throws if it cannot be read or is not JSON. */
export function loadJsonFile(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new FrontdoorError('internal', 'damaged-file', `${path} is damaged: not JSON`, { cause: error });
  }
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
  const folder = openSync(dirname(path), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Refuses a file that other users can write, because it decides what this machine publishes. */
export function checkNotWritableByOthers(path: string): void {
  const { mode } = statSync(path);
  if ((mode & 0o022) === 0) return;
  throw new FrontdoorError(
    'forbidden',
    'file-writable-by-others',
    `other users can write to ${path} (mode ${(mode & 0o777).toString(8)}); run: chmod go-w ${path}`,
  );
}
