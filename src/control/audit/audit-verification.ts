/**
 * Verifies a chain from its first event to its head by computing every hash again. It detects changes, removals,
 * insertions and truncation in the database alone. It does not detect the restoration of an older copy of the
 * whole database; for that, another party must keep the last hash, as a reader of the event stream does.
 */
import type { Secrets } from '../secrets/mod.ts';
import type { Queries } from '../store/mod.ts';
import { auditHash, auditSeal, FIRST_SEAL } from './audit-store.ts';

export interface AuditVerification {
  readonly valid: boolean;
  /** Number of valid events from the first one on. */
  readonly events: number;
  /** Sequence of the first event that is missing, changed or inserted; null if the whole chain is valid. */
  readonly firstInvalid: number | null;
}

const CHUNK = 500;

/** Events that are appended in the meantime are not verified. */
export async function verifyAudit(
  db: Queries,
  secrets: Pick<Secrets, 'tag'>,
  organizationId: string,
): Promise<AuditVerification> {
  const head = await db
    .selectFrom('audit_head')
    .select(['sequence', 'hash'])
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
  const end = head?.sequence ?? 0;
  let events = 0;
  let seal = FIRST_SEAL;
  const invalid = (firstInvalid: number): AuditVerification => ({ valid: false, events, firstInvalid });
  while (events < end) {
    const rows = await db
      .selectFrom('audit_event')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('sequence', '>', events)
      .where('sequence', '<=', end)
      .orderBy('sequence')
      .limit(CHUNK)
      .execute();
    if (rows.length === 0) return invalid(events + 1);
    for (const { hash, ...row } of rows) {
      if (row.sequence !== events + 1 || auditHash(secrets, seal, row) !== hash) return invalid(events + 1);
      seal = auditSeal(secrets, hash);
      events += 1;
    }
  }
  // The tail was removed together with the head's number: the missing event is the one after the last.
  if (head !== undefined && head.hash !== seal) return invalid(end + 1);
  const outside = await firstOutside(db, organizationId);
  return outside === undefined ? { valid: true, events, firstInvalid: null } : invalid(outside);
}

/** Finds an event before the first, or beyond the current head. One statement, so that none is appended in between. */
async function firstOutside(db: Queries, organizationId: string): Promise<number | undefined> {
  const chain = db.selectFrom('audit_event').where('organization_id', '=', organizationId);
  const head = db.selectFrom('audit_head').where('organization_id', '=', organizationId).select('sequence');
  const row = await chain
    .select((eb) => [
      eb.fn.min<number | null>('sequence').as('first'),
      eb.fn.max<number | null>('sequence').as('last'),
      head.as('end'),
    ])
    .executeTakeFirstOrThrow();
  const { first, last } = row;
  if (first === null || last === null) return undefined;
  if (first < 1) return first;
  const end = row.end ?? 0;
  return last > end ? end + 1 : undefined;
}
