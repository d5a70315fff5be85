import { readFileSync } from 'node:fs';
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
