/** The database that options, environment or a file name. */
import process from 'node:process';
import { DATABASE_VARIABLE, type DatabaseOptions } from '#cli';
import { readOptionFile } from './option-file.ts';

/** Undefined: the embedded one. The variable is taken out of the environment: programs started from here need none. */
export function databaseUrlOf({ database, databaseFile }: DatabaseOptions): string | undefined {
  delete process.env[DATABASE_VARIABLE];
  return databaseFile === undefined ? database : readOptionFile(databaseFile, '--database-file').trim();
}
