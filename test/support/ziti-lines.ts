/** A command of `ziti` that continues, as a process of a test, with the lines that it prints. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { zitiEnvironment } from './ziti-command.ts';

const MAX_LINES = 100_000;

export interface ZitiLines {
  readonly lines: readonly string[];
  stop(): Promise<void>;
}

/** `ziti edge login` has to have logged in before. */
export function startZitiLines(binary: string, folder: string, args: readonly string[]): ZitiLines {
  const child = spawn(binary, args, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: zitiEnvironment(folder),
  });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on('line', (line) => {
      if (lines.length < MAX_LINES) lines.push(line);
    });
  return {
    lines,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
