/**
 * Links with which people who have forgotten the password set a new one. A person has one at most: its code, as an HMAC, is
 * in the row of the password. It ends with that password, with the role of the person, and as an invitation does with its
 * maker, the credential of the maker, and when the maker may no longer give the person's role.
 */
import { sql } from 'kysely';
import type { Role } from '#domain';
import { randomToken, type Secrets } from '../../secrets/mod.ts';
import type { Queries } from '../../store/mod.ts';
import {
  inForce,
  isGivenByRole,
  makerOf,
  mayStillGive,
  type MakerIdentity,
  type RuleParts,
} from '../accounts/credential-rule.ts';

/** Whose password a link sets. */
export interface LinkedPerson {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly email: string;
}

type Hashing = Pick<Secrets, 'hmac'>;

/** Replaces an earlier link. Returns the code, which only the result has, or undefined for a person without a password. */
export async function putPasswordLink(
  trx: Queries,
  secrets: Hashing,
  personId: string,
  maker: MakerIdentity,
  expiresAtMs: number,
): Promise<string | undefined> {
  const code = randomToken();
  const { numUpdatedRows } = await trx
    .updateTable('person_password')
    .set({
      link_hmac: secrets.hmac(code),
      link_expires_at: expiresAtMs,
      link_maker_kind: maker.kind,
      link_maker_id: maker.id,
      link_maker_credential: maker.credential,
    })
    .where('person_id', '=', personId)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n ? code : undefined;
}

/** Returns whose link has the code, if it was not used and has not ended. */
export async function findPasswordLink(
  db: Queries,
  secrets: Hashing,
  code: string,
  nowMs: number,
): Promise<LinkedPerson | undefined> {
  const row = await openLink(db, secrets, code, nowMs).executeTakeFirst();
  return row && { id: row.id, organizationId: row.organization_id, name: row.name, email: row.email };
}

/** Whether the code is that of a link of the person, whose maker may still make it. The caller has locked the person. */
export async function isLinkOf(
  trx: Queries,
  secrets: Hashing,
  code: string,
  person: { readonly id: string; readonly organizationId: string; readonly role: Role | null },
  parts: RuleParts,
): Promise<boolean> {
  const row = await openLink(trx, secrets, code, parts.nowMs)
    .where('person.id', '=', person.id)
    .executeTakeFirst();
  if (row === undefined) return false;
  // A link has a maker.
  const maker = makerOf(row.link_maker_kind!, row.link_maker_id!, row.link_maker_credential!);
  return mayStillGive(trx, maker, person, parts);
}

function openLink(db: Queries, secrets: Hashing, code: string, nowMs: number) {
  const [kind, id, credential] = ['kind', 'id', 'credential'].map((name) =>
    sql.ref<string | null>(`person_password.link_maker_${name}`),
  );
  return db
    .selectFrom('person_password')
    .innerJoin('person', 'person.id', 'person_password.person_id')
    .select(['person.id', 'person.organization_id', 'person.name', 'person_password.email'])
    .select(['link_maker_kind', 'link_maker_id', 'link_maker_credential'])
    .where('link_hmac', '=', secrets.hmac(code))
    .where('link_expires_at', '>', nowMs)
    .where(inForce(kind!, id!, credential!, nowMs))
    .where(isGivenByRole(kind!, id!, sql`coalesce(person.role, 'reader')`));
}

export async function endPasswordLink(trx: Queries, personId: string): Promise<void> {
  await trx
    .updateTable('person_password')
    .set({ link_hmac: null, link_expires_at: null })
    .where('person_id', '=', personId)
    .execute();
}
