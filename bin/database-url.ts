/** The database that options, environment or a file name. */
import process from 'node:process';
import { DATABASE_VARIABLE, type DatabaseOptions } from '#cli';
import { readSecretFile } from './option-file.ts';

/**
 * Returns undefined for the embedded database. It removes the variable from the environment, because programs started
 * from here need no database.
 */
export function databaseUrlOf({ database, databaseFile }: DatabaseOptions): string | undefined {
  delete process.env[DATABASE_VARIABLE];
  return databaseFile === undefined
    ? database?.reveal()
    : readSecretFile(databaseFile, '--database-file').trim();
}
