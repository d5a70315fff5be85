/**
 * The cache of systemd-resolved, which may be between the programs of this machine and this name server. It keeps answers from
 * before the name server began, such as that a name does not exist, and after it has ended.
 */
import { access } from 'node:fs/promises';
import { messageOf, type Log } from '#base';
import { findProgram, runMachineProgram } from '../machine/machine-program.ts';

/** It exists while systemd-resolved runs. */
const SOCKET = '/run/systemd/resolve/io.systemd.Resolve';
const PROGRAM = 'resolvectl';

/** What the function uses of the machine. */
export interface ResolverCacheMachine {
  exists(path: string): Promise<boolean>;
  findProgram(name: string): Promise<string | undefined>;
  /** Ends after a while, whatever the program does. */
  runMachineProgram(path: string, args: readonly string[]): Promise<string>;
}

const THIS_MACHINE: ResolverCacheMachine = {
  exists: (path) =>
    access(path).then(
      () => true,
      () => false,
    ),
  findProgram,
  runMachineProgram,
};

/** Empties the cache, if systemd-resolved runs. A failure is logged: answers of the cache then last as long as they say. */
export async function flushResolverCache(
  log: Log,
  machine: ResolverCacheMachine = THIS_MACHINE,
): Promise<void> {
  if (!(await machine.exists(SOCKET))) return;
  const program = await machine.findProgram(PROGRAM);
  try {
    if (program === undefined) throw new Error(`there is no program ${PROGRAM}`);
    await machine.runMachineProgram(program, ['flush-caches']);
    log.info({ program }, 'the cache of systemd-resolved is empty');
  } catch (error) {
    log.warn(
      { err: messageOf(error) },
      'the cache of systemd-resolved could not be emptied: it may answer with old addresses for a while',
    );
  }
}
