/** From the database's result codes to our error kinds: the only place that knows them. */
import { FrontdoorError } from '#base';
import type { SqliteFailure } from './sqlite-protocol.ts';

const UNIQUE_CODES = new Set([2067, 1555]);
const FOREIGN_KEY_CODE = 787;
/** Primary codes that say that the database, not the statement, is at fault. */
const AWAY_CODES = new Map([
  [5, 'is held by another process'],
  [6, 'is locked'],
  [7, 'has no memory left'],
  [8, 'is read-only'],
  [10, 'failed to read or write its file'],
  [11, 'is damaged'],
  [13, 'has no room left on its disk'],
  [14, 'cannot open its file'],
  [26, 'is no database file'],
]);

/** `conflict` for a broken uniqueness or reference, `unavailable` when the database is away, else `internal`. */
export function errorOfSqlite(failure: SqliteFailure): FrontdoorError {
  const { message, errcode } = failure;
  const cause = new Error(message);
  if (errcode !== undefined) {
    if (UNIQUE_CODES.has(errcode))
      return new FrontdoorError('conflict', 'unique_violation', 'already exists', { cause });
    if (errcode === FOREIGN_KEY_CODE) {
      return new FrontdoorError('conflict', 'foreign_key_violation', 'what it names is gone', { cause });
    }
    const away = AWAY_CODES.get(errcode & 0xff);
    if (away !== undefined) return storeUnavailable(away, cause);
  }
  return new FrontdoorError('internal', 'store_failed', 'a statement failed', { cause });
}

export function storeUnavailable(why: string, cause?: unknown): FrontdoorError {
  return new FrontdoorError('unavailable', 'store_unavailable', `the database ${why}`, { cause });
}

export function isUniqueViolation(error: unknown): boolean {
  return error instanceof FrontdoorError && error.code === 'unique_violation';
}

export function isForeignKeyViolation(error: unknown): boolean {
  return error instanceof FrontdoorError && error.code === 'foreign_key_violation';
}
