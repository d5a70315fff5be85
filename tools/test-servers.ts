/**
 * The servers that the test files of one run share: PostgreSQL, started when the first file asks for it. Each file would
 * otherwise initialize, start and migrate one of its own.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pinnedEnvironment, repositoryRoot } from './pinned-process.ts';

export interface TestServers {
  /** Environment variables that lead the test files to the servers. */
  readonly environment: Readonly<Record<string, string>>;
  /** Stops the servers and removes their data. */
  stop(): Promise<void>;
}

/** Rejects when the program that holds PostgreSQL cannot be started. */
export async function startTestServers(): Promise<TestServers> {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-test-run-'));
  const socket = join(folder, 'postgres.sock');
  const host = spawn(process.execPath, ['test/support/postgres-host.ts', socket], {
    cwd: repositoryRoot,
    env: pinnedEnvironment(),
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
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
