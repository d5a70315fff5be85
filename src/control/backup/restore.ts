/**
 * Restores a backup into an empty database in one transaction: a backup that is incomplete, of another schema than it, or
 * encrypted with another key file leaves nothing behind. Rows are restored unchanged, so that nobody has to
 * enroll or log in again.
 */
import { createReadStream } from 'node:fs';
import { sql } from 'kysely';
import { FrontdoorError } from '#base';
import type { BackupHeader, BackupItem, BackupSummary, BackupValue } from '#domain/backup';
import { decodeBackup, type BackupEnd } from '#net/files';
import type { Secrets } from '../secrets/mod.ts';
import {
  isNewestSchema,
  isUnreleasedSchema,
  isPostgres,
  migrationsOf,
  type Migrations,
  type Queries,
  type Store,
} from '../store/mod.ts';
import { appliedMigrations, backedUpTables } from './backup-lines.ts';
import { BACKED_UP, COUNTED, COUNTS, type BackedUpTable } from './backup-order-table.ts';

const ROWS_PER_STATEMENT = 100;
type BackupRow = Readonly<Record<string, BackupValue>>;

/** Reads a whole backup and checks everything that needs no database. Errors: `invalid`. */
export async function checkBackup(
  file: string,
  secrets: Secrets | undefined,
  migrations?: Migrations,
): Promise<BackupSummary> {
  const summary = await walk(file, secrets, {
    header: async (header) => void schemaOf(header, migrations),
    rows: async () => {},
  });
  const { header, rows } = summary;
  if (isNewestSchema(header.migrations, migrations) && Object.keys(rows).length !== BACKED_UP.length)
    throw otherTables();
  return summary;
}

/** Reads the beginning of a backup. Returns the migrations of its schema, whose version may be older. Errors: `invalid`. */
export async function backupSchema(file: string, migrations?: Migrations): Promise<Migrations> {
  for await (const items of decodeBackup(createReadStream(file)))
    for (const item of items) if (item.type === 'header') return schemaOf(item.header, migrations);
  throw new FrontdoorError('invalid', 'backup-damaged', 'the backup is truncated');
}

function schemaOf({ migrations }: BackupHeader, known: Migrations | undefined): Migrations {
  const schema = migrationsOf(migrations, known);
  if (schema !== undefined) return schema;
  if (isUnreleasedSchema(migrations)) {
    const message =
      'the backup is of a development version, from before the first release, which no release can restore';
    throw new FrontdoorError('invalid', 'schema-unreleased', message);
  }
  const message =
    `the backup's schema is ${migrations.at(-1) ?? 'unknown'}, which this version does not know: ` +
    'restore it with the version that took it, or a newer one';
  throw new FrontdoorError('invalid', 'backup-schema', message);
}

/** Errors: `conflict` if the database is not empty, `invalid` for the backup, those of the store. */
export async function restoreBackup(
  store: Store,
  file: string,
  secrets: Secrets | undefined,
): Promise<BackupSummary> {
  return store.transaction(async (trx) => {
    await checkEmpty(trx);
    const tables = new Set((await backedUpTables(trx)).map(({ table }) => table));
    const counted = COUNTED.filter((table) => tables.has(table));
    await countByTriggers(trx, counted, false);
    const summary = await walk(file, secrets, {
      header: (header) => checkMigrations(trx, header),
      rows: (table, rows) => insertRows(trx, table, rows),
    });
    if (tables.size !== Object.keys(summary.rows).length) throw otherTables();
    await countByTriggers(trx, counted, true);
    return summary;
  });
}

interface Visitor {
  header(header: BackupHeader): Promise<void>;
  rows(table: BackedUpTable['table'], rows: readonly BackupRow[]): Promise<void>;
}

