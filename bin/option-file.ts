/** Files that options name. */
import { existsSync, readFileSync } from 'node:fs';
import { FrontdoorError, messageOf } from '#base';

/** The text of a file that an option names. @throws FrontdoorError that names the option. */
export function readOptionFile(path: string, option: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new FrontdoorError('invalid', 'unreadable', `${option}: cannot read ${path}: ${messageOf(cause)}`, {
      cause,
    });
  }
}

/** Reads a file with a secret as `readOptionFile` does. */
export function readSecretFile(path: string, option: string): string {
  checkNamesFile(path, option);
  return readOptionFile(path, option);
}

/** Refuses a secret that was given instead of the file that holds it, and does not repeat it. */
export function checkNamesFile(path: string, option: string): void {
  if (existsSync(path)) return;
  const message = `${option}: there is no such file; the option takes the path of a file, not its content`;
  throw new FrontdoorError('invalid', 'unreadable', message);
}
