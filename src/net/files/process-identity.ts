/** Checks whether a process is still the same one: process ids are reused, start times are not. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { lazy } from '#base';

/** Whether exactly that process runs. */
export function isRunning({ pid, start }: { readonly pid: number; readonly start: string }): boolean {
  return processStart(pid) === start;
}

/** Unique for this boot of the machine; undefined if there is no such process (a zombie does not count). */
export function processStart(pid: number): string | undefined {
  if (process.platform === 'linux') return linuxProcessStart(pid);
  const [command, ...args] =
    process.platform === 'win32'
      ? [
          'powershell',
          '-NoProfile',
          '-NonInteractive',
          '-Command',
          `(Get-Process -Id ${pid}).StartTime.Ticks`,
        ]
      : ['ps', '-o', 'lstart=', '-p', String(pid)];
  const { stdout, status } = spawnSync(command, args, {
    encoding: 'utf8',
    timeout: 5_000,
    windowsHide: true,
  });
  const text = stdout?.trim() ?? '';
  return status === 0 && text !== '' ? text : undefined;
}

function linuxProcessStart(pid: number): string | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The command name is in parentheses and may contain anything, so fields are counted after the last
  // parenthesis.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  const startTicks = fields[19];
  if (state === 'Z' || state === 'X' || startTicks === undefined) return undefined;
  return `${bootId()}:${startTicks}`;
}

const bootId = lazy(() => {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return 'boot';
  }
});
