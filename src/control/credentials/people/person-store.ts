/** People of an organization. What opens the console for them is in `console-session-store.ts`. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { isUuid, type Role } from '#domain';
import {
  containsIn,
  countedPage,
  narrowed,
  type ListFilter,
  type Page,
  type PageRequest,
  lockedForUpdate,
  type Queries,
  type PersonTable,
} from '../../store/mod.ts';
import { endPasswordLink } from './password-link-store.ts';

export interface PersonRecord {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly email: string | null;
  /** Null while the person waits for an administrator. */
  readonly role: Role | null;
  readonly createdAtMs: number;
  /** To the minute. */
  readonly lastSeenAtMs: number | null;
  /** Whether log-ins by password ask the person for a code. */
  readonly secondFactor: boolean;
}

export async function insertPerson(
  trx: Queries,
  wanted: Pick<PersonRecord, 'organizationId' | 'name' | 'email' | 'role'> & { readonly nowMs: number },
): Promise<PersonRecord> {
  const row: PersonTable = {
    id: randomUUID(),
    organization_id: wanted.organizationId,
    name: wanted.name,
    email: wanted.email,
    role: wanted.role,
    created_at: wanted.nowMs,
    last_seen_at: null,
  };
  await trx.insertInto('person').values(row).execute();
  return recordOf({ ...row, factors: 0 });
}

export async function findPerson(db: Queries, id: string): Promise<PersonRecord | undefined> {
  if (!isUuid(id)) return undefined;
  const row = await personQuery(db, id).executeTakeFirst();
  return row === undefined ? undefined : recordOf(row);
}

/** Returns the person, locked until the transaction ends. */
export async function lockPerson(trx: Queries, id: string): Promise<PersonRecord | undefined> {
  if (!isUuid(id)) return undefined;
  const row = await lockedForUpdate(trx, personQuery(trx, id)).executeTakeFirst();
  return row === undefined ? undefined : recordOf(row);
}

export async function listPeople(
  db: Queries,
  organizationId: string,
  request: PageRequest,
  filter: ListFilter,
): Promise<Page<PersonRecord>> {
  const query = people(db).where('organization_id', '=', organizationId);
  const { content, total } = await countedPage(narrowed(query, filter), request);
  return { content: content.map(recordOf), total };
}

/** People of the organization whose name or email address contains the text, or whose id it is, at most so many. */
export async function searchPeople(
  db: Queries,
  organizationId: string,
  text: string,
  limit: number,
): Promise<readonly Pick<PersonRecord, 'id' | 'name' | 'email'>[]> {
  const isNamed = containsIn([sql.ref('name'), sql.ref('email')], text);
  return db
    .selectFrom('person')
    .select(['id', 'name', 'email'])
    .where('organization_id', '=', organizationId)
    .where(sql<boolean>`(${isNamed} or id = ${text.toLowerCase()})`)
    .orderBy('name')
    .limit(limit)
    .execute();
}

/** A change of the role ends the person's link for a new password: its maker may not have the scopes of the new role. */
export async function changePerson(
  trx: Queries,
  before: PersonRecord,
  {
    name = before.name,
    role = before.role,
  }: { readonly name?: string | undefined; readonly role?: Role | null | undefined },
): Promise<PersonRecord> {
  await trx.updateTable('person').set({ name, role }).where('id', '=', before.id).execute();
  if (role !== before.role) await endPasswordLink(trx, before.id);
  return { ...before, name, role };
}

/** Also deletes the person's password and sessions. */
export async function deletePerson(trx: Queries, id: string): Promise<void> {
  await trx.deleteFrom('person').where('id', '=', id).execute();
}

function personQuery(db: Queries, id: string) {
  return people(db).where('id', '=', id.toLowerCase());
}

function people(db: Queries) {
  return db
    .selectFrom('person')
    .selectAll('person')
    .select((eb) =>
      eb
        .selectFrom('person_totp')
        .select((count) => count.fn.countAll<number>().as('factors'))
        .whereRef('person_totp.person_id', '=', 'person.id')
        .where('person_totp.secret_sealed', 'is not', null)
        .as('factors'),
    );
}

function recordOf(row: PersonTable & { readonly factors: number | null }): PersonRecord {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    email: row.email,
    role: row.role,
    createdAtMs: row.created_at,
    lastSeenAtMs: row.last_seen_at,
    secondFactor: Number(row.factors) > 0,
  };
}
