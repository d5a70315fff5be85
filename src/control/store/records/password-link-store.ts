/**
 * Links with which people who have forgotten the password set a new one. A person has one at most: its code, as an HMAC, is
 * in the row of the password. It ends with that password, and with the role of the person.
 */
import { randomToken, type Secrets } from '../../secrets/mod.ts';
import type { Queries } from '../engine/store.ts';

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
  expiresAtMs: number,
): Promise<string | undefined> {
  const code = randomToken();
  const { numUpdatedRows } = await trx
    .updateTable('person_password')
    .set({ link_hmac: secrets.hmac(code), link_expires_at: expiresAtMs })
    .where('person_id', '=', personId)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n ? code : undefined;
}

/** Returns whose link has the code, if it was not used and has not expired. */
export async function findPasswordLink(
  db: Queries,
  secrets: Hashing,
  code: string,
  nowMs: number,
): Promise<LinkedPerson | undefined> {
  const row = await db
    .selectFrom('person_password')
    .innerJoin('person', 'person.id', 'person_password.person_id')
    .select(['person.id', 'person.organization_id', 'person.name', 'person_password.email'])
    .where('link_hmac', '=', secrets.hmac(code))
    .where('link_expires_at', '>', nowMs)
    .executeTakeFirst();
  return row && { id: row.id, organizationId: row.organization_id, name: row.name, email: row.email };
}

export async function endPasswordLink(trx: Queries, personId: string): Promise<void> {
  await trx
    .updateTable('person_password')
    .set({ link_hmac: null, link_expires_at: null })
    .where('person_id', '=', personId)
    .execute();
}
