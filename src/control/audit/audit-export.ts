/**
 * What a collector outside has of the audit trail: the last sequence of each chain that it accepted. Sequences have no gaps, and a
 * chain's head is written with its events, so the next events are found by the key alone, however long the chain is (ADR 0115).
 */
import { sql } from 'kysely';
import type { Queries } from '../store/mod.ts';
import type { AuditRow } from './audit-store.ts';

/** `now`: events that exist already are left out. */
export type AuditExportStart = 'now' | 'beginning';

export interface AuditExportBounds {
  readonly mostChains: number;
  readonly mostOfChain: number;
}

/** Bounds the parameters of one statement. */
const ROWS_AT_ONCE = 200;
/** Chains whose oldest event is looked up. */
const DATED_CHAINS = 50;
const AFTER = sql<number>`coalesce(audit_export.sequence, 0)`;

export async function startAuditExport(trx: Queries, from: AuditExportStart, nowMs: number): Promise<void> {
  await endAuditExport(trx);
  if (from === 'beginning') return;
  await trx
    .insertInto('audit_export')
    .columns(['organization_id', 'sequence', 'exported_at'])
    .expression((eb) =>
      eb
        .selectFrom('audit_head')
        .select(['organization_id', 'sequence', sql<number>`cast(${nowMs} as bigint)`.as('exported_at')]),
    )
    .execute();
}

export async function endAuditExport(trx: Queries): Promise<void> {
  await trx.deleteFrom('audit_export').execute();
}

/** Returns the next events of chains that have some, each chain's in its order; the chains that waited longest first. */
export async function auditToExport(
  db: Queries,
  { mostChains, mostOfChain }: AuditExportBounds,
): Promise<readonly AuditRow[]> {
  const rows: AuditRow[] = [];
  for (const { organizationId, after, end } of await waitingChains(db, mostChains))
    rows.push(
      ...(await db
        .selectFrom('audit_event')
        .selectAll()
        .where('organization_id', '=', organizationId)
        .where('sequence', '>', after)
        .where('sequence', '<=', end)
        .orderBy('sequence')
        .limit(mostOfChain)
        .execute()),
    );
  return rows;
}

/** The rows are those of `auditToExport`. */
export async function noteAuditExported(
  trx: Queries,
  rows: readonly Pick<AuditRow, 'organization_id' | 'sequence'>[],
  nowMs: number,
): Promise<void> {
  const last = new Map(rows.map(({ organization_id: id, sequence }) => [id, sequence]));
  const values = [...last].map(([id, sequence]) => ({
    organization_id: id,
    sequence,
    exported_at: nowMs,
  }));
  for (let at = 0; at < values.length; at += ROWS_AT_ONCE)
    await trx
      .insertInto('audit_export')
      .values(values.slice(at, at + ROWS_AT_ONCE))
      .onConflict((conflict) =>
        conflict.column('organization_id').doUpdateSet((eb) => ({
          sequence: eb.ref('excluded.sequence'),
          exported_at: eb.ref('excluded.exported_at'),
        })),
      )
      .execute();
}

export interface AuditExportLag {
  readonly waiting: number;
  /** When the oldest of them happened, by the chains that waited longest; undefined if none waits. */
  readonly oldestAtMs: number | undefined;
}

export async function auditExportLag(db: Queries): Promise<AuditExportLag> {
  const { waiting } = await db
    .selectFrom('audit_head')
    .leftJoin('audit_export', 'audit_export.organization_id', 'audit_head.organization_id')
    .select(sql<number | string | null>`sum(audit_head.sequence - ${AFTER})`.as('waiting'))
    .executeTakeFirstOrThrow();
  let oldestAtMs: number | undefined;
  for (const { organizationId, after } of await waitingChains(db, DATED_CHAINS)) {
    const next = await db
      .selectFrom('audit_event')
      .select('at')
      .where('organization_id', '=', organizationId)
      .where('sequence', '=', after + 1)
      .executeTakeFirst();
    if (next !== undefined) oldestAtMs = Math.min(oldestAtMs ?? Infinity, next.at);
  }
  return { waiting: Number(waiting ?? 0), oldestAtMs };
}

interface WaitingChain {
  readonly organizationId: string;
  readonly after: number;
  readonly end: number;
}

/** A chain whose next events are gone, which the verification reports, must not keep those of others waiting. */
async function waitingChains(db: Queries, most: number): Promise<readonly WaitingChain[]> {
  const found = await db
    .selectFrom('audit_head')
    .leftJoin('audit_export', 'audit_export.organization_id', 'audit_head.organization_id')
    .select(['audit_head.organization_id', 'audit_head.sequence as end', AFTER.as('after')])
    .where(sql<boolean>`audit_head.sequence > ${AFTER}`)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('audit_event')
          .select('audit_event.sequence')
          .whereRef('audit_event.organization_id', '=', 'audit_head.organization_id')
          .where(sql<boolean>`audit_event.sequence > ${AFTER}`),
      ),
    )
    .orderBy(sql`coalesce(audit_export.exported_at, 0)`)
    .orderBy('audit_head.organization_id')
    .limit(most)
    .execute();
  return found.map(({ organization_id: organizationId, after, end }) => ({
    organizationId,
    after: Number(after),
    end,
  }));
}
