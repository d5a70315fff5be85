/**
 * The servers that the test files of one run share: PostgreSQL, started when the first file asks for it. Each file would
 * otherwise initialize, start and migrate one of its own.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pinnedEnvironment, repositoryRoot } from './pinned-process.ts';

export interface TestServers {
  /** Environment variables that lead the test files to the servers. */
  readonly environment: Readonly<Record<string, string>>;
  /** Stops the servers and removes their data. */
  stop(): Promise<void>;
}

/** Rejects when the program that holds PostgreSQL cannot be started. It stores what it has in `folder`. */
export async function startTestServers(folder: string): Promise<TestServers> {
  const socket = join(folder, 'postgres.sock');
  const host = spawn(process.execPath, ['test/support/postgres-host.ts', socket], {
    cwd: repositoryRoot,
    env: { ...pinnedEnvironment(), TMPDIR: folder },
    stdio: ['pipe', 'pipe', 'inherit'],
    // The server ignores signals of the terminal: the runner stops it after the files that use it.
    detached: true,
  });
  const ended = once(host, 'exit');
  await Promise.race([once(host.stdout, 'data'), ended]);
  return {
    environment: { FRONTDOOR_TEST_POSTGRES: socket },
    async stop() {
      host.stdin.end();
      await ended;
    },
  };
}
