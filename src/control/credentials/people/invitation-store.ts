/**
 * Invitations: a code, stored as an HMAC, makes one person with a role. An invitation ends with its maker, with the
 * credential of the maker, and when the maker may no longer give the role.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { isUuid, type Role } from '#domain';
import { randomToken, type Secrets } from '../../secrets/mod.ts';
import {
  countedPage,
  narrowed,
  type ListFilter,
  type Page,
  type PageRequest,
  type Queries,
  type InvitationTable,
} from '../../store/mod.ts';
import {
  inForce,
  isGivenByRole,
  makerOf,
  mayStillGive,
  type MakerIdentity,
  type RuleParts,
} from '../accounts/credential-rule.ts';

export interface InvitationRecord {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly email: string | null;
  readonly role: Role;
  readonly maker: MakerIdentity;
  /** The name of the maker; null for one that is not stored. */
  readonly makerName: string | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** An organization's invitations that are open at once. */
export const MAX_INVITATIONS = 1_000;

/** Only the result has the code. Removes what has ended. Returns undefined if the organization has too many. */
export async function createInvitation(
  trx: Queries,
  secrets: Pick<Secrets, 'hmac'>,
  wanted: Pick<InvitationRecord, 'organizationId' | 'name' | 'email' | 'role' | 'maker' | 'expiresAtMs'>,
  nowMs: number,
): Promise<{ readonly invitation: InvitationRecord; readonly code: string } | undefined> {
  await trx
    .deleteFrom('invitation')
    .where((eb) => {
      const isOfOrganization = eb('organization_id', '=', wanted.organizationId);
      return eb.or([eb('expires_at', '<=', nowMs), eb.and([isOfOrganization, eb.not(isOpen(nowMs))])]);
    })
    .execute();
  const { open } = await trx
    .selectFrom('invitation')
    .select((eb) => eb.fn.countAll<number | string>().as('open'))
    .where('organization_id', '=', wanted.organizationId)
    .executeTakeFirstOrThrow();
  if (Number(open) >= MAX_INVITATIONS) return undefined;
  const code = randomToken();
  const id = randomUUID();
  const row: InvitationTable = {
    id,
    organization_id: wanted.organizationId,
    name: wanted.name,
    email: wanted.email,
    role: wanted.role,
    code_hmac: secrets.hmac(code),
    maker_kind: wanted.maker.kind,
    maker_id: wanted.maker.id,
    maker_credential: wanted.maker.credential,
    created_at: nowMs,
    expires_at: wanted.expiresAtMs,
  };
  await trx.insertInto('invitation').values(row).execute();
  return { invitation: (await findInvitation(trx, id, nowMs))!, code };
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
  parts: RuleParts,
): Promise<InvitationRecord | undefined> {
  return take(trx, await findInvitationByCode(trx, secrets, code, parts.nowMs), parts);
}

/**
 * Uses up the oldest invitation to an e-mail address, which an identity provider has verified. One for an operator needs
 * its link: administrators of an organization choose providers, and these may claim any address.
 */
export async function takeInvitationOf(
  trx: Queries,
  organizationId: string,
  email: string,
  parts: RuleParts,
): Promise<InvitationRecord | undefined> {
  const oldest = await openInvitations(trx, parts.nowMs)
    .where('organization_id', '=', organizationId)
    .where('email', '=', email)
    .where('role', '!=', 'operator')
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst();
  return take(trx, oldest && recordOf(oldest), parts);
}

/** Locks the maker before the invitation, as everything does that ends a maker. */
async function take(
  trx: Queries,
  invitation: InvitationRecord | undefined,
  parts: RuleParts,
): Promise<InvitationRecord | undefined> {
  if (invitation === undefined || !(await mayStillGive(trx, invitation.maker, invitation, parts)))
    return undefined;
  return (await deleteInvitation(trx, invitation.id)) ? invitation : undefined;
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

const [KIND, MAKER, CREDENTIAL, ROLE] = ['maker_kind', 'maker_id', 'maker_credential', 'role'].map((column) =>
  sql.ref<string | null>(`invitation.${column}`),
) as [Ref, Ref, Ref, Ref];
type Ref = ReturnType<typeof sql.ref<string | null>>;

/** Whether the maker of an invitation may still make it. */
function isOpen(nowMs: number) {
  return sql<boolean>`(${inForce(KIND, MAKER, CREDENTIAL, nowMs)} and ${isGivenByRole(KIND, MAKER, ROLE)})`;
}

function openInvitations(db: Queries, nowMs: number) {
  return db
    .selectFrom('invitation')
    .selectAll()
    .select(
      sql<string | null>`coalesce((select name from person where id = ${MAKER}),
        (select name from api_account where id = ${MAKER}),
        (select name from oauth_client where id = ${MAKER}))`.as('maker_name'),
    )
    .where('expires_at', '>', nowMs)
    .where(isOpen(nowMs));
}

function recordOf(row: InvitationTable & { readonly maker_name: string | null }): InvitationRecord {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    email: row.email,
    role: row.role,
    maker: makerOf(row.maker_kind, row.maker_id, row.maker_credential),
    makerName: row.maker_name,
    createdAtMs: row.created_at,
    expiresAtMs: row.expires_at,
  };
}
