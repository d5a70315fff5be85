/** haproxy with one configuration, of one thread. */
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { findCommand, startProcess, until, type Running } from './bench-process.ts';

const START_DEADLINE_MS = 10_000;

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
  try {
    await until('a listening haproxy', START_DEADLINE_MS, async () => {
      if (running.child.exitCode !== null) throw new Error('it ended');
      const socket = connect({ port, host: '127.0.0.1' });
      await once(socket, 'connect');
      socket.destroy();
    });
    return running;
  } catch (error) {
    await running.stop('SIGKILL');
    throw new Error(`haproxy did not get ready: ${running.tail()}`, { cause: error });
  }
}
