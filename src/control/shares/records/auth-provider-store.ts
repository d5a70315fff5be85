/**
 * Auth providers of a granted frontdoor: rows and their keys. Their data has been checked, and its secrets
 * settled, before it arrives here. A writer locks the provider first, so that changes are serialized.
 */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { sql, type SelectQueryBuilder } from 'kysely';
import { FrontdoorError } from '#base';
import { readJsonObject } from '#base/shapes';
import { invalidValue, isUuid } from '#domain';
import type { AuthProviderType, ProviderData } from '#domain/provider-types';
import { readAlone } from '#net';
import { missing } from './share-reach.ts';
import type { SettledData, StoredKey, StoredSecrets } from '../provider/provider-secrets.ts';
import type { GrantedFrontdoor } from './frontdoor-store.ts';
import {
  orderedPage,
  isFiltered,
  narrowed,
  type ListFilter,
  type ListOrder,
  type Page,
  type PageRequest,
  lockedForUpdate,
  type AuthProviderTable,
  type Database,
  type Queries,
  type Store,
  type Touch,
} from '../../store/mod.ts';

export interface AuthProviderEntry {
  readonly id: string;
  readonly name: string;
  readonly type: AuthProviderType;
  readonly enabled: boolean;
}

export interface AuthProviderRecord extends AuthProviderEntry, StoredSecrets {
  /** With every secret masked. */
  readonly data: ProviderData;
}

export interface AuthProviderDefinition {
  readonly name: string;
  readonly type: AuthProviderType;
  readonly enabled: boolean;
  readonly settled: SettledData;
  readonly nowMs: number;
}

/** Fields that lists can be sorted by. */
export const AUTH_PROVIDER_SORT_FIELDS = ['name', 'type', 'enabled', 'id'] as const;

const ORDER: ListOrder = {
  kind: 'auth-provider',
  tie: sql.ref('id'),
  fields: {
    default: sql.ref('created_at'),
    name: sql.ref('name'),
    type: sql.ref('type'),
    enabled: sql.ref('enabled'),
    id: sql.ref('id'),
    createdAt: sql.ref('created_at'),
  },
};

export async function listAuthProviders(
  store: Pick<Store, 'db' | 'lists'>,
  frontdoor: GrantedFrontdoor,
  request: PageRequest,
  filter: ListFilter,
): Promise<Page<AuthProviderEntry>> {
  const query = store.db
    .selectFrom('auth_provider')
    .select(['id', 'name', 'type', 'enabled'])
    .where('frontdoor_id', '=', frontdoor.id);
  const { content, total } = isFiltered(filter)
    ? await orderedPage(ofKind(narrowed(query, filter), filter), ORDER, request)
    : await store.lists.page(store.db, query, ORDER, frontdoor.id, request);
  return { content: content.map(entryOf), total };
}

function ofKind<O>(
  query: SelectQueryBuilder<Database, 'auth_provider', O>,
  { type, isEnabled }: ListFilter,
): SelectQueryBuilder<Database, 'auth_provider', O> {
  let some = query;
  if (type !== undefined) some = some.where(sql<boolean>`type = ${type}`);
  if (isEnabled !== undefined) some = some.where('enabled', '=', isEnabled ? 1 : 0);
  return some;
}

export async function findAuthProvider(
  db: Queries,
  frontdoor: GrantedFrontdoor,
  id: string,
): Promise<AuthProviderRecord | undefined> {
  const row = await providerRow(db, frontdoor, id).executeTakeFirst();
  return row === undefined ? undefined : recordOf(row, await keyRows(db, row).execute());
}

/**
 * Returns the IDs of auth providers that are given by name or ID, in their order.
 * @throws FrontdoorError `notFound`, or `invalid` for a name that several have.
 */
export async function authProviderIdsOf(
  db: Queries,
  frontdoorId: string,
  given: readonly string[],
): Promise<readonly string[]> {
  const names = given.filter((each) => !isUuid(each));
  if (names.length === 0) return given;
  const found = await db
    .selectFrom('auth_provider')
    .select(['id', 'name'])
    .where('frontdoor_id', '=', frontdoorId)
    .where('name', 'in', names)
    .execute();
  return given.map((each) => {
    if (isUuid(each)) return each;
    const [only, ...others] = found.filter(({ name }) => name === each);
    if (only === undefined) throw missing('Auth provider', each);
    if (others.length === 0) return only.id;
    throw invalidValue('authProviders', `ID: several auth providers are called ${each}`);
  });
}

/** The same, locked with the uses of its keys until the transaction ends. */
export async function lockAuthProvider(
  trx: Queries,
  frontdoor: GrantedFrontdoor,
  id: string,
): Promise<AuthProviderRecord | undefined> {
  const row = await lockedForUpdate(trx, providerRow(trx, frontdoor, id)).executeTakeFirst();
  return row === undefined
    ? undefined
    : recordOf(row, await lockedForUpdate(trx, keyRows(trx, row)).execute());
}

