/**
 * The end of a pipe whose other end the launcher alone holds: it closes when the launcher goes, however it goes. Its
 * number is removed from the environment at once: processes that this one starts have no such pipe.
 */
import process from 'node:process';

const NAME = 'FRONTDOOR_LAUNCHER_PIPE';

/** Returns undefined in a process that no launcher started. */
export const launcherPipe: number | undefined =
  process.env[NAME] === undefined ? undefined : Number(process.env[NAME]);
delete process.env[NAME];
