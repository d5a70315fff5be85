/**
 * Brings a database's schema up to date: all missing migrations in one transaction, one process at a time, so
 * that an interrupted start leaves the database unchanged. A schema that is newer than this program is refused.
 */
import { sql, type Kysely } from 'kysely';
import { Migrator, type Migration } from 'kysely/migration';
import { FrontdoorError, type Log } from '#base';
import { migrations as allMigrations } from '../migrations/migration-table.ts';
import { lockedByName } from './row-lock.ts';
import { isPostgres } from '../schema/database-kind.ts';
import type { Database } from '../schema/schema.ts';
import type { Queries, Store } from './store.ts';

export type Migrations = Readonly<Record<string, Migration>>;

export interface SchemaState {
  /** The newest migration of the database; undefined if it is empty. */
  readonly newest: string | undefined;
  /** In their order. */
  readonly pending: readonly string[];
}

/**
 * Called before a schema that is not new is changed, with the name of the first migration. On PostgreSQL no other process
 * migrates in the meantime. If it throws, the database is unchanged.
 */
export type BeforeMigration = (old: Pick<Store, 'db' | 'snapshot'>, migration: string) => Promise<void>;

/** A version after this one has changed the schema. A copy of the database was made before the first of its migrations. */
export class NewerSchema extends FrontdoorError {
  /** The first migration that this version does not know. */
  readonly unknown: string;
  readonly #schemas: readonly [newest: string, known: string];

  constructor(newest: string, unknown: string, known: string, remedy?: string) {
    const message = `a newer version has changed the database: its schema is ${newest}, and this version knows none after ${known}`;
    super('invalid', 'schema-newer', `${message}. ${remedy ?? 'Start the newer version'}`);
    this.unknown = unknown;
    this.#schemas = [newest, known];
  }

  /** Returns an equal error whose message ends with this remedy. */
  withRemedy(remedy: string): NewerSchema {
    const [newest, known] = this.#schemas;
    return new NewerSchema(newest, this.unknown, known, remedy);
  }
}

const TABLE = 'kysely_migration';
/** The first migration of programs from before the first release, whose schemas no release has. */
const UNRELEASED = '0001-first-tables';

/** The migrations with these names, if they are all of a schema that this program or one before it has had. */
export function migrationsOf(
  names: readonly string[],
  migrations: Migrations = allMigrations,
): Migrations | undefined {
  const known = Object.keys(migrations).toSorted();
  if (names.length === 0 || names.some((name, at) => known[at] !== name)) return undefined;
  return Object.fromEntries(names.map((name) => [name, migrations[name]!]));
}

/** Whether the names are those of all migrations. */
export function isNewestSchema(names: readonly string[], migrations: Migrations = allMigrations): boolean {
  return names.join() === Object.keys(migrations).toSorted().join();
}

/** Whether the schema is one of a development version. No release reads what it has stored. */
export function isUnreleasedSchema([first]: readonly string[]): boolean {
  return first === UNRELEASED;
}

/** Throws `invalid` if the database has a migration that this program does not know, or belongs to another program. Changes nothing. */
export async function schemaStateOf(db: Kysely<Database>, migrations: Migrations): Promise<SchemaState> {
  const known = Object.keys(migrations).toSorted();
  const tables = await tablesOf(db);
  const others = tables.filter((name) => !name.startsWith(TABLE));
  if (!tables.includes(TABLE)) {
    if (others.length > 0) throw foreignDatabase(others);
    return { newest: undefined, pending: known };
  }
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(TABLE)} order by name`.execute(
    db,
  );
  const executed = rows.map(({ name }) => name);
  const newest = executed.at(-1);
  if (isUnreleasedSchema(executed)) throw unreleasedSchema(newest!);
  // Other programs keep their migrations in a table of this name, too.
  if (!known.includes(executed[0] ?? '') && others.length > 0) throw foreignDatabase(others);
  const unknown = executed.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new NewerSchema(newest!, unknown, known.at(-1)!);
  return { newest, pending: known.filter((name) => !executed.includes(name)) };
}

/** Those of the schema in which tables are created, without those of PostgreSQL's extensions. */
async function tablesOf(db: Kysely<Database>): Promise<string[]> {
  if (!isPostgres(db)) {
    const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
    return tables.map(({ name }) => name);
  }
  const { rows } = await sql<{ name: string }>`select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'f')
    and not exists (select 1 from pg_depend where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e')
    order by relname`.execute(db);
  return rows.map(({ name }) => name);
}

function foreignDatabase([first]: readonly string[]): FrontdoorError {
  const message =
    `the database belongs to another program, which has the table "${first}" in it: name an empty one, ` +
    'which "createdb --encoding UTF8" makes';
  return new FrontdoorError('invalid', 'database-foreign', message);
}

function unreleasedSchema(newest: string): FrontdoorError {
  const message =
    `the database has the schema ${newest} of a development version, from before the first release, which no release can ` +
    'upgrade: name an empty database or another --data-dir, and set the installation up again';
  return new FrontdoorError('invalid', 'schema-unreleased', message);
}

/** Errors: `invalid` for a newer schema or a foreign database, `internal` if a migration fails, those of `before`. The database is unchanged then. */
export async function migrateSchema(
  db: Kysely<Database>,
  migrations: Migrations,
  log: Log,
  before?: (old: Queries, migration: string) => Promise<void>,
): Promise<void> {
  const done = await db.transaction().execute(async (trx) => {
    await lockedByName(trx, 'migrations');
    const { newest, pending } = await schemaStateOf(trx, migrations);
    const [next] = pending;
    if (next === undefined) return pending;
    if (newest !== undefined) await before?.(trx, next);
    const migrator = new Migrator({
      db: trx,
      provider: { getMigrations: () => Promise.resolve({ ...migrations }) },
    });
    const { error } = await migrator.migrateToLatest();
    if (error === undefined) return pending;
    if (error instanceof FrontdoorError && error.kind === 'unavailable') throw error;
    const message = 'the database could not be brought up to date';
    throw new FrontdoorError('internal', 'migration-failed', message, { cause: error });
  });
  for (const migration of done) log.info({ migration }, 'migrated the store');
}
