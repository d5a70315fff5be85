/**
 * The schema of the first release. Types are those that both databases have: text, bigint, integer. Rows are deleted with the
 * row that they belong to. Triggers keep the totals of lists, so that cascades count, too.
 */
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { isPostgres } from '../schema/database-kind.ts';
import { accountTables } from './first-schema/account-tables.ts';
import { notificationTables } from './first-schema/notification-tables.ts';
import { personTables } from './first-schema/person-tables.ts';
import { recordTables } from './first-schema/record-tables.ts';
import { shareTables } from './first-schema/share-tables.ts';

/**
 * Lists of shares that are filtered by a text read an index instead of all rows. The embedded database reads the name in
 * lower case from it, too. PostgreSQL computes it and reads the rows, which costs it less.
 */
const SHARES_BY_AGE = {
  embedded: `create index share_by_text
    on share (frontdoor_id, created_at, token, lower(name), environment_id, id)`,
  postgres: 'create index share_by_age on share (frontdoor_id, created_at, token)',
};

interface Counted {
  readonly kind: string;
  readonly table: string;
  /** Columns that lists are sorted by and that may change. */
  readonly ordered: readonly string[];
  /** The rows that count. */
  readonly only?: (row: string) => string;
}

const COUNTED: readonly Counted[] = [
  { kind: 'share', table: 'share', ordered: ['name', 'token'] },
  {
    kind: 'environment',
    table: 'identity',
    ordered: ['name'],
    only: (row) => `${row}.kind = 'environment'`,
  },
  { kind: 'auth-provider', table: 'auth_provider', ordered: ['name', 'type', 'enabled'] },
];

export const firstSchema: Migration = {
  async up(db: Kysely<unknown>) {
    const onPostgres = isPostgres(db);
    const tables = [accountTables, shareTables, personTables, recordTables, notificationTables].flatMap(
      statementsOf,
    );
    const byAge = onPostgres ? SHARES_BY_AGE.postgres : SHARES_BY_AGE.embedded;
    for (const statement of [...tables, byAge])
      await sql.raw(onPostgres ? comparedByBytes(statement) : statement).execute(db);
    for (const counted of COUNTED) await countRows(db, counted);
  },
};

function statementsOf(text: string): string[] {
  return text.trim().split(/;\n+/);
}

/** Text is compared byte by byte on both databases, so that lists have the same order. Each column has a line. */
function comparedByBytes(statement: string): string {
  return statement.replaceAll(/^( +\w+ text)\b/gm, '$1 collate "C"');
}

async function countRows(db: Kysely<unknown>, { kind, table, ordered, only }: Counted): Promise<void> {
  const added = `insert into collection (frontdoor_id, kind, total, version) values (new.frontdoor_id, '${kind}', 1, 1)
    on conflict (frontdoor_id, kind) do update set total = collection.total + 1, version = collection.version + 1`;
  const moved = (row: string, by: string): string =>
    `update collection set total = total ${by}, version = version + 1
    where frontdoor_id = ${row}.frontdoor_id and kind = '${kind}'`;
  const triggers = [
    { event: 'insert', row: 'new', body: added },
    { event: 'delete', row: 'old', body: moved('old', '- 1') },
    { event: `update of ${ordered.join(', ')}`, row: 'new', body: moved('new', '+ 0') },
  ];
  for (const { event, row, body } of triggers) {
    const name = `${table}_counted_on_${event.split(' ')[0]}`;
    const when = only === undefined ? '' : `when (${only(row)})`;
    const trigger = `create trigger ${name} after ${event} on ${table} for each row ${when}`;
    const statements = isPostgres(db)
      ? [
          `create function ${name}() returns trigger language plpgsql as $$ begin ${body}; return null; end $$`,
          `${trigger} execute function ${name}()`,
        ]
      : [`${trigger} begin ${body}; end`];
    for (const statement of statements) await sql.raw(statement).execute(db);
  }
}
