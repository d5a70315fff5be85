/**
 * Child processes of the development commands. They run on the Node that runs this file (the pinned one). It
 * comes first in the children's PATH too, because scripts with a `#!/usr/bin/env node` line would otherwise
 * run on the system's Node.
 */
import { spawn } from 'node:child_process';
import { delimiter, dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's top folder. */
export const repositoryRoot: string = resolve(dirname(fileURLToPath(import.meta.url)), '..');

/** This process's environment, with the pinned Node first in PATH. Programs run from the sources that are being worked on. */
export function pinnedEnvironment(): NodeJS.ProcessEnv {
  return {
    ...process.env,
    FRONTDOOR_FROM_SOURCES: '1',
    PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`,
  };
}

export interface PinnedResult {
  /** The exit status; 128 + n when signal n ended the process. */
  readonly status: number;
  readonly durationMs: number;
}

/**
 * Runs the pinned Node with `args` in the repository's top folder. Its output goes to the output of this
 * process, and signals are forwarded.
 */
export function runPinned(args: readonly string[]): Promise<PinnedResult> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
    cwd: repositoryRoot,
    env: pinnedEnvironment(),
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const signals = ['SIGINT', 'SIGTERM'] as const;
  const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
  for (const signal of signals) process.on(signal, forward);
  return new Promise((done, fail) => {
    child.on('error', fail);
    child.on('close', (code, signal) => {
      for (const name of signals) process.off(name, forward);
      const status = code ?? (signal === 'SIGINT' ? 130 : 143);
      done({ status, durationMs: performance.now() - startedMs });
    });
  });
}
