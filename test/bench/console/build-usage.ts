// Runs a program with its arguments, and prints as JSON what it took with the processes that it started: `cpuSeconds`, and
// `peakKib`, the most memory that one of them had resident at once with the others.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { cpuSecondsOfChildren } from '../../../tools/child-usage.ts';
import { childrenOf } from '../bench-process.ts';

const LOOK_MS = 10;

/** Memory of a process and all below it; pages that several of them have count once for each. */
function residentKib(pid: number): number {
  try {
    const [, kib] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
    return childrenOf(pid).reduce((sum, child) => sum + residentKib(child), Number(kib ?? 0));
  } catch {
    // It has ended.
    return 0;
  }
}

const child = spawn(process.execPath, process.argv.slice(2), { stdio: ['ignore', 'ignore', 'inherit'] });
let peakKib = 0;
const timer = setInterval(() => (peakKib = Math.max(peakKib, residentKib(child.pid!))), LOOK_MS);
const [status] = (await once(child, 'exit')) as [number | null];
clearInterval(timer);
process.stdout.write(JSON.stringify({ cpuSeconds: cpuSecondsOfChildren(), peakKib }));
process.exitCode = status ?? 1;
