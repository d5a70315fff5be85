/** Runs `library-call.ts` with the library of a version, by its Node. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { within } from '../support/deadline.ts';
import type { ProgramSource } from './program-source.ts';

const SCRIPT = join(import.meta.dirname, 'library-call.ts');
const RUN_MS = 60_000;

/** Resolves to what it printed. Rejects with that when it fails. */
export async function runLibrary({ node, library }: ProgramSource, ...words: string[]): Promise<string> {
  const child = spawn(node, ['--disable-warning=ExperimentalWarning', SCRIPT, library, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  const [out, err, [status]] = await within(`the library: ${words[0]!}`, ended, RUN_MS).finally(() =>
    child.kill('SIGKILL'),
  );
  if (status !== 0) throw new Error(`the library failed: ${err}`);
  return out;
}
