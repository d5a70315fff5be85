/**
 * Encrypts stored values again that were encrypted with another key (ADR 0062): in batches, each a transaction of its own, with
 * a turn of the event loop between them. A value that changed in the meantime is left to the next pass.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { failAlone } from '#net';
import type { Secrets } from './secrets.ts';
import type { Queries, Store } from '../store/mod.ts';
import { EXPIRING, SEALED, type SealedColumns } from './sealed-column-table.ts';

const ROWS_AT_ONCE = 100;

export interface ResealParts {
  readonly store: Pick<Store, 'db' | 'transaction'>;
  readonly secrets: Pick<Secrets, 'seal' | 'unseal' | 'isOfFormerKey' | 'sealingId'>;
  /** Called after each batch; the pass ends when it returns false. */
  readonly goesOn: () => Promise<boolean> | boolean;
}

/** Resolves to the number of values that were encrypted again. */
export async function resealAll(parts: ResealParts): Promise<number> {
  let count = 0;
  for (const columns of SEALED) {
    let after = '';
    for (;;) {
      const batch = await resealBatch(parts, columns, after);
      count += batch.count;
      if (batch.last === undefined) break;
      after = batch.last;
      if (!(await parts.goesOn())) return count;
      await nextTurn();
    }
  }
  return count;
}

/** Returns how many stored values only a former key opens. */
export async function countOfFormerKey(db: Queries, sealingId: string): Promise<number> {
  const isFormer = (column: string) =>
    sql<boolean>`${sql.ref(column)} is not null and ${sql.ref(column)} <> '' and ${sql.ref(column)} not like ${`s1.${sealingId}.%`}`;
  const all = [...SEALED, { table: EXPIRING.table, columns: [EXPIRING.column] }];
  let count = 0;
  for (const { table, columns } of all)
    for (const column of columns) {
      const found = await sql<{
        count: number;
      }>`select count(*) as count from ${sql.table(table)} where ${isFormer(column)}`.execute(db);
      count += Number(found.rows[0]?.count ?? 0);
    }
  return count;
}

/** `last` is undefined after the last row. */
async function resealBatch(
  { store, secrets }: ResealParts,
  { table, key, columns }: SealedColumns,
  after: string,
): Promise<{ readonly count: number; readonly last: string | undefined }> {
  const named = [key, ...columns].map((name) => sql.ref(name));
  const { rows } = await sql<Record<string, string | null>>`select ${sql.join(named)} from ${sql.table(table)}
    where ${sql.ref(key)} > ${after} order by ${sql.ref(key)} limit ${sql.lit(ROWS_AT_ONCE)}`.execute(
    store.db,
  );
  const due = rows.flatMap((row) =>
    columns.flatMap((column) => {
      const sealed = row[column];
      if (typeof sealed !== 'string' || !secrets.isOfFormerKey(sealed)) return [];
      const id = row[key]!;
      try {
        return [{ id, column, sealed, again: secrets.seal(secrets.unseal(sealed)) }];
      } catch (error) {
        // No key opens it, so it keeps the former key in the files. The others are encrypted again nevertheless.
        failAlone({ kind: 'record', id: `${table}.${column} of ${id}` }, error);
        return [];
      }
    }),
  );
  if (due.length > 0)
    await store.transaction(async (trx) => {
      for (const { id, column, sealed, again } of due)
        await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${again}
          where ${sql.ref(key)} = ${id} and ${sql.ref(column)} = ${sealed}`.execute(trx);
    });
  return {
    count: due.length,
    last: rows.length < ROWS_AT_ONCE ? undefined : (rows.at(-1)![key] ?? undefined),
  };
}
