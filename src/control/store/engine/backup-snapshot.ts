/**
 * The whole database as of one moment, to be read page by page while writers continue. PostgreSQL keeps such a
 * view for a transaction; the embedded database is copied to a file beside it, which is read in a thread of its
 * own and always removed.
 */
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Kysely } from 'kysely';
import { messageOf, type Log } from '#base';
import type { Database } from '../schema/schema.ts';
import { SqliteClient } from './sqlite-client.ts';
import { WorkerSqliteDialect } from './sqlite-dialect.ts';
import { storeUnavailable } from './store-errors.ts';
import type { Queries } from './store.ts';

const BUSY_TIMEOUT_MS = 5_000;

export async function embeddedSnapshot<T>(
  source: { readonly db: Queries; readonly client: SqliteClient; readonly path: string; readonly log: Log },
  work: (db: Queries) => Promise<T>,
): Promise<T> {
  const folder = copyFolder(source.path);
  try {
    const path = join(folder, 'copy.db');
    closeSync(openSync(path, 'wx', 0o600));
    await copyDatabase(source.db, source.client, path);
    const client = new SqliteClient({ path, busyTimeoutMs: BUSY_TIMEOUT_MS, log: source.log });
    try {
      return await work(new Kysely<Database>({ dialect: new WorkerSqliteDialect(client) }));
    } finally {
      await client.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Removes copies that a crash left behind, because they contain the whole database. */
export function removeLeftCopies(databasePath: string, log: Log): void {
  if (databasePath === 'memory') return;
  const prefix = `${basename(databasePath)}${COPY_SUFFIX}`;
  for (const name of readdirSync(dirname(databasePath))) {
    if (!name.startsWith(prefix)) continue;
    rmSync(join(dirname(databasePath), name), { recursive: true, force: true });
    log.info({ name }, 'removed the copy of an interrupted backup');
  }
}

export function postgresSnapshot<T>(db: Queries, work: (db: Queries) => Promise<T>): Promise<T> {
  return db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work);
}

const COPY_SUFFIX = '.copy-';

/** Accessible only to its owner. */
function copyFolder(databasePath: string): string {
  const prefix = databasePath === 'memory' ? join(tmpdir(), 'frontdoor') : databasePath;
  try {
    return mkdtempSync(`${prefix}${COPY_SUFFIX}`);
  } catch (cause) {
    throw storeUnavailable(`cannot be copied: ${messageOf(cause)}`, cause);
  }
}

/** A copy begins between transactions. Once it has begun, SQLite interleaves them. */
async function copyDatabase(db: Queries, client: SqliteClient, path: string): Promise<void> {
  const { copied } = await db.connection().execute(async () => {
    const thread = await client.thread();
    const begun = Promise.withResolvers<void>();
    const copying = thread.copyTo(path, begun.resolve);
    await Promise.race([begun.promise, copying]);
    return { copied: copying };
  });
  await copied;
}
