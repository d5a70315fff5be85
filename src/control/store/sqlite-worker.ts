/**
 * The embedded database's own thread: it alone opens the file, runs one statement after another, and waits for the
 * disk, so that a commit never blocks the control plane's event loop. A commit is on disk before it is answered
 * (WAL, synchronous=FULL). The file is held exclusively: two control planes on one file would not see each other.
 */
import { closeSync, openSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { SqliteFailure, SqliteReply, SqliteRequest, SqliteWorkerData } from './sqlite-protocol.ts';

const MAX_CACHED_STATEMENTS = 400;

interface Prepared {
  readonly statement: StatementSync;
  readonly returnsRows: boolean;
}

const port = parentPort!;
const { path, busyTimeoutMs } = workerData as SqliteWorkerData;
const cache = new Map<string, Prepared>();
const database = open();

port.on('message', (message: SqliteRequest | 'close') => {
  if (message === 'close') {
    cache.clear();
    database.close();
    port.postMessage('closed');
    port.close();
    return;
  }
  port.postMessage(run(message));
});
port.postMessage('open');

function open(): DatabaseSync {
  if (path !== ':memory:') closeSync(openSync(path, 'a', 0o600));
  const opened = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
  opened.exec('PRAGMA locking_mode = EXCLUSIVE');
  opened.exec('PRAGMA journal_mode = WAL');
  opened.exec('PRAGMA synchronous = FULL');
  opened.exec('PRAGMA fullfsync = ON');
  opened.exec('PRAGMA foreign_keys = ON');
  opened.exec('BEGIN IMMEDIATE');
  opened.exec('COMMIT');
  return opened;
}

function run(request: SqliteRequest): SqliteReply {
  try {
    const { statement, returnsRows } = prepare(request.sql);
    const parameters = request.parameters as SQLInputValue[];
    if (returnsRows) return { id: request.id, rows: statement.all(...parameters), changes: undefined };
    return { id: request.id, rows: [], changes: Number(statement.run(...parameters).changes) };
  } catch (error) {
    return { id: request.id, error: failureOf(error) };
  }
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
