/**
 * The clock of a first start, which decides the dates of the authorities: it is compared with the time at which this program
 * was made and, on PostgreSQL, with the clock of the database server. Later starts are not refused: what they issue is short.
 */
import { sql } from 'kysely';
import { FrontdoorError, type Clock } from '#base';
import { firstOrganization } from '../credentials/people/mod.ts';
import type { Store } from '../store/mod.ts';

/** No clock is earlier, since this program did not exist then. */
const OLDEST_MS = Date.UTC(2026, 0, 1);
const MOST_APART_MS = 300_000;

/** @throws FrontdoorError `clock-wrong`, with both times. */
export async function checkFirstClock(store: Store, clock: Clock): Promise<void> {
  if ((await firstOrganization(store.db)) !== undefined) return;
  const nowMs = clock.nowMs();
  if (nowMs < OLDEST_MS) throw wrong(nowMs, `this program was made after ${textOf(OLDEST_MS)}`);
  if (!store.isShared) return;
  const { rows } = await sql<{
    ms: string;
  }>`select extract(epoch from clock_timestamp()) * 1000 as ms`.execute(store.db);
  const serverMs = Number(rows[0]?.ms);
  if (Math.abs(serverMs - clock.nowMs()) > MOST_APART_MS)
    throw wrong(nowMs, `that of the database server says ${textOf(serverMs)}`);
}

function wrong(nowMs: number, other: string): FrontdoorError {
  const message = `the clock of this machine says ${textOf(nowMs)}, and ${other}: set the clock before the first start, because the authority’s certificates begin with it`;
  return new FrontdoorError('invalid', 'clock-wrong', message);
}

function textOf(ms: number): string {
  return new Date(ms).toISOString();
}
