/**
 * Shared policies of a frontdoor. A share that uses one has no rules of its own, and follows each change of it: gateways are
 * notified of all its shares. ADR 0113.
 */
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { FrontdoorError } from '#base';
import { isUuid, type Share } from '#domain';
import type { StoredPolicy } from '../policy/stored-policy.ts';
import {
  countedPage,
  isUniqueViolation,
  lockedForUpdate,
  narrowed,
  type Database,
  type ListFilter,
  type Page,
  type PageRequest,
  type Queries,
  type Touch,
} from '../../store/mod.ts';
import type { GrantedFrontdoor } from './frontdoor-store.ts';
import { putSharePolicy, storedPolicyOf } from './share-policy-store.ts';
import { missing } from './share-reach.ts';
import { shareRecordOf } from './share-record.ts';
import { relationsOf } from './share-relations.ts';

/** Shares that are read together. */
const SHARES_PER_TURN = 200;

export interface AccessPolicyRecord {
  readonly id: string;
  readonly name: string;
  readonly stored: StoredPolicy;
  readonly shareCount: number;
  readonly createdAtMs: number;
}

export interface AccessPolicyDefinition {
  readonly name: string;
  readonly stored: StoredPolicy;
  readonly nowMs: number;
}

export async function listAccessPolicies(
  db: Queries,
  frontdoor: GrantedFrontdoor,
  request: PageRequest,
  filter: ListFilter,
): Promise<Page<AccessPolicyRecord>> {
  const rows = db.selectFrom('access_policy').selectAll().where('frontdoor_id', '=', frontdoor.id);
  const { content, total } = await countedPage(narrowed(rows, filter), request);
  const counts = await shareCounts(
    db,
    content.map(({ id }) => id),
  );
  return { content: content.map((row) => recordOf(row, counts.get(row.id) ?? 0)), total };
}

export async function findAccessPolicy(
  db: Queries,
  frontdoor: Pick<GrantedFrontdoor, 'id'>,
  id: string,
): Promise<AccessPolicyRecord | undefined> {
  const row = await policyRow(db, frontdoor.id, id).executeTakeFirst();
  return row && recordOf(row, (await shareCounts(db, [row.id])).get(row.id) ?? 0);
}

/** Locks the policy until the transaction ends, so that no other share begins to use it. */
export async function lockAccessPolicy(
  trx: Queries,
  frontdoor: GrantedFrontdoor,
  id: string,
): Promise<AccessPolicyRecord | undefined> {
  await lockedForUpdate(trx, policyRow(trx, frontdoor.id, id)).execute();
  return findAccessPolicy(trx, frontdoor, id);
}

/**
 * Returns the ID of a shared policy that is given by name or ID.
 * @throws FrontdoorError `notFound`
 */
export async function accessPolicyIdOf(db: Queries, frontdoorId: string, given: string): Promise<string> {
  const rows = db.selectFrom('access_policy').select('id').where('frontdoor_id', '=', frontdoorId);
  const found = await (
    isUuid(given) ? rows.where('id', '=', given.toLowerCase()) : rows.where('name', '=', given)
  ).executeTakeFirst();
  if (found === undefined) throw missing('Policy', given);
  return found.id;
}

/** Throws `conflict` for a name that another policy of the frontdoor has. */
export async function insertAccessPolicy(
  trx: Queries,
  frontdoor: GrantedFrontdoor,
  { name, stored, nowMs }: AccessPolicyDefinition,
): Promise<AccessPolicyRecord> {
  const id = randomUUID();
  await trx
    .insertInto('access_policy')
    .values({
      id,
      frontdoor_id: frontdoor.id,
      name,
      ...columnsOf(stored),
      created_at: nowMs,
      updated_at: nowMs,
    })
    .execute()
    .catch((error: unknown) => {
      throw isUniqueViolation(error) ? taken(name) : error;
    });
  return { id, name, stored, shareCount: 0, createdAtMs: nowMs };
}

/** Replaces a locked policy. Gateways are notified of all shares that use it. Throws `conflict` for a taken name. */
export async function updateAccessPolicy(
  trx: Queries,
  touch: Touch,
  before: AccessPolicyRecord,
  { name, stored, nowMs }: AccessPolicyDefinition,
): Promise<AccessPolicyRecord> {
  await trx
    .updateTable('access_policy')
    .set({ name, ...columnsOf(stored), updated_at: nowMs })
    .where('id', '=', before.id)
    .execute()
    .catch((error: unknown) => {
      throw isUniqueViolation(error) ? taken(name) : error;
    });
  const users = await trx.selectFrom('share').select('id').where('policy_id', '=', before.id).execute();
  for (const { id } of users) touch('share', id);
  return { ...before, name, stored };
}

