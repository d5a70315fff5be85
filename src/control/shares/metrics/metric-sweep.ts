/** Removes expired roll-ups, those of deleted scopes, and sources that were silent for long, every few minutes. */
import { sql } from 'kysely';
import { existingIdentities } from '../../overlay/records/mod.ts';
import { StoreSweep, type SweepParts } from '../../store/mod.ts';
import { fixedSlices } from './fixed-slices.ts';
import { ROLLUPS } from './rollup-table.ts';

const SWEEP_MS = 3 * 60_000;
const STATEMENTS_A_SWEEP = 500;
const SCOPES_A_SWEEP = 1_000;
/** Longer than a batch normally stays unacknowledged while its process lives. */
const SOURCE_KEPT_MS = 30 * 86_400_000;

export class MetricSweep extends StoreSweep {
  /** Scopes up to this id were checked. */
  #lookedUpTo = '';

  constructor(parts: SweepParts) {
    super(parts, 'old metrics', SWEEP_MS);
  }

  protected async pass(nowMs: number): Promise<void> {
    const { store } = this.parts;
    for (const { spanMs, keptMs } of ROLLUPS) {
      const old = sql`resolution_ms = ${spanMs} and starts_at < ${nowMs - keptMs - spanMs}`;
      await this.#deleteWhere(old);
    }
    for (const id of await this.#deletedScopes()) await this.#deleteWhere(sql`scope_id = ${id}`);
    await store.db
      .deleteFrom('metric_source')
      .where('seen_at', '<', nowMs - SOURCE_KEPT_MS)
      .execute();
  }

  #deleteWhere(condition: ReturnType<typeof sql>): Promise<void> {
    const key = sql`scope_id, resolution_ms, starts_at`;
    return this.deleteAll(async (most) => {
      const { numAffectedRows } = await sql`delete from metric_rollup where (${key}) in
        (select ${key} from metric_rollup where ${condition} limit ${most})`.execute(this.parts.store.db);
      return Number(numAffectedRows ?? 0);
    }, STATEMENTS_A_SWEEP);
  }

  /** Returns the deleted ones among the next scopes. After the last scope it starts again. */
  async #deletedScopes(): Promise<string[]> {
    const { db } = this.parts.store;
    // Each id costs one index look-up, however many rows it has.
    const { rows } = await sql<{ id: string }>`with recursive scopes(id) as (
        select min(scope_id) from metric_rollup where scope_id > ${this.#lookedUpTo}
        union all
        select (select min(scope_id) from metric_rollup where scope_id > scopes.id) from scopes
        where scopes.id is not null
      ) select id from scopes where id is not null limit ${SCOPES_A_SWEEP}`.execute(db);
    this.#lookedUpTo = rows.length < SCOPES_A_SWEEP ? '' : rows.at(-1)!.id;
    const gone = new Set(rows.map(({ id }) => id));
    for (const ids of fixedSlices([...gone])) {
      for (const table of ['share', 'frontdoor'] as const) {
        const found = await db.selectFrom(table).select('id').where('id', 'in', ids).execute();
        for (const { id } of found) gone.delete(id);
      }
      for (const id of await existingIdentities(db, ids)) gone.delete(id);
    }
    return [...gone];
  }
}
