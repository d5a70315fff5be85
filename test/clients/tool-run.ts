/** Runs third-party programs to their end. */
import { spawn } from 'node:child_process';

export interface Run {
  /** Exit status; 1 when a signal ended it. */
  readonly status: number;
  /** Its standard output and standard error; only the last part of a long output. */
  readonly output: string;
}

const MAX_OUTPUT_CHARS = 20_000;
const TIMEOUT_MS = 600_000;

export function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Run> {
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
    timeout: TIMEOUT_MS,
  });
  const { promise, resolve, reject } = Promise.withResolvers<Run>();
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => (output = (output + text).slice(-MAX_OUTPUT_CHARS)));
  }
  child.on('error', reject);
  child.on('close', (code) => resolve({ status: code ?? 1, output }));
  return promise;
}
