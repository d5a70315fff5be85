/** Maps the databases' result codes to our error kinds. No other file knows them. */
import { FrontdoorError, messageOf } from '#base';
import type { SqliteFailure } from './sqlite-protocol.ts';

/** Primary codes for a file that is damaged, or not one of Frontdoor. */
const DAMAGED_CODES = new Map([
  [11, 'is damaged'],
  [26, 'is no database of a control plane'],
]);
const UNIQUE_CODES = new Set([2067, 1555]);
const FOREIGN_KEY_CODE = 787;
/** SQLite has one code for every wrong statement, so that only its message shows what is absent. */
const ABSENT_IN_SQLITE = /^(?:no such (?:table|column)|table \S+ has no column named)/;
/** Primary codes for faults of the database, not of the statement. */
const AWAY_CODES = new Map([
  [5, 'is held by another process'],
  [6, 'is locked'],
  [7, 'has no memory left'],
  [8, 'is read-only'],
  [10, 'failed to read or write its file'],
  [13, 'has no room left on its disk'],
  [14, 'cannot open its file'],
]);

/** SQLSTATEs of PostgreSQL with the same meaning. */
const AWAY_STATES = new Map([
  ['25006', 'is read-only'],
  ['25P03', 'gave up on a transaction that stood still'],
  ['28000', 'refuses our login'],
  ['28P01', 'refuses our login'],
  ['3D000', 'is not there'],
  ['42501', 'does not let its user do this'],
  ['53100', 'has no room left on its disk'],
  ['53200', 'has no memory left'],
  ['53300', 'has no connection left'],
  ['55P03', 'did not answer in time'],
  ['57014', 'did not answer in time'],
  ['57P01', 'is being stopped'],
  ['57P02', 'has crashed'],
  ['57P03', 'is starting or stopping'],
  ['58030', 'failed to read or write its files'],
  ['58P01', 'misses a file'],
  ['XX001', 'is damaged'],
  ['XX002', 'is damaged'],
]);
/** A conflict with another transaction: the whole transaction may be repeated. */
const CONTENDED_STATES = new Set(['40001', '40P01']);
/** The schema changed under a prepared statement, or the server dropped it. */
const STALE_STATES = new Set(['0A000', '26000']);
/** A table or a column that a statement names does not exist. */
const ABSENT_STATES = new Set(['42P01', '42703']);

/** `conflict` for a violated uniqueness or reference, `unavailable` if the database is away, otherwise `internal`. */
export function errorOfSqlite(failure: SqliteFailure): FrontdoorError {
  const { message, errcode } = failure;
  const cause = new Error(message);
  if (errcode !== undefined) {
    if (UNIQUE_CODES.has(errcode)) return uniqueViolation(cause);
    if (errcode === FOREIGN_KEY_CODE) return foreignKeyViolation(cause);
    const damage = DAMAGED_CODES.get(errcode & 0xff);
    if (damage !== undefined) return storeDamaged(damage, cause);
    const away = AWAY_CODES.get(errcode & 0xff);
    if (away !== undefined) return storeUnavailable(away, cause);
  }
  return ABSENT_IN_SQLITE.test(message) ? schemaDiffers(cause) : storeFailed(cause);
}

/** The same for errors of the PostgreSQL driver. Only code and message are kept, because details contain rows. */
export function errorOfPostgres(error: unknown): FrontdoorError {
  if (error instanceof FrontdoorError) return error;
  const state = sqlStateOf(error);
  const cause = new Error(state === undefined ? messageOf(error) : `${state}: ${messageOf(error)}`);
  if (state === undefined) return storeUnavailable('cannot be reached', cause);
  if (state === '23505') return uniqueViolation(cause);
  if (state === '23503') return foreignKeyViolation(cause);
  if (CONTENDED_STATES.has(state)) return storeContended(cause);
  if (ABSENT_STATES.has(state)) return schemaDiffers(cause);
  const away = state.startsWith('08') ? 'cannot be reached' : AWAY_STATES.get(state);
  return away === undefined ? storeFailed(cause) : storeUnavailable(away, cause);
}

/** Returns undefined if the failure is the connection's, not a response of the server. */
export function sqlStateOf(error: unknown): string | undefined {
  const { code, severity } = error as { code?: unknown; severity?: unknown };
  return typeof code === 'string' && typeof severity === 'string' ? code : undefined;
}

/** Whether the connection is unusable after this error. */
export function endsConnection(error: unknown): boolean {
  const { severity } = error as { severity?: unknown };
  return sqlStateOf(error) === undefined || severity === 'FATAL' || severity === 'PANIC';
}

export function isStaleStatement(error: unknown): boolean {
  return STALE_STATES.has(sqlStateOf(error) ?? '');
}

export function storeUnavailable(why: string, cause?: unknown): FrontdoorError {
  return new FrontdoorError('unavailable', 'store-unavailable', `the database ${why}`, { cause });
}

export function isUnavailable(error: unknown): boolean {
  return hasCode(error, 'store-unavailable');
}

function storeDamaged(why: string, cause: Error): FrontdoorError {
  return new FrontdoorError('unavailable', 'store-damaged', `the database ${why}`, { cause });
}

export function isDamaged(error: unknown): boolean {
  return hasCode(error, 'store-damaged');
}

export function storeContended(cause?: unknown): FrontdoorError {
  const message = 'the database has too many changes of the same rows at once';
  return new FrontdoorError('unavailable', 'store-contended', message, { cause });
}

/** The connection broke during the commit, so its result is unknown. */
export function commitUnknown(cause: unknown): FrontdoorError {
  const message = 'the database went away before it could say whether the change was made';
  return new FrontdoorError('unavailable', 'commit-unknown', message, { cause });
}

function uniqueViolation(cause: Error): FrontdoorError {
  return new FrontdoorError('conflict', 'unique-violation', 'already exists', { cause });
}

function foreignKeyViolation(cause: Error): FrontdoorError {
  return new FrontdoorError(
    'conflict',
    'foreign-key-violation',
    'an object that the change refers to was deleted',
    { cause },
  );
}

/** Statements are fixed, so that the name of what is absent contains no value. */
function schemaDiffers(cause: Error): FrontdoorError {
  const message =
    `the database has another schema than this program uses (${cause.message}): a development version from before the first ` +
    'release made it, or it was changed by hand. Name an empty database or another --data-dir, or restore a backup';
  return new FrontdoorError('internal', 'schema-differs', message, { cause });
}

function storeFailed(cause: Error): FrontdoorError {
  return new FrontdoorError('internal', 'store-failed', 'a database statement failed', { cause });
}

export function isUniqueViolation(error: unknown): boolean {
  return hasCode(error, 'unique-violation');
}

export function isContended(error: unknown): boolean {
  return hasCode(error, 'store-contended');
}

export function isCommitUnknown(error: unknown): boolean {
  return hasCode(error, 'commit-unknown');
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof FrontdoorError && error.code === code;
}