/** `id` is a reserved one. @throws FrontdoorError `conflict` if a provider has it */
export async function insertAuthProvider(
  trx: Queries,
  touch: Touch,
  frontdoor: GrantedFrontdoor,
  definition: AuthProviderDefinition & { readonly id?: string | undefined },
): Promise<AuthProviderRecord> {
  const { id = randomUUID() } = definition;
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('auth_provider')
    .values({
      id,
      frontdoor_id: frontdoor.id,
      ...columnsOf(definition),
      version: 1,
      created_at: definition.nowMs,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows === 0n) {
    const message = 'The reservation was used: an auth provider with its ID exists';
    throw new FrontdoorError('conflict', 'reservation-used', message);
  }
  await putKeys(trx, id, [], definition);
  touch('auth-provider', id);
  return recordAs(id, definition);
}

/** Replaces the definition of a locked provider, and notifies listeners about everything that uses it. */
export async function updateAuthProvider(
  trx: Queries,
  touch: Touch,
  before: AuthProviderRecord,
  definition: AuthProviderDefinition,
): Promise<AuthProviderRecord> {
  const { id } = before;
  await trx
    .updateTable('auth_provider')
    .set({
      ...columnsOf(definition),
      ...(provesTheSame(before, definition) ? {} : { version: sql<number>`version + 1` }),
    })
    .where('id', '=', id)
    .execute();
  await putKeys(trx, id, before.keys, definition);
  const users = await trx
    .selectFrom('share_auth_provider')
    .select('share_id')
    .where('auth_provider_id', '=', id)
    .execute();
  for (const user of users) touch('share', user.share_id);
  touch('auth-provider', id);
  return recordAs(id, definition);
}

/** Whether earlier log-ins stay valid. They do not depend on the provider's name or on other keys. */
function provesTheSame(
  before: AuthProviderRecord,
  { type, enabled, settled }: AuthProviderDefinition,
): boolean {
  if (type !== before.type || enabled !== before.enabled) return false;
  const { keys: _before, ...dataBefore } = before.data;
  const { keys: _after, ...data } = settled.data;
  return isDeepStrictEqual(dataBefore, data) && before.secretsSealed === settled.secretsSealed;
}

/** Deletes a locked provider that is not in use. */
export async function deleteAuthProvider(
  trx: Queries,
  touch: Touch,
  provider: AuthProviderRecord,
): Promise<void> {
  await trx.deleteFrom('auth_provider').where('id', '=', provider.id).execute();
  touch('auth-provider', provider.id);
}

/** Returns the first `limit` shares that use a provider, by token. */
export async function listSharesUsing(
  db: Queries,
  id: string,
  limit: number,
): Promise<{ readonly token: string; readonly environmentId: string }[]> {
  return db
    .selectFrom('share_auth_provider')
    .innerJoin('share', 'share.id', 'share_auth_provider.share_id')
    .select(['share.token', 'share.environment_id as environmentId'])
    .where('share_auth_provider.auth_provider_id', '=', id)
    .orderBy('share.token')
    .limit(limit)
    .execute();
}

export async function countSharesUsing(db: Queries, id: string): Promise<number> {
  const { total } = await db
    .selectFrom('share_auth_provider')
    .select(sql<number>`count(*)`.as('total'))
    .where('auth_provider_id', '=', id)
    .executeTakeFirstOrThrow();
  return Number(total);
}

function providerRow(db: Queries, frontdoor: GrantedFrontdoor, id: string) {
  return db
    .selectFrom('auth_provider')
    .selectAll()
    .where('id', '=', id.toLowerCase())
    .where('frontdoor_id', '=', frontdoor.id);
}

function keyRows(db: Queries, provider: Pick<AuthProviderTable, 'id'>) {
  return db
    .selectFrom('auth_provider_key')
    .select(['name', 'key_hmac', 'last_used_at'])
    .where('auth_provider_id', '=', provider.id)
    .orderBy('name');
}

function columnsOf({ name, type, enabled, settled, nowMs }: AuthProviderDefinition) {
  return {
    name,
    type,
    enabled: enabled ? 1 : 0,
    data: JSON.stringify(settled.data),
    secrets_sealed: settled.secretsSealed,
    updated_at: nowMs,
  };
}

/** Writes only differences, so that a kept key keeps its row with the time of its last use. */
async function putKeys(
  trx: Queries,
  id: string,
  before: readonly StoredKey[],
  { settled, nowMs }: AuthProviderDefinition,
): Promise<void> {
  const known = new Set(before);
  const wanted = new Set(settled.keys);
  const gone = before.filter((key) => !wanted.has(key)).map((key) => key.name);
  const added = settled.keys.filter((key) => !known.has(key));
  if (gone.length > 0) {
    await trx
      .deleteFrom('auth_provider_key')
      .where('auth_provider_id', '=', id)
      .where('name', 'in', gone)
      .execute();
  }
  if (added.length === 0) return;
  const rows = added.map(({ name, hmac }) => ({
    auth_provider_id: id,
    name,
    key_hmac: hmac,
    last_used_at: null,
    created_at: nowMs,
  }));
  await trx.insertInto('auth_provider_key').values(rows).execute();
}

function entryOf(row: Pick<AuthProviderTable, 'id' | 'name' | 'type' | 'enabled'>): AuthProviderEntry {
  return { id: row.id, name: row.name, type: row.type, enabled: row.enabled === 1 };
}

function recordOf(
  row: AuthProviderTable,
  keys: readonly { name: string; key_hmac: string; last_used_at: number | null }[],
): AuthProviderRecord {
  return {
    ...entryOf(row),
    // Damaged data is shown as none, so that it can be replaced or the provider deleted.
    data: readAlone(`the auth provider ${row.id} of the store`, () => readJsonObject(row.data)) ?? {},
    secretsSealed: row.secrets_sealed,
    keys: keys.map((key) => ({ name: key.name, hmac: key.key_hmac, lastUsedAtMs: key.last_used_at })),
  };
}

function recordAs(id: string, { name, type, enabled, settled }: AuthProviderDefinition): AuthProviderRecord {
  const { data, secretsSealed, keys } = settled;
  return { id, name, type, enabled, data, secretsSealed, keys };
}
