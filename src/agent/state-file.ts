/**
 * Small JSON files of the agent: read whole, written so that a crash leaves the old one or the new one, never half.
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

/** Undefined when there is none. Throws when it cannot be read or is not JSON. */
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

/** Mode 0600, on disk when this returns. */
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

/** What others can write to must not decide what this machine publishes. */
export function checkNotWritableByOthers(path: string): void {
  const { mode } = statSync(path);
  if ((mode & 0o022) === 0) return;
  throw new FrontdoorError(
    'forbidden',
    'file-writable-by-others',
    `${path} can be written by other users (mode ${(mode & 0o777).toString(8)}); run: chmod go-w ${path}`,
  );
}
