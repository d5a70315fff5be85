/**
 * Audit events about machines (agents, gateways, routers), and about the program's own actions on them. They
 * belong to the organization of the machine's frontdoor; those of the installation's machines belong to none.
 */
import type { Clock } from '#base';
import type { Secrets } from '../secrets/mod.ts';
import { touchResource, type Queries, type Touch } from '../store/mod.ts';
import type { Actor, AuditEntry } from './audit-entry.ts';
import { appendAudit } from './audit-store.ts';

export interface AuditParts {
  readonly secrets: Pick<Secrets, 'tag'>;
  readonly clock: Clock;
}

export const THE_SYSTEM: Actor = { kind: 'system', id: null };

export type MachineEntry = Omit<AuditEntry, 'organizationId' | 'result'> & {
  /** A frontdoor; null for a machine of the installation. */
  readonly ownerId: string | null;
};

/** These change no resource. */
const LOG_INS: ReadonlySet<string> = new Set(['logIn', 'logInAtShare', 'logInAdministrator']);

/** Appends an event inside the caller's transaction, as its last statement. */
export async function appendMachineAudit(
  trx: Queries,
  touch: Touch,
  { secrets, clock }: AuditParts,
  { ownerId, ...entry }: MachineEntry,
): Promise<void> {
  const organizationId = await organizationOf(trx, ownerId);
  if (entry.target !== undefined && !LOG_INS.has(entry.action))
    touchResource(touch, { ownerId, ...entry.target });
  await appendAudit(trx, touch, secrets, { ...entry, organizationId, result: 'ok' }, clock.nowMs());
}

/** Returns '' for no frontdoor, and for a deleted one. */
export async function organizationOf(db: Queries, frontdoorId: string | null): Promise<string> {
  if (frontdoorId === null) return '';
  const row = await db
    .selectFrom('frontdoor')
    .select('organization_id')
    .where('id', '=', frontdoorId)
    .executeTakeFirst();
  return row?.organization_id ?? '';
}
