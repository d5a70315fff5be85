/** Runs the load generator and the service as processes of their own. */
import { once } from 'node:events';
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { LoadArguments, LoadResult } from './load-process.ts';

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** A script of this folder with one argument; resolves to it and its first line. */
export async function startScript(
  name: string,
  argument = '',
): Promise<{ readonly child: ChildProcess; readonly line: string }> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', fileOf(name), argument], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout });
  const line = await Promise.race([
    once(lines, 'line').then(([text]) => text as string),
    once(child, 'exit').then(([code]) => {
      throw new Error(`${name} ended with ${String(code)} before it said anything`);
    }),
  ]);
  return { child, line };
}

export async function stopScript(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

export async function measure(load: LoadArguments): Promise<LoadResult> {
  const { child, line } = await startScript('./load-process.ts', JSON.stringify(load));
  await stopScript(child);
  const result = JSON.parse(line) as LoadResult;
  if (result.failed > 0) throw new Error(`${result.failed} connections failed (${JSON.stringify(load)})`);
  return result;
}

/** Holds idle connections while `look` runs. */
export async function holdIdle<T>(port: number, connections: number, look: () => T): Promise<T> {
  const load: LoadArguments = { kind: 'idle', port, connections, seconds: 0 };
  const { child, line } = await startScript('./load-process.ts', JSON.stringify(load));
  const { rate: held } = JSON.parse(line) as LoadResult;
  if (held !== connections) throw new Error(`${held} of ${connections} idle connections were answered`);
  // What the set-up left behind goes first.
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const seen = look();
  await stopScript(child);
  return seen;
}