/** Deletes a locked policy that no share uses. */
export async function deleteAccessPolicy(trx: Queries, { id }: AccessPolicyRecord): Promise<void> {
  await trx.deleteFrom('access_policy').where('id', '=', id).execute();
}

/**
 * Gives a locked share another policy, or none. A share that gives one up keeps its rules as rules of its own, so that
 * nothing opens by it.
 * @throws FrontdoorError `notFound`
 */
export async function assignAccessPolicy(
  trx: Queries,
  touch: Touch,
  share: Pick<Share, 'id' | 'frontdoorId' | 'accessPolicyId'>,
  wantedId: string | null,
  nowMs: number,
): Promise<string | null> {
  const policyId = wantedId === null ? null : wantedId.toLowerCase();
  if (policyId === share.accessPolicyId) return policyId;
  const id = policyId ?? share.accessPolicyId!;
  // Locked, so that it is neither changed nor deleted before the share has it.
  const row = await lockedForUpdate(trx, policyRow(trx, share.frontdoorId, id)).executeTakeFirst();
  if (row === undefined) throw missing('Policy', id);
  await trx.updateTable('share').set({ policy_id: policyId }).where('id', '=', share.id).execute();
  await putSharePolicy(trx, touch, share.id, policyId === null ? storedPolicyOf(row) : undefined, nowMs);
  return policyId;
}

/** The first shares that use a policy, by token. */
export async function listSharesOfPolicy(
  db: Queries,
  id: string,
  limit: number,
): Promise<{ readonly token: string; readonly environmentId: string }[]> {
  return db
    .selectFrom('share')
    .select(['token', 'environment_id as environmentId'])
    .where('policy_id', '=', id)
    .orderBy('token')
    .limit(limit)
    .execute();
}

/** All shares that use a policy, by token, some at a time. */
export async function* sharesOfPolicy(db: Queries, id: string): AsyncGenerator<readonly Share[]> {
  let after = '';
  for (;;) {
    const rows = await db
      .selectFrom('share')
      .selectAll()
      .where('policy_id', '=', id)
      .where('token', '>', after)
      .orderBy('token')
      .limit(SHARES_PER_TURN)
      .execute();
    if (rows.length > 0) yield (await relationsOf(db, rows)).map(shareRecordOf);
    if (rows.length < SHARES_PER_TURN) return;
    after = rows.at(-1)!.token;
    await nextTurn();
  }
}

/** Throws `conflict` if the share uses a shared policy, whose rules are not changed through the share. */
export async function checkOwnRules(trx: Queries, shareId: string, token: string): Promise<void> {
  const used = await trx
    .selectFrom('share')
    .innerJoin('access_policy', 'access_policy.id', 'share.policy_id')
    .select('access_policy.name')
    .where('share.id', '=', shareId)
    .executeTakeFirst();
  if (used === undefined) return;
  const message =
    `Share ${token} uses the policy ${used.name}, so that it has no rules of its own: change the policy, ` +
    `or set policyId of the share to null first, which keeps the rules as its own`;
  throw new FrontdoorError('conflict', 'policy-shared', message);
}

function policyRow(db: Queries, frontdoorId: string, id: string) {
  return db
    .selectFrom('access_policy')
    .selectAll()
    .where('frontdoor_id', '=', frontdoorId)
    .where('id', '=', id.toLowerCase());
}

async function shareCounts(db: Queries, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('share')
    .select(['policy_id', sql<number>`count(*)`.as('total')])
    .where('policy_id', 'in', ids)
    .groupBy('policy_id')
    .execute();
  return new Map(rows.map(({ policy_id, total }) => [policy_id!, Number(total)]));
}

function columnsOf({ policy, passwordHashes }: StoredPolicy) {
  return {
    data: JSON.stringify(policy),
    password_hashes: JSON.stringify(Object.fromEntries(passwordHashes)),
  };
}

function recordOf(row: Database['access_policy'], shareCount: number): AccessPolicyRecord {
  return {
    id: row.id,
    name: row.name,
    stored: storedPolicyOf(row),
    shareCount,
    createdAtMs: row.created_at,
  };
}

function taken(name: string): FrontdoorError {
  return new FrontdoorError('conflict', 'conflict', `Policy ${name} already exists`);
}
