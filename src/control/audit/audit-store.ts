/**
 * The audit trail in the store, appended in the transaction of the change, with one chain per organization. Each
 * hash is keyed with the key file and covers the event and the seal of the previous one. The head has the last
 * event's seal, which is stored nowhere else, so that someone with access only to the database can neither
 * change, insert nor remove an event undetected, not even the last one. Events are never removed; the operator
 * decides outside about retention.
 */
import { randomUUID } from 'node:crypto';
import type { Secrets } from '../secrets/mod.ts';
import {
  isPostgres,
  lockedForUpdate,
  writeJointly,
  type AuditEventTable,
  type AuditHeadTable,
  type Queries,
  type Touch,
} from '../store/mod.ts';
import { masked, type AuditEntry } from './audit-entry.ts';

const EVENT_PURPOSE = 'audit event';
const HEAD_PURPOSE = 'audit head';
const HASH_BYTES = 32;
/** The head's seal of a chain without events. */
export const FIRST_SEAL = '0'.repeat(HASH_BYTES * 2);
/**
 * Limit for a view as JSON. In a larger one, large fields are replaced by their size, because the trail is not a
 * copy of the data.
 */
const MAX_VIEW_CHARS = 16_384;
const MAX_FIELD_CHARS = 1_024;

/** Bounds the parameters of one statement. */
const ROWS_AT_ONCE = 100;

export type AuditRow = Readonly<AuditEventTable>;

type Tagging = Pick<Secrets, 'tag'>;

/**
 * Appends an event inside the caller's transaction, as its last statement, because the end of the chain is locked
 * from then on.
 */
export async function appendAudit(
  trx: Queries,
  touch: Touch,
  secrets: Tagging,
  entry: AuditEntry,
  nowMs: number,
  early?: EarlyHead,
): Promise<void> {
  await appendAuditAll(trx, touch, secrets, [entry], nowMs, early);
}

/** Appends the events of one change, which are of one organization, in their order. */
export async function appendAuditAll(
  trx: Queries,
  touch: Touch,
  secrets: Tagging,
  entries: readonly [AuditEntry, ...AuditEntry[]],
  nowMs: number,
  early?: EarlyHead,
): Promise<void> {
  const [{ organizationId }] = entries;
  const asked = early?.organizationId === organizationId ? early.row : lockedHead(trx, organizationId);
  const head = (await asked) ?? (await firstHead(trx, organizationId));
  const rows: AuditRow[] = [];
  let { sequence, hash: seal } = head;
  for (const entry of entries) {
    sequence += 1;
    const row = { ...rowOf(entry, nowMs), sequence };
    const hash = auditHash(secrets, seal, row);
    seal = auditSeal(secrets, hash);
    rows.push({ ...row, hash });
  }
  for (let at = 0; rows.length - at > ROWS_AT_ONCE; at += ROWS_AT_ONCE)
    await trx
      .insertInto('audit_event')
      .values(rows.slice(at, at + ROWS_AT_ONCE))
      .execute();
  const rest = rows.length % ROWS_AT_ONCE || ROWS_AT_ONCE;
  const events = trx.insertInto('audit_event').values(rows.slice(-rest));
  const end = trx
    .updateTable('audit_head')
    .set({ sequence, hash: seal })
    .where('organization_id', '=', organizationId);
  await writeJointly(trx, [events], end);
  touch('audit', organizationId);
}

function rowOf(entry: AuditEntry, nowMs: number): Omit<AuditRow, 'sequence' | 'hash'> {
  const { organizationId, actor, target } = entry;
  return {
    id: randomUUID(),
    organization_id: organizationId,
    at: nowMs,
    actor_kind: actor.kind,
    actor_id: actor.id,
    action: entry.action,
    target_kind: target?.kind ?? null,
    target_id: target?.id ?? null,
    before: viewOf(entry.before, target?.kind),
    after: viewOf(entry.after, target?.kind),
    address: entry.address,
    result: entry.result,
    reason: entry.reason ?? null,
    occurrences: entry.occurrences ?? 1,
  };
}

/** The end of a chain, requested before it is needed. */
export interface EarlyHead {
  readonly organizationId: string;
  readonly row: Promise<AuditHeadTable | undefined>;
}

/**
 * Requests the end of a chain at the beginning of a transaction, to hide the latency of the query. Returns
 * undefined on PostgreSQL, where it would lock the chain for the whole transaction.
 */
export function earlyHead(trx: Queries, organizationId: string): EarlyHead | undefined {
  if (isPostgres(trx)) return undefined;
  const row = lockedHead(trx, organizationId);
  // If it fails, the transaction has failed, and its next awaited statement reports that.
  row.catch(() => {});
  return { organizationId, row };
}

function lockedHead(trx: Queries, organizationId: string): Promise<AuditHeadTable | undefined> {
  const query = trx.selectFrom('audit_head').selectAll().where('organization_id', '=', organizationId);
  return lockedForUpdate(trx, query).executeTakeFirst();
}

/** The first two events of a chain may race on PostgreSQL, so the row is inserted before it is locked. */
async function firstHead(trx: Queries, organizationId: string): Promise<AuditHeadTable> {
  await trx
    .insertInto('audit_head')
    .values({ organization_id: organizationId, sequence: 0, hash: FIRST_SEAL })
    .onConflict((conflict) => conflict.column('organization_id').doNothing())
    .execute();
  return (await lockedHead(trx, organizationId))!;
}

/** Returns the hash of an event that follows the one with `previousSeal`. */
export function auditHash(secrets: Tagging, previousSeal: string, row: Omit<AuditRow, 'hash'>): string {
  const fields = [
    previousSeal,
    row.organization_id,
    row.sequence,
    row.id,
    row.at,
    row.actor_kind,
    row.actor_id,
    row.action,
    row.target_kind,
    row.target_id,
    row.before,
    row.after,
    row.address,
    row.result,
    row.reason,
    row.occurrences,
  ];
  return tagOf(secrets, EVENT_PURPOSE, JSON.stringify(fields));
}

/** Returns the head's seal of the last event, which cannot be computed from the database alone. */
export function auditSeal(secrets: Tagging, hash: string): string {
  return tagOf(secrets, HEAD_PURPOSE, hash);
}

function tagOf(secrets: Tagging, purpose: string, text: string): string {
  return secrets.tag(purpose, Buffer.from(text), HASH_BYTES).toString('hex');
}

function viewOf(value: unknown, targetKind: string | undefined): string | null {
  if (value === undefined || value === null) return null;
  const view = JSON.stringify(masked(value, targetKind));
  return view.length <= MAX_VIEW_CHARS ? view : JSON.stringify(shortened(JSON.parse(view)));
}

function shortened(view: Record<string, unknown>): Record<string, unknown> {
  const fields = Object.entries(view).map(([name, value]) => {
    const { length } = JSON.stringify(value);
    return [name, length <= MAX_FIELD_CHARS ? value : `(${length} characters of JSON)`] as const;
  });
  return Object.fromEntries(fields);
}
