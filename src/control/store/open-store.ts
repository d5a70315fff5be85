/** Opens the embedded store: its thread, its migrations, its change feed. */
import { Kysely } from 'kysely';
import { Migrator } from 'kysely/migration';
import { FrontdoorError, silentLog, type Log } from '#base';
import { ChangeFeed } from './change-feed.ts';
import { migrations } from './migration-table.ts';
import type { Database } from './schema.ts';
import { SqliteClient } from './sqlite-client.ts';
import { WorkerSqliteDialect } from './sqlite-dialect.ts';
import type { Change, Store } from './store.ts';

export interface StoreOptions {
  /** A file (its directory exists), or 'memory': gone when closed. */
  readonly path: string;
  readonly log?: Log;
  /** How long to wait for another process that holds the file. */
  readonly busyTimeoutMs?: number;
}

const BUSY_TIMEOUT_MS = 5_000;

/** Errors: `unavailable` when the file cannot be opened or another process holds it, `internal` for a bad schema. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const log = options.log ?? silentLog;
  const client = new SqliteClient({
    path: options.path === 'memory' ? ':memory:' : options.path,
    busyTimeoutMs: options.busyTimeoutMs ?? BUSY_TIMEOUT_MS,
    log,
  });
  const db = new Kysely<Database>({ dialect: new WorkerSqliteDialect(client) });
  try {
    await migrate(db, log);
  } catch (error) {
    await client.close();
    throw error;
  }
  const feed = new ChangeFeed(log);
  return {
    db,
    async transaction(work) {
      const changes: Change[] = [];
      const result = await db.transaction().execute((trx) => {
        changes.length = 0;
        return work(trx, (entity, id) => changes.push({ entity, id }));
      });
      await feed.tell(changes);
      return result;
    },
    onChange: (listener) => feed.onChange(listener),
    async close() {
      await feed.idle();
      await client.close();
    },
  };
}

async function migrate(db: Kysely<Database>, log: Log): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrations) } });
  const { error, results } = await migrator.migrateToLatest();
  for (const result of results ?? []) {
    if (result.status === 'Success') log.info({ migration: result.migrationName }, 'migrated the store');
  }
  if (error instanceof FrontdoorError) throw error;
  if (error !== undefined) {
    throw new FrontdoorError('internal', 'migration_failed', 'the database could not be brought up to date', {
      cause: error,
    });
  }
}
