/** Organizations and their settings. Callers check permissions before. */
import { randomUUID } from 'node:crypto';
import {
  countedPage,
  narrowed,
  type ListFilter,
  type Page,
  type PageRequest,
  lockedForUpdate,
  type Queries,
  type Touch,
} from '../../store/mod.ts';

export interface OrganizationRecord {
  readonly id: string;
  readonly name: string;
  /** Whether API accounts may exchange their token for a bearer token. */
  readonly tokenExchange: boolean;
  /** Whether people need a second factor when they log in with a password. */
  readonly secondFactor: boolean;
}

export async function createOrganization(
  trx: Queries,
  touch: Touch,
  wanted: { readonly name: string; readonly nowMs: number },
): Promise<OrganizationRecord> {
  const row = {
    id: randomUUID(),
    name: wanted.name,
    token_exchange: 0,
    second_factor: 0,
    created_at: wanted.nowMs,
  };
  await trx.insertInto('organization').values(row).execute();
  touch('organization', row.id);
  return recordOf(row);
}

export async function findOrganization(db: Queries, id: string): Promise<OrganizationRecord | undefined> {
  const row = await db
    .selectFrom('organization')
    .selectAll()
    .where('id', '=', id.toLowerCase())
    .executeTakeFirst();
  return row === undefined ? undefined : recordOf(row);
}

/** Returns the organization, locked until the transaction ends, so that nothing is added to it or deleted from it. */
export async function lockOrganization(trx: Queries, id: string): Promise<OrganizationRecord | undefined> {
  const query = trx.selectFrom('organization').selectAll().where('id', '=', id.toLowerCase());
  const row = await lockedForUpdate(trx, query).executeTakeFirst();
  return row === undefined ? undefined : recordOf(row);
}

export async function listOrganizations(
  db: Queries,
  request: PageRequest,
  filter: ListFilter,
): Promise<Page<OrganizationRecord>> {
  const query = narrowed(db.selectFrom('organization').selectAll(), filter);
  const { content, total } = await countedPage(query, request);
  return { content: content.map(recordOf), total };
}

export async function changeOrganization(
  trx: Queries,
  touch: Touch,
  before: OrganizationRecord,
  change: {
    readonly [Name in 'name' | 'tokenExchange' | 'secondFactor']?: OrganizationRecord[Name] | undefined;
  },
): Promise<OrganizationRecord> {
  const after: OrganizationRecord = {
    id: before.id,
    name: change.name ?? before.name,
    tokenExchange: change.tokenExchange ?? before.tokenExchange,
    secondFactor: change.secondFactor ?? before.secondFactor,
  };
  await trx
    .updateTable('organization')
    .set({
      name: after.name,
      token_exchange: after.tokenExchange ? 1 : 0,
      second_factor: after.secondFactor ? 1 : 0,
    })
    .where('id', '=', before.id)
    .execute();
  touch('organization', before.id);
  return after;
}

/** Deletes it with its accounts and clients. Its frontdoors and kept answers must have been deleted before. */
export async function deleteOrganization(trx: Queries, touch: Touch, id: string): Promise<void> {
  for (const table of ['api_account', 'oauth_client'] as const) {
    const callers = await trx.selectFrom(table).select('id').where('organization_id', '=', id).execute();
    for (const caller of callers) touch('caller', caller.id);
  }
  await trx.deleteFrom('organization').where('id', '=', id).execute();
  touch('organization', id);
}

/** Organizations whose name contains the text, at most so many. */
export async function searchOrganizations(
  db: Queries,
  text: string,
  limit: number,
): Promise<{ readonly id: string; readonly name: string }[]> {
  return narrowed(db.selectFrom('organization'), { name: text })
    .select(['id', 'name'])
    .orderBy('name')
    .limit(limit)
    .execute();
}

export async function countOrganizations(db: Queries): Promise<number> {
  const { total } = await db
    .selectFrom('organization')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return Number(total);
}

function recordOf(row: {
  id: string;
  name: string;
  token_exchange: number;
  second_factor: number;
}): OrganizationRecord {
  const { id, name } = row;
  return { id, name, tokenExchange: row.token_exchange === 1, secondFactor: row.second_factor === 1 };
}

/** Returns the id of the oldest organization, or undefined. */
export async function firstOrganization(db: Queries): Promise<string | undefined> {
  const row = await db
    .selectFrom('organization')
    .select('id')
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return row?.id;
}
