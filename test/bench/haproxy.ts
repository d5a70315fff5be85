/** haproxy with one configuration, of one thread. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCommand, startProcess, untilListening, type Running } from './bench-process.ts';

export const HAPROXY = 'haproxy';

export function hasHaproxy(): boolean {
  return findCommand(HAPROXY) !== undefined;
}

/** Starts it and waits until it accepts connections at `port`; `sections` follow the global one. */
export async function startHaproxy(
  folder: string,
  port: number,
  sections: string,
  global = 'maxconn 8192',
): Promise<Running> {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `haproxy-${port}.cfg`);
  writeFileSync(file, `global\n  nbthread 1\n  ${global}\n${sections}`, { mode: 0o600 });
  const running = startProcess(findCommand(HAPROXY)!, ['-db', '-f', file]);
  await untilListening(HAPROXY, running, port);
  return running;
}
