/**
 * The embedded database's own thread. Only it opens the file, runs one statement after another, and waits for the
 * disk, so that commits do not block the control plane's event loop. A commit is on disk before it is
 * acknowledged (WAL, synchronous=FULL). The file is locked exclusively, because two control planes on one file
 * would not see each other's changes.
 */
import { closeSync, openSync } from 'node:fs';
import { backup, DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type {
  SqliteCopyRequest,
  SqliteFailure,
  SqliteReply,
  SqliteRequest,
  SqliteWorkerData,
} from './sqlite-protocol.ts';

const MIGRATION_TABLE = 'kysely_migration';
const SQLITE_NOTADB = 26;
const MAX_CACHED_STATEMENTS = 400;
/** So few at a time that a copy delays a statement no longer than a commit does. */
const PAGES_PER_STEP = 16;

interface Prepared {
  readonly statement: StatementSync;
  readonly returnsRows: boolean;
}

const port = parentPort!;
const { path, busyTimeoutMs } = workerData as SqliteWorkerData;
const cache = new Map<string, Prepared>();
const database = open();
const transaction: {
  /** Why the open transaction executes no further statement. */
  brokenBy: SqliteFailure | undefined;
} = { brokenBy: undefined };

port.on('message', (message: SqliteRequest | SqliteCopyRequest | 'close') => {
  if (message === 'close') {
    cache.clear();
    database.close();
    port.postMessage('closed');
    port.close();
    return;
  }
  if ('copyTo' in message) copy(message);
  else port.postMessage(run(message));
});
port.postMessage('open');

function open(): DatabaseSync {
  if (path !== ':memory:') closeSync(openSync(path, 'a', 0o600));
  const opened = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
  refuseForeign(opened);
  opened.exec('PRAGMA locking_mode = EXCLUSIVE');
  opened.exec('PRAGMA journal_mode = WAL');
  opened.exec('PRAGMA synchronous = FULL');
  opened.exec('PRAGMA fullfsync = ON');
  // 16 MiB: a checkpoint writes each page once, however often it has changed since the last.
  opened.exec('PRAGMA wal_autocheckpoint = 4000');
  opened.exec('PRAGMA foreign_keys = ON');
  opened.exec('BEGIN IMMEDIATE');
  opened.exec('COMMIT');
  return opened;
}

/** Before anything is written: a file of another program stays as it is. */
function refuseForeign(opened: DatabaseSync): void {
  const names = opened.prepare("select name from sqlite_master where type = 'table'").all();
  if (names.length === 0 || names.some(({ name }) => name === MIGRATION_TABLE)) return;
  throw Object.assign(new Error('it has the tables of another program'), { errcode: SQLITE_NOTADB });
}

function run({ id, sql, parameters, role }: SqliteRequest): SqliteReply {
  if (role === 'begin' || role === 'rollback') transaction.brokenBy = undefined;
  const { brokenBy: error } = transaction;
  if (role !== 'alone' && error !== undefined) {
    if (role === 'commit') undo();
    return { id, error };
  }
  try {
    const { statement, returnsRows } = prepare(sql);
    const values = parameters as SQLInputValue[];
    if (returnsRows) return { id, rows: statement.all(...values), changes: undefined };
    return { id, rows: [], changes: Number(statement.run(...values).changes) };
  } catch (thrown) {
    const failure = failureOf(thrown);
    if (role === 'begin' || role === 'inside') transaction.brokenBy = failure;
    if (role === 'commit') undo();
    return { id, error: failure };
  }
}

/** Ends a transaction that could not be committed, after its owner has given up its turn. */
function undo(): void {
  transaction.brokenBy = undefined;
  if (database.isTransaction) database.exec('rollback');
}

/** SQLite includes concurrent commits in the copy, and waits while a transaction is open. */
function copy({ id, copyTo }: SqliteCopyRequest): void {
  const post = (reply: SqliteReply): void => port.postMessage(reply);
  const progress = (): void => post({ id, begun: true });
  backup(database, copyTo, { rate: PAGES_PER_STEP, progress }).then(
    () => post({ id, rows: [], changes: undefined }),
    (error: unknown) => post({ id, error: failureOf(error) }),
  );
}

function prepare(sql: string): Prepared {
  const known = cache.get(sql);
  if (known !== undefined) {
    cache.delete(sql);
    cache.set(sql, known);
    return known;
  }
  const statement = database.prepare(sql);
  const prepared = { statement, returnsRows: statement.columns().length > 0 };
  cache.set(sql, prepared);
  if (cache.size > MAX_CACHED_STATEMENTS) {
    const [oldest] = cache.keys();
    cache.delete(oldest!);
  }
  return prepared;
}

function failureOf(error: unknown): SqliteFailure {
  const { message, errcode } = error as { message?: unknown; errcode?: unknown };
  return {
    message: typeof message === 'string' ? message : String(error),
    errcode: typeof errcode === 'number' ? errcode : undefined,
  };
}
