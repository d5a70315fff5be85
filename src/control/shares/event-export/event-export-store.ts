/** The collector that gets all events, of which there is one at most, and who sends to it now. Its address and secret are sealed. */
import type { Selectable } from 'kysely';
import { readAlone } from '#net';
import type { Secrets } from '../../secrets/mod.ts';
import { lockedForUpdate, type Database, type Queries } from '../../store/mod.ts';

const ONE = 'installation';
/** Replaces an address that cannot be unsealed, so that an operator sees it. Never a host. */
const UNREADABLE_URL = 'https://unreadable.invalid/';

export interface EventExport {
  /** `https:` and `http:` for a collector, `tls:` and `tcp:` for syslog. */
  readonly url: string;
  /** The header that has the secret. */
  readonly header: string;
  readonly secret: string | null;
  readonly isCompressed: boolean;
  readonly isEnabled: boolean;
  readonly createdAtMs: number;
}

export interface EventExportState {
  /** Events since it was created. */
  readonly delivered: number;
  readonly deliveredAtMs: number | null;
  /** Successive failures. */
  readonly failures: number;
  readonly lastProblem: string | null;
}

export type StoredEventExport = EventExport & EventExportState;

type Sealing = Pick<Secrets, 'seal' | 'unseal'>;
type Row = Selectable<Database['event_export']>;

export async function findEventExport(db: Queries, secrets: Sealing): Promise<StoredEventExport | undefined> {
  const row = await db.selectFrom('event_export').selectAll().executeTakeFirst();
  return row && exportOf(secrets, row);
}

export async function lockEventExport(
  trx: Queries,
  secrets: Sealing,
): Promise<StoredEventExport | undefined> {
  const row = await lockedForUpdate(trx, trx.selectFrom('event_export').selectAll()).executeTakeFirst();
  return row && exportOf(secrets, row);
}

/** Ends the pause after failures, and the lease: what is under way by the former settings is not noted, and is sent again. */
export async function putEventExport(trx: Queries, secrets: Sealing, wanted: EventExport): Promise<void> {
  const settings = {
    url_sealed: secrets.seal(wanted.url),
    header: wanted.header,
    secret_sealed: wanted.secret === null ? null : secrets.seal(wanted.secret),
    compressed: wanted.isCompressed ? 1 : 0,
    enabled: wanted.isEnabled ? 1 : 0,
    paused_until: 0,
    lease_holder: null,
    lease_until: 0,
  };
  await trx
    .insertInto('event_export')
    .values({ id: ONE, ...settings, created_at: wanted.createdAtMs })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(settings))
    .execute();
}

export async function deleteEventExport(trx: Queries): Promise<void> {
  await trx.deleteFrom('event_export').execute();
}

export interface ExportLease {
  /** The control plane. */
  readonly holder: string;
  readonly nowMs: number;
  readonly untilMs: number;
}

/** Returns the collector if it is due, and nobody else sends to it. */
export async function leaseEventExport(
  db: Queries,
  secrets: Sealing,
  { holder, nowMs, untilMs }: ExportLease,
): Promise<StoredEventExport | undefined> {
  const row = await db
    .updateTable('event_export')
    .set({ lease_holder: holder, lease_until: untilMs })
    .where('enabled', '=', 1)
    .where('paused_until', '<=', nowMs)
    .where((eb) => eb.or([eb('lease_until', '<=', nowMs), eb('lease_holder', '=', holder)]))
    .returningAll()
    .executeTakeFirst();
  return row && exportOf(secrets, row);
}

/** Returns whether the lease was still there; without it, another control plane may have sent the same. */
export async function noteExported(
  trx: Queries,
  { holder, nowMs, untilMs }: ExportLease,
  events: number,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('event_export')
    .set((eb) => ({
      lease_until: untilMs,
      delivered: eb('delivered', '+', events),
      delivered_at: nowMs,
      failures: 0,
      last_problem: null,
    }))
    .where('lease_holder', '=', holder)
    .where('lease_until', '>', nowMs)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function noteExportFailure(
  db: Queries,
  holder: string,
  { failures, problem, pausedUntilMs }: { failures: number; problem: string; pausedUntilMs: number },
): Promise<void> {
  await db
    .updateTable('event_export')
    .set({ failures, last_problem: problem, paused_until: pausedUntilMs })
    .where('lease_holder', '=', holder)
    .execute();
}

/** Another control plane may send at once. */
export async function releaseEventExport(db: Queries, holder: string): Promise<void> {
  await db.updateTable('event_export').set({ lease_until: 0 }).where('lease_holder', '=', holder).execute();
}

function exportOf(secrets: Sealing, row: Row): StoredEventExport {
  const sealed = readAlone('the event export of the store', () => ({
    url: secrets.unseal(row.url_sealed),
    secret: row.secret_sealed === null ? null : secrets.unseal(row.secret_sealed),
  }));
  return {
    ...(sealed ?? { url: UNREADABLE_URL, secret: null }),
    header: row.header,
    isCompressed: row.compressed === 1,
    isEnabled: row.enabled === 1,
    createdAtMs: row.created_at,
    delivered: row.delivered,
    deliveredAtMs: row.delivered_at,
    failures: row.failures,
    lastProblem: row.last_problem,
  };
}
