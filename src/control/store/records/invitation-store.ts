/** Invitations: a code, stored as an HMAC, makes one person with a role. */
import { randomUUID } from 'node:crypto';
import { isUuid, type Role } from '#domain';
import { randomToken, type Secrets } from '../../secrets/mod.ts';
import { countedPage } from '../engine/counted-page.ts';
import { narrowed, type ListFilter } from '../engine/list-filter.ts';
import type { Page, PageRequest } from '../engine/page.ts';
import type { Queries } from '../engine/store.ts';
import type { InvitationTable } from '../schema/people-schema.ts';

export interface InvitationRecord {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly email: string | null;
  readonly role: Role;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** An organization's invitations that are open at once. */
export const MAX_INVITATIONS = 1_000;

/** Only the result has the code. Removes what has expired. Returns undefined if the organization has too many. */
export async function createInvitation(
  trx: Queries,
  secrets: Pick<Secrets, 'hmac'>,
  wanted: Pick<InvitationRecord, 'organizationId' | 'name' | 'email' | 'role' | 'expiresAtMs'>,
  nowMs: number,
): Promise<{ readonly invitation: InvitationRecord; readonly code: string } | undefined> {
  await trx.deleteFrom('invitation').where('expires_at', '<=', nowMs).execute();
  const { open } = await trx
    .selectFrom('invitation')
    .select((eb) => eb.fn.countAll<number | string>().as('open'))
    .where('organization_id', '=', wanted.organizationId)
    .executeTakeFirstOrThrow();
  if (Number(open) >= MAX_INVITATIONS) return undefined;
  const code = randomToken();
  const row: InvitationTable = {
    id: randomUUID(),
    organization_id: wanted.organizationId,
    name: wanted.name,
    email: wanted.email,
    role: wanted.role,
    code_hmac: secrets.hmac(code),
    created_at: nowMs,
    expires_at: wanted.expiresAtMs,
  };
  await trx.insertInto('invitation').values(row).execute();
  return { invitation: recordOf(row), code };
}

export async function findInvitation(
  db: Queries,
  id: string,
  nowMs: number,
): Promise<InvitationRecord | undefined> {
  if (!isUuid(id)) return undefined;
  const row = await openInvitations(db, nowMs).where('id', '=', id.toLowerCase()).executeTakeFirst();
  return row && recordOf(row);
}

/** Returns the invitation of a code without using it up. */
export async function findInvitationByCode(
  db: Queries,
  secrets: Pick<Secrets, 'hmac'>,
  code: string,
  nowMs: number,
): Promise<InvitationRecord | undefined> {
  const row = await openInvitations(db, nowMs).where('code_hmac', '=', secrets.hmac(code)).executeTakeFirst();
  return row && recordOf(row);
}

/** Uses up the invitation of a code. Of several attempts one succeeds. */
export async function takeInvitation(
  trx: Queries,
  secrets: Pick<Secrets, 'hmac'>,
  code: string,
  nowMs: number,
): Promise<InvitationRecord | undefined> {
  const row = await trx
    .deleteFrom('invitation')
    .where('code_hmac', '=', secrets.hmac(code))
    .where('expires_at', '>', nowMs)
    .returningAll()
    .executeTakeFirst();
  return row && recordOf(row);
}

/**
 * Uses up the oldest invitation to an e-mail address, which an identity provider has verified. One for an operator needs
 * its link: administrators of an organization choose providers, and these may claim any address.
 */
export async function takeInvitationOf(
  trx: Queries,
  organizationId: string,
  email: string,
  nowMs: number,
): Promise<InvitationRecord | undefined> {
  const oldest = await openInvitations(trx, nowMs)
    .where('organization_id', '=', organizationId)
    .where('email', '=', email)
    .where('role', '!=', 'operator')
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst();
  return oldest !== undefined && (await deleteInvitation(trx, oldest.id)) ? recordOf(oldest) : undefined;
}

export async function listInvitations(
  db: Queries,
  organizationId: string,
  request: PageRequest,
  filter: ListFilter,
  nowMs: number,
): Promise<Page<InvitationRecord>> {
  const query = openInvitations(db, nowMs).where('organization_id', '=', organizationId);
  const { content, total } = await countedPage(narrowed(query, filter), request);
  return { content: content.map(recordOf), total };
}

/** Returns whether there was one. */
export async function deleteInvitation(trx: Queries, id: string): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('invitation')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

function openInvitations(db: Queries, nowMs: number) {
  return db.selectFrom('invitation').selectAll().where('expires_at', '>', nowMs);
}

function recordOf(row: InvitationTable): InvitationRecord {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    email: row.email,
    role: row.role,
    createdAtMs: row.created_at,
    expiresAtMs: row.expires_at,
  };
}
