/** haproxy with one configuration, of one thread. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCommand, startProcess, untilListening } from '../support/child-process.ts';
import type { BenchRun } from './bench-run.ts';

export const HAPROXY = 'haproxy';

export function hasHaproxy(): boolean {
  return findCommand(HAPROXY) !== undefined;
}

/**
 * Starts it and waits until it accepts connections at `port`; `sections` follow the global one. Returns its process id. It
 * ends with the run.
 */
export async function startHaproxy(
  run: BenchRun,
  port: number,
  sections: string,
  global = 'maxconn 8192',
): Promise<number> {
  const file = join(run.folder, `haproxy-${port}.cfg`);
  writeFileSync(file, `global\n  nbthread 1\n  ${global}\n${sections}`, { mode: 0o600 });
  const running = run.keep(startProcess(findCommand(HAPROXY)!, ['-db', '-f', file]));
  await untilListening(HAPROXY, running, port);
  return running.child.pid!;
}
