/** A network namespace for a benchmark whose targets change addresses and rules of their machine. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { namespaceArguments } from '../support/named-namespace.ts';

const INSIDE = 'FRONTDOOR_BENCH_NAMESPACE';

export function isInNamespace(): boolean {
  return process.env[INSIDE] === '1';
}

/** Runs a script again, in a namespace, and resolves with its exit status. */
export async function runInNamespace(script: string, args: readonly string[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-bench-'));
  try {
    const again = [process.execPath, ...process.execArgv, script, ...args];
    const child = spawn('unshare', namespaceArguments(folder, again), {
      stdio: 'inherit',
      env: { ...process.env, [INSIDE]: '1' },
    });
    const [status] = (await once(child, 'exit')) as [number | null];
    return status ?? 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
