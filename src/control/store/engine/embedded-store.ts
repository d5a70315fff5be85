/** The embedded store: its thread, migrations and change feed. Only this process uses it. */
import { Kysely } from 'kysely';
import { dirname } from 'node:path';
import { FrontdoorError, silentLog, type Log } from '#base';
import { findRunningProgram, secondProgram } from '#net/files';
import { embeddedSnapshot, removeLeftCopies } from './backup-snapshot.ts';
import { DatabasePulse } from './database-pulse.ts';
import { checkDatabaseFile, damagedDatabase } from './database-file.ts';
import { ChangeFeed } from './change-feed.ts';
import { copyBeforeMigration, MigrationCopyFolder, type MigrationCopies } from './copy-before-migration.ts';
import { ListPages } from './list-pages.ts';
import { migrations as allMigrations } from '../migrations/migration-table.ts';
import type { Database } from '../schema/schema.ts';
import { migrateSchema, schemaStateOf, type BeforeMigration, type Migrations } from './schema-migration.ts';
import { SqliteClient } from './sqlite-client.ts';
import { WorkerSqliteDialect } from './sqlite-dialect.ts';
import { isDamaged, isUnavailable } from './store-errors.ts';
import { EVERYTHING, type Change, type Store } from './store.ts';

export interface EmbeddedStoreOptions {
  /** A file (its directory exists), or 'memory', which is lost when closed. */
  readonly path: string;
  readonly log?: Log;
  /** How long to wait for another process that holds the file. */
  readonly busyTimeoutMs?: number;
  readonly migrations?: Migrations | undefined;
  /** The copies of the database from before migrations: how many are kept, 0 for none, and where. */
  readonly copies?: MigrationCopies | undefined;
  readonly beforeMigration?: BeforeMigration | undefined;
  /** Deadlines after which a disk that does not answer is given up. */
  readonly pulse?: { readonly silenceMs: number; readonly probeMs: number };
}

const BUSY_TIMEOUT_MS = 5_000;
/** With the silence before a probe, callers have an answer within 5 s. */
const PROBE_MS = 3_500;

/** Errors: `invalid` for a damaged or foreign file, `unavailable` if the file cannot be opened or another process holds it, `internal` for a bad schema. */
export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<Store> {
  const { path, log = silentLog, migrations = allMigrations, copies = {} } = options;
  if (path !== 'memory') checkDatabaseFile(path);
  const client = new SqliteClient({
    path: path === 'memory' ? ':memory:' : path,
    busyTimeoutMs: options.busyTimeoutMs ?? BUSY_TIMEOUT_MS,
    log,
  });
  const counter = { count: 0 };
  const db = new Kysely<Database>({ dialect: new WorkerSqliteDialect(client, counter) });
  const snapshot: Store['snapshot'] = (work) => embeddedSnapshot({ db, client, path, log }, work);
  try {
    const { newest, pending } = await schemaStateOf(db, migrations);
    const [next] = pending;
    if (next !== undefined) {
      if (newest !== undefined) await options.beforeMigration?.({ db, snapshot }, next);
      const folder = new MigrationCopyFolder(path, copies);
      const isCopied = folder.keep > 0 && newest !== undefined && path !== 'memory';
      if (isCopied) await folder.write(next, (copy) => copyBeforeMigration(client, copy, log));
      await migrateSchema(db, migrations, log);
      if (isCopied) folder.removeOld(log);
    }
    removeLeftCopies(path, log);
  } catch (error) {
    await client.close();
    const running = isUnavailable(error) && path !== 'memory' ? findRunningProgram(dirname(path)) : undefined;
    if (running !== undefined) throw secondProgram(dirname(path), running);
    if (isDamaged(error)) throw damagedDatabase(path, 'cannot be read as a database', error);
    if (error instanceof FrontdoorError && error.code === 'database-foreign')
      throw damagedDatabase(path, 'is the database of another program', error);
    throw error;
  }
  const feed = new ChangeFeed(log);
  const { silenceMs, probeMs = PROBE_MS } = options.pulse ?? {};
  client.pulse = new DatabasePulse({
    log,
    silenceMs,
    probe: () => client.probe(probeMs),
    // Statements that were given up may have been executed since.
    onRecovered: () => void feed.notify([EVERYTHING]),
  });
  return {
    isShared: false,
    lists: new ListPages(),
    get statementCount() {
      return counter.count;
    },
    db,
    async transaction(work) {
      const changes: Change[] = [];
      const result = await db
        .transaction()
        .execute((trx) => work(trx, (entity, id) => changes.push({ entity, id })));
      await feed.notify(changes);
      return result;
    },
    snapshot,
    onChange: (listener) => feed.onChange(listener),
    caughtUp: () => feed.settled(),
    async close() {
      await feed.close();
      await client.close();
    },
  };
}
