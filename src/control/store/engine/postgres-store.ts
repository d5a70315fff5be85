/**
 * The store on PostgreSQL, which several control-plane processes share. Conflicting transactions are repeated.
 * Changes reach listeners of this process before the writer continues, and those of others soon after.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Kysely } from 'kysely';
import { BackOff, silentLog, type Log } from '#base';
import { postgresSnapshot } from './backup-snapshot.ts';
import { ChangeChannel } from './change-channel.ts';
import { ChangeFeed } from './change-feed.ts';
import { ListPages } from './list-pages.ts';
import { migrations as allMigrations } from '../migrations/migration-table.ts';
import { PooledPostgresDialect } from './postgres-dialect.ts';
import { openPool, probeServer, singleClient } from './postgres-pool.ts';
import { DatabasePulse } from './database-pulse.ts';
import { preparePostgres } from './postgres-start.ts';
import { parsePostgresUrl } from './postgres-url.ts';
import type { Database } from '../schema/schema.ts';
import type { BeforeMigration, Migrations } from './schema-migration.ts';
import { isCommitUnknown, isContended } from './store-errors.ts';
import type { Change, Store, StoreTransaction, Touch } from './store.ts';

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database?sslmode=…` */
  readonly url: string;
  readonly log?: Log | undefined;
  /** Connections for queries. One more receives changes. */
  readonly poolSize?: number | undefined;
  readonly statementTimeoutMs?: number | undefined;
  readonly heartbeatMs?: number | undefined;
  readonly migrations?: Migrations | undefined;
  readonly beforeMigration?: BeforeMigration | undefined;
}

const POOL_SIZE = 10;
const STATEMENT_TIMEOUT_MS = 15_000;
/** Extra time for the network beyond the server's own deadline. */
const ANSWER_GRACE_MS = 5_000;
const MAX_ATTEMPTS = 10;

/** Errors: `invalid` and `unavailable` with a remedy, `internal` for a bad schema. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { url, log = silentLog, poolSize: size = POOL_SIZE, migrations = allMigrations } = options;
  const statementTimeoutMs = options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS;
  const target = parsePostgresUrl(url);
  const settings = await preparePostgres(target, migrations, log, options.beforeMigration);
  const feed = new ChangeFeed(log);
  const channel = await ChangeChannel.open({
    newClient: () => singleClient(target, 'frontdoor changes'),
    onChanges: (changes) => void feed.notify(changes),
    log,
    heartbeatMs: options.heartbeatMs,
  });
  const pool = await openPool(target, {
    size,
    statementTimeoutMs,
    log,
    settings,
  });
  const answerTimeoutMs = statementTimeoutMs + ANSWER_GRACE_MS;
  const counter = { count: 0 };
  const pulse = new DatabasePulse({ probe: () => probeServer(target), log });
  const dialect = new PooledPostgresDialect({ pool, size, answerTimeoutMs, counter, pulse });
  const db = new Kysely<Database>({ dialect });
  return {
    isShared: true,
    lists: new ListPages(),
    get statementCount() {
      return counter.count;
    },
    db,
    transaction: (work) => transact(db, channel, feed, work),
    snapshot: (work) => postgresSnapshot(db, work),
    onChange: (listener) => feed.onChange(listener),
    async caughtUp() {
      await channel.caughtUp();
      await feed.settled();
    },
    async close() {
      pulse.close();
      await channel.close();
      await feed.close();
      await pool.end();
    },
  };
}

async function transact<T>(
  db: Kysely<Database>,
  channel: ChangeChannel,
  feed: ChangeFeed,
  work: (trx: StoreTransaction, touch: Touch) => Promise<T>,
): Promise<T> {
  const backOff = new BackOff({ minMs: 5, maxMs: 250, factor: 2, jitter: 0.5 });
  for (;;) {
    const transactionId = randomUUID();
    const changes: Change[] = [];
    try {
      const result = await db.transaction().execute(async (trx) => {
        const worked = await work(trx, (entity, id) => changes.push({ entity, id }));
        if (changes.length > 0) await channel.announce(trx, transactionId, changes);
        return worked;
      });
      await feed.notify(changes);
      return result;
    } catch (error) {
      channel.disown(transactionId);
      // The commit may have succeeded, so listeners read the current state. If it succeeds later, the channel
      // reports it.
      if (isCommitUnknown(error)) await feed.notify(changes);
      if (!isContended(error) || backOff.attempts + 1 >= MAX_ATTEMPTS) throw error;
      await pause(backOff.next());
    }
  }
}