async function walk(file: string, secrets: Secrets | undefined, visitor: Visitor): Promise<BackupSummary> {
  const tables = new BackupTables();
  let columns: readonly string[] = [];
  let rows: BackupRow[] = [];
  let summary: BackupSummary | undefined;
  const flush = async (): Promise<void> => {
    if (rows.length > 0) await visitor.rows(tables.current, rows);
    rows = [];
  };
  const take = async (item: BackupItem | BackupEnd): Promise<void> => {
    if (item.type === 'row') {
      const row = Object.fromEntries(columns.map((column, at) => [column, item.values[at]!]));
      if (secrets !== undefined) checkSeals(secrets, row);
      if (rows.push(row) >= ROWS_PER_STATEMENT) await flush();
      return;
    }
    await flush();
    if (item.type === 'header') await visitor.header(item.header);
    else if (item.type === 'table') {
      tables.next(item.table.table);
      columns = item.table.columns;
    } else summary = item.summary;
  };
  for await (const items of decodeBackup(createReadStream(file))) for (const item of items) await take(item);
  return summary!;
}

/** A backup has tables in an order in which they can be filled: that of its own version. */
class BackupTables {
  #current: BackedUpTable['table'] | undefined;

  get current(): BackedUpTable['table'] {
    return this.#current!;
  }

  next(name: string): void {
    this.#current = BACKED_UP.find(({ table }) => table === name)?.table;
    if (this.#current === undefined) throw otherTables();
  }
}

function otherTables(): FrontdoorError {
  return new FrontdoorError('invalid', 'backup-tables', 'the backup has other tables than this version');
}

function checkSeals(secrets: Secrets, row: BackupRow): void {
  for (const [column, value] of Object.entries(row)) {
    // The key of an authority that was replaced is deleted, and its row stays.
    if (!column.endsWith('_sealed') || typeof value !== 'string' || value === '') continue;
    try {
      secrets.unseal(value);
    } catch (cause) {
      const message =
        'the backup belongs to another secrets.key: put the one beside it that it was taken with';
      throw new FrontdoorError('invalid', 'key-file', message, { cause });
    }
  }
}

/** Throws `conflict` if one of the tables has rows. */
export async function checkEmpty(db: Queries): Promise<void> {
  for (const { table } of await backedUpTables(db)) {
    const { rows } = await sql`select 1 from ${sql.table(table)} limit 1`.execute(db);
    if (rows.length === 0) continue;
    const message = `the database is not empty (${table} has rows): a backup goes into an empty one only`;
    throw new FrontdoorError('conflict', 'database-not-empty', message);
  }
}

async function checkMigrations(db: Queries, { migrations }: BackupHeader): Promise<void> {
  const own = await appliedMigrations(db);
  if (own.join() === migrations.join()) return;
  const message =
    `the backup's schema is ${migrations.at(-1) ?? 'unknown'}, the database's is ${own.at(-1) ?? 'unknown'}: ` +
    'restore it into a new database';
  throw new FrontdoorError('invalid', 'backup-schema', message);
}

async function insertRows(
  db: Queries,
  table: BackedUpTable['table'],
  rows: readonly BackupRow[],
): Promise<void> {
  const columns = Object.keys(rows[0]!);
  // The counts of triggers on the embedded database are replaced by those of the backup.
  if (table === COUNTS) {
    const keys = rows.map((row) => sql`(${row['frontdoor_id']}, ${row['kind']})`);
    await sql`delete from ${sql.table(table)} where (frontdoor_id, kind) in (values ${sql.join(keys)})`.execute(
      db,
    );
  }
  const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`);
  const names = sql.join(columns.map((column) => sql.ref(column)));
  await sql`insert into ${sql.table(table)} (${names}) values ${sql.join(values)}`.execute(db);
}

/** On PostgreSQL each counted row would leave a dead version of its count, which slows down the next one. */
async function countByTriggers(db: Queries, tables: readonly string[], isOn: boolean): Promise<void> {
  if (!isPostgres(db)) return;
  for (const table of tables) {
    const change = isOn ? sql`enable` : sql`disable`;
    await sql`alter table ${sql.table(table)} ${change} trigger user`.execute(db);
  }
}
