/** Reads how far the schema of a database is, and its size, without changing anything: for control planes that run, and for none. */
import { DatabaseSync } from 'node:sqlite';
import { Kysely, sql } from 'kysely';
import { FrontdoorError, messageOf, silentLog } from '#base';
import { migrations } from '../migrations/migration-table.ts';
import { isPostgres } from '../schema/database-kind.ts';
import type { Database } from '../schema/schema.ts';
import { databaseFileBytes } from './database-file.ts';
import { PooledPostgresDialect } from './postgres-dialect.ts';
import { openPool } from './postgres-pool.ts';
import { parsePostgresUrl } from './postgres-url.ts';
import type { Queries } from './store.ts';

export interface DatabaseState {
  readonly kind: 'embedded' | 'postgres';
  /** The newest step of its schema; undefined for a new database. */
  readonly schema: string | undefined;
  readonly bytes: number;
}

export interface SchemaStepView {
  readonly name: string;
  /** What the step changes, for operators. */
  readonly effect: string;
}

const NEWEST = 'select name from kysely_migration order by name desc limit 1';

/** All steps of this version, in their order. */
export function schemaSteps(): SchemaStepView[] {
  return Object.entries(migrations)
    .map(([name, { effect }]) => ({ name, effect }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

export async function databaseState(db: Queries): Promise<DatabaseState> {
  const { rows } = await sql<{ name: string }>`${sql.raw(NEWEST)}`.execute(db);
  const size = isPostgres(db)
    ? sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`
    : sql<{
        bytes: number;
      }>`select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()`;
  const bytes = (await size.execute(db)).rows[0]?.bytes ?? 0;
  return { kind: isPostgres(db) ? 'postgres' : 'embedded', schema: rows[0]?.name, bytes: Number(bytes) };
}

/** Errors: `unavailable` if the database cannot be read, also while a control plane has an embedded one open. */
export async function readDatabaseState(path: string, database: string | undefined): Promise<DatabaseState> {
  if (database === undefined) return embeddedState(path);
  const pool = await openPool(parsePostgresUrl(database), {
    size: 1,
    statementTimeoutMs: 10_000,
    log: silentLog,
  });
  const dialect = new PooledPostgresDialect({ pool, size: 1, answerTimeoutMs: 15_000 });
  try {
    return await databaseState(new Kysely<Database>({ dialect }));
  } finally {
    await pool.end();
  }
}

function embeddedState(path: string): DatabaseState {
  const bytes = databaseFileBytes(path);
  if (bytes === 0) return { kind: 'embedded', schema: undefined, bytes };
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      const row = database.prepare(NEWEST).get();
      const name = row?.['name'];
      return { kind: 'embedded', schema: typeof name === 'string' ? name : undefined, bytes };
    } finally {
      database.close();
    }
  } catch (cause) {
    const message =
      `${path} cannot be read (${messageOf(cause)}): while a control plane runs on it, name an API account of that control plane ` +
      'with the scope frontdoor.admin, such as by FRONTDOOR_CREDENTIALS_FILE';
    throw new FrontdoorError('unavailable', 'database-unreadable', message, { cause });
  }
}
