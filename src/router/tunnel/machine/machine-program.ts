/** Programs of the machine that set addresses, routes and rules. */
import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { FrontdoorError } from '#base';

/** The PATH of a service often lacks them, and the one of a user may have others first. */
const FOLDERS = ['/usr/sbin', '/sbin', '/usr/bin', '/bin', '/usr/local/sbin', '/usr/local/bin'];
const TIMEOUT_MS = 10_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
const SHOWN_CHARS = 500;

/** Returns the path of a program, or undefined if the machine does not have it. */
export async function findProgram(name: string): Promise<string | undefined> {
  for (const folder of FOLDERS) {
    const path = join(folder, name);
    try {
      await access(path, constants.X_OK);
      return path;
    } catch {
      // The next folder.
    }
  }
  return undefined;
}

/** Resolves with the standard output. Rejects with `unavailable`, which has the program's own message. */
export async function runMachineProgram(path: string, args: readonly string[], input = ''): Promise<string> {
  const child = spawn(path, args, { stdio: ['pipe', 'pipe', 'pipe'], timeout: TIMEOUT_MS });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (out.length < MAX_OUTPUT_BYTES) out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (err.length < SHOWN_CHARS) err += text;
  });
  // A program that ends early does not read its input.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  child.once('error', reject);
  child.once('close', (code, signal) => {
    if (code === 0) resolve(out);
    else reject(new Error(err.trim().slice(0, SHOWN_CHARS) || `ended with ${signal ?? `status ${code}`}`));
  });
  try {
    return await promise;
  } catch (cause) {
    const message = `${[path, ...args].join(' ')}: ${(cause as Error).message}`;
    throw new FrontdoorError('unavailable', 'host-program-failed', message, { cause });
  }
}
