/** Writes a snapshot as the lines of a backup (format: `BackupDecoder`), page by page, with a running hash. */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { BACKUP_FORMAT, type BackupHeader, type BackupTrailer, type BackupValue } from '#domain/backup';
import type { Queries } from '../store/mod.ts';
import { BACKED_UP, type BackedUpTable } from './backup-order-table.ts';

const ROWS_PER_PAGE = 100;

type StoredRow = Readonly<Record<string, BackupValue>>;

/** Returns the applied migrations of the schema in order. */
export async function appliedMigrations(db: Queries): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  return rows.map(({ name }) => name);
}

/** The tables of a backup that the schema of the database has. An older schema has fewer. */
export async function backedUpTables(db: Queries): Promise<BackedUpTable[]> {
  const tables = await db.introspection.getTables();
  const names = new Set(tables.map(({ name }) => name));
  return BACKED_UP.filter(({ table }) => names.has(table));
}

/** Yields pieces of text, each with whole lines. */
export async function* backupLines(
  db: Queries,
  takenAtMs: number,
  tables: readonly BackedUpTable[] = BACKED_UP,
): AsyncGenerator<string> {
  const hash = createHash('sha256');
  const hashed = (text: string): string => {
    hash.update(text);
    return text;
  };
  const header: BackupHeader = {
    frontdoorBackup: BACKUP_FORMAT,
    takenAt: new Date(takenAtMs).toISOString(),
    migrations: await appliedMigrations(db),
  };
  yield hashed(lineOf(header));
  const counts: Record<string, number> = {};
  for (const plan of tables) {
    let columns: string[] = [];
    counts[plan.table] = 0;
    for await (const rows of pagesOf(db, plan)) {
      let text = '';
      if (columns.length === 0) {
        columns = Object.keys(rows[0]!);
        text = lineOf({ table: plan.table, columns });
      }
      for (const row of rows) text += lineOf(columns.map((column) => row[column]));
      counts[plan.table]! += rows.length;
      yield hashed(text);
    }
    if (columns.length === 0) yield hashed(lineOf({ table: plan.table, columns }));
  }
  const trailer: BackupTrailer = { end: { rows: counts, sha256: hash.digest('hex') } };
  yield lineOf(trailer);
}

/** Pages by key, so that every page costs the same. */
async function* pagesOf(db: Queries, { table, key }: BackedUpTable): AsyncGenerator<readonly StoredRow[]> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  let after = sql``;
  for (;;) {
    const page = sql<StoredRow>`select * from ${sql.table(table)} ${after} order by ${columns} limit ${ROWS_PER_PAGE}`;
    const { rows } = await page.execute(db);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    if (rows.length < ROWS_PER_PAGE) return;
    const reached = sql.join(key.map((column) => last[column]));
    after = sql`where (${columns}) > (${reached})`;
  }
}

function lineOf(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
