/** A network namespace for a benchmark whose targets change addresses and rules of their machine. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

const INSIDE = 'FRONTDOOR_BENCH_NAMESPACE';

/** Programs ask the name server at 127.0.0.1, and there is a way to a world that is not there. */
const SETUP = [
  'ip link set lo up',
  'ip addr add 192.0.2.1/32 dev lo',
  'ip route add default dev lo src 192.0.2.1',
  'mount --bind "$1" /etc/resolv.conf',
  'shift',
  'exec "$@"',
].join(' && ');

export function isInNamespace(): boolean {
  return process.env[INSIDE] === '1';
}

/** Runs a script again, in a namespace, and resolves with its exit status. */
export async function runInNamespace(script: string, args: readonly string[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-bench-'));
  try {
    const resolver = join(folder, 'resolv.conf');
    writeFileSync(resolver, 'nameserver 127.0.0.1\n');
    const again = [process.execPath, ...process.execArgv, script, ...args];
    const child = spawn('unshare', ['--net', '--mount', 'sh', '-c', SETUP, 'sh', resolver, ...again], {
      stdio: 'inherit',
      env: { ...process.env, [INSIDE]: '1' },
    });
    const [status] = (await once(child, 'exit')) as [number | null];
    return status ?? 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
