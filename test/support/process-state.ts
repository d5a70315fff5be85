import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** False when there is no such process, or only its entry that nobody has fetched. */
export function isAlive(pid: number): boolean {
  const state = stateOf(pid);
  return state !== '' && state !== 'Z' && state !== 'X';
}

/** One letter, as `ps` has it; empty when there is none. */
function stateOf(pid: number): string {
  if (process.platform !== 'linux')
    return spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
      .stdout.trim()
      .charAt(0);
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // After the name, which may hold anything.
    return stat.charAt(stat.lastIndexOf(')') + 2);
  } catch {
    return '';
  }
}
