/**
 * Removes roll-ups that are older than they are kept, those of scopes that were deleted, and sources that have been
 * silent for long. Every few minutes, in short statements: nobody waits long behind one.
 */
import { sql } from 'kysely';
import { messageOf, type Clock, type Log } from '#base';
import type { Store } from '../store/store.ts';
import { fixedSlices } from './fixed-slices.ts';
import { ROLLUPS } from './rollup-table.ts';

const SWEEP_MS = 3 * 60_000;
const ROWS_A_STATEMENT = 1_000;
const STATEMENTS_A_SWEEP = 500;
const SCOPES_A_SWEEP = 1_000;
/** Longer than a gateway's unacknowledged batch can lie while its process lives, but for the strangest cases. */
const SOURCE_KEPT_MS = 30 * 86_400_000;

export interface MetricSweepOptions {
  readonly store: Pick<Store, 'db'>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface MetricSweep {
  /** One pass; resolves when it is over, whether it succeeded or not. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

export function startMetricSweep(options: MetricSweepOptions): MetricSweep {
  return new Sweep(options);
}

class Sweep implements MetricSweep {
  readonly #options: MetricSweepOptions;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | undefined;
  /** Scopes up to this id were looked at. */
  #lookedUpTo = '';
  #closed = false;

  constructor(options: MetricSweepOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.sweep(), SWEEP_MS);
    this.#timer.unref();
  }

  sweep(): Promise<void> {
    this.#running ??= this.#sweep()
      .catch((error: unknown) => {
        this.#options.log.warn(
          { cause: messageOf(error) },
          'old metrics were not removed; tried again later',
        );
      })
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#running;
  }

  async #sweep(): Promise<void> {
    const { store, clock } = this.#options;
    const nowMs = clock.nowMs();
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

  async #deleteWhere(condition: ReturnType<typeof sql>): Promise<void> {
    const { db } = this.#options.store;
    const key = sql`scope_id, resolution_ms, starts_at`;
    for (let i = 0; i < STATEMENTS_A_SWEEP && !this.#closed; i += 1) {
      const { numAffectedRows } = await sql`delete from metric_rollup where (${key}) in
        (select ${key} from metric_rollup where ${condition} limit ${ROWS_A_STATEMENT})`.execute(db);
      if (Number(numAffectedRows ?? 0) < ROWS_A_STATEMENT) return;
    }
  }

  /** Of the next scopes in line, those that are gone; the line starts again at its end. */
  async #deletedScopes(): Promise<string[]> {
    const { db } = this.#options.store;
    // Each id is one look into the index, however many rows it has.
    const { rows } = await sql<{ id: string }>`with recursive scopes(id) as (
        select min(scope_id) from metric_rollup where scope_id > ${this.#lookedUpTo}
        union all
        select (select min(scope_id) from metric_rollup where scope_id > scopes.id) from scopes
        where scopes.id is not null
      ) select id from scopes where id is not null limit ${SCOPES_A_SWEEP}`.execute(db);
    this.#lookedUpTo = rows.length < SCOPES_A_SWEEP ? '' : rows.at(-1)!.id;
    const gone = new Set(rows.map(({ id }) => id));
    for (const ids of fixedSlices([...gone])) {
      for (const table of ['share', 'identity', 'frontdoor'] as const) {
        const found = await db.selectFrom(table).select('id').where('id', 'in', ids).execute();
        for (const { id } of found) gone.delete(id);
      }
    }
    return [...gone];
  }
}
