/**
 * Brings a database's schema up to date: all missing migrations in one transaction, one process at a time, so
 * that an interrupted start leaves the database unchanged. A schema that is newer than this program is refused.
 */
import { sql, type Kysely } from 'kysely';
import { Migrator, type Migration } from 'kysely/migration';
import { FrontdoorError, type Log } from '#base';
import { migrations as allMigrations } from '../migrations/migration-table.ts';
import { lockedByName } from './row-lock.ts';
import type { Database } from '../schema/schema.ts';

export type Migrations = Readonly<Record<string, Migration>>;

export interface SchemaState {
  /** The newest migration of the database; undefined if it is empty. */
  readonly newest: string | undefined;
  /** In their order. */
  readonly pending: readonly string[];
}

const TABLE = 'kysely_migration';

/** The migrations with these names, if they are all of a schema that this program or one before it has had. */
export function migrationsOf(names: readonly string[]): Migrations | undefined {
  const known = Object.keys(allMigrations).toSorted();
  if (names.length === 0 || names.some((name, at) => known[at] !== name)) return undefined;
  return Object.fromEntries(names.map((name) => [name, allMigrations[name]!]));
}

/** Whether the names are those of all migrations of this program. */
export function isNewestSchema(names: readonly string[]): boolean {
  return names.join() === Object.keys(allMigrations).toSorted().join();
}

/** Throws `invalid` if the database has a migration that this program does not know. */
export async function schemaStateOf(db: Kysely<Database>, migrations: Migrations): Promise<SchemaState> {
  const known = Object.keys(migrations).toSorted();
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === TABLE)) return { newest: undefined, pending: known };
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(TABLE)} order by name`.execute(
    db,
  );
  const executed = rows.map(({ name }) => name);
  const newest = executed.at(-1);
  if (executed.some((name) => !known.includes(name))) {
    const message =
      `the database has the schema ${newest}, this program knows none after ${known.at(-1)}: ` +
      'start the newer program, or put back a copy from before the upgrade';
    throw new FrontdoorError('invalid', 'schema-newer', message);
  }
  return { newest, pending: known.filter((name) => !executed.includes(name)) };
}

/** Errors: `invalid` for a newer schema, `internal` if a migration fails; the database is unchanged then. */
export async function migrateSchema(db: Kysely<Database>, migrations: Migrations, log: Log): Promise<void> {
  const done = await db.transaction().execute(async (trx) => {
    await lockedByName(trx, 'migrations');
    const { pending } = await schemaStateOf(trx, migrations);
    if (pending.length === 0) return pending;
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
