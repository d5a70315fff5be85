/**
 * The one way in which shares come, change and go, for the Management API and for agents alike: uniqueness, default
 * frontend, grants and epochs are decided here. Every function runs inside the caller's transaction and throws a
 * `FrontdoorError` whose message may be shown (`conflict`, `notFound`, `invalid`), so that nothing of it stays.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import type { SelectQueryBuilder } from 'kysely';
import { FrontdoorError } from '#base';
import { invalidValue, isShareName, parseShareTarget, SHARE_TOKEN_BYTES, shareTokenOf } from '#domain';
import { claimNames, restShareNames } from './resting-name-store.ts';
import { lockedByName, lockedForUpdate } from '../engine/row-lock.ts';
import { findShare, type ShareRecord } from './share-record.ts';
import type { Database } from '../schema/schema.ts';
import { isUniqueViolation } from '../engine/store-errors.ts';
import type { Queries, Touch } from '../engine/store.ts';

export {
  findShare,
  findShareForUpdate,
  listSharesOf,
  type ShareFrontend,
  type ShareRecord,
} from './share-record.ts';

export interface NewShare {
  readonly frontdoorId: string;
  /** Must be an environment of the frontdoor. */
  readonly environmentId: string;
  /** Given: the token, and the share is kept until it is deleted. Undefined: a random token. */
  readonly name?: string | undefined;
  readonly shareMode: 'public' | 'private';
  readonly target: string;
  /** Undefined or empty: a public share takes the default frontend. */
  readonly frontendIds?: readonly string[] | undefined;
  readonly authProviderIds?: readonly string[] | undefined;
  /** Environments of the frontdoor that may dial it; for private shares. */
  readonly grants?: readonly string[] | undefined;
  /** True when the agent itself asks for the target. */
  readonly targetByAgent: boolean;
  readonly nowMs: number;
}

/** What may change; undefined stays. */
export interface ShareChange {
  readonly shareMode?: 'public' | 'private' | undefined;
  readonly target?: string | undefined;
  readonly targetByAgent?: boolean | undefined;
  readonly reserved?: boolean | undefined;
  readonly frontendIds?: readonly string[] | undefined;
  readonly authProviderIds?: readonly string[] | undefined;
  readonly grants?: readonly string[] | undefined;
}

/** Makes a share. A name that is taken in the frontdoor, or on a frontend, is a `conflict`. */
export async function createShare(trx: Queries, touch: Touch, wanted: NewShare): Promise<ShareRecord> {
  if (wanted.name !== undefined && !isShareName(wanted.name)) throw invalidValue('name', 'string');
  const target = checkedTarget(wanted.target);
  await checkEnvironments(trx, wanted.frontdoorId, [wanted.environmentId]);
  const id = randomUUID();
  const token = wanted.name ?? shareTokenOf(randomBytes(SHARE_TOKEN_BYTES));
  await trx
    .insertInto('share')
    .values({
      id,
      frontdoor_id: wanted.frontdoorId,
      environment_id: wanted.environmentId,
      token,
      name: wanted.name ?? null,
      share_mode: wanted.shareMode,
      backend_mode: 'proxy',
      target,
      reserved: wanted.name === undefined ? 0 : 1,
      target_by_agent: wanted.targetByAgent ? 1 : 0,
      epoch: 1,
      created_at: wanted.nowMs,
      updated_at: wanted.nowMs,
    })
    .execute()
    .catch((error: unknown) => {
      throw isUniqueViolation(error) ? nameTaken(token) : error;
    });
  const { frontdoorId, shareMode, nowMs } = wanted;
  const share = { id, token, frontdoorId, shareMode };
  await putReach(trx, share, await checkedReach(trx, share, wanted), nowMs);
  await putAuthProviders(trx, { id, frontdoorId: wanted.frontdoorId }, wanted.authProviderIds ?? []);
  touch('share', id);
  return (await findShare(trx, wanted.frontdoorId, token))!;
}

/** Changes a share; its epoch goes up. Undefined: there is none with this token. */
export async function changeShare(
  trx: Queries,
  touch: Touch,
  key: { readonly frontdoorId: string; readonly token: string },
  change: ShareChange,
  nowMs: number,
): Promise<ShareRecord | undefined> {
  await lockedForUpdate(
    trx,
    trx
      .selectFrom('share')
      .select('id')
      .where('frontdoor_id', '=', key.frontdoorId)
      .where('token', '=', key.token),
  ).execute();
  const before = await findShare(trx, key.frontdoorId, key.token);
  if (before === undefined) return undefined;
  const shareMode = change.shareMode ?? before.shareMode;
  const target = change.target === undefined ? before.target : checkedTarget(change.target);
  const targetByAgent = change.targetByAgent ?? (before.targetByAgent && target === before.target);
  const reserved = change.reserved ?? before.reserved;
  await trx
    .updateTable('share')
    .set({
      share_mode: shareMode,
      target,
      target_by_agent: targetByAgent ? 1 : 0,
      reserved: reserved ? 1 : 0,
      epoch: before.epoch + 1,
      updated_at: nowMs,
    })
    .where('id', '=', before.id)
    .execute();
  const keepsMode = shareMode === before.shareMode;
  const frontendIds =
    change.frontendIds ?? (keepsMode ? before.frontends.map((frontend) => frontend.id) : []);
  const grants = change.grants ?? (keepsMode ? before.grants : []);
  const after = { ...before, shareMode };
  const reach = await checkedReach(trx, after, { frontendIds, grants });
  const left = before.frontends.filter(({ id }) => !reach.frontends.some((frontend) => frontend.id === id));
  await restShareNames(
    trx,
    { column: 'share.id', id: before.id },
    nowMs,
    left.map(({ id }) => id),
  );
  await trx.deleteFrom('share_frontend').where('share_id', '=', before.id).execute();
  await trx.deleteFrom('share_grant').where('share_id', '=', before.id).execute();
  await putReach(trx, after, reach, nowMs);
  if (change.authProviderIds !== undefined) await putAuthProviders(trx, before, change.authProviderIds);
  touch('share', before.id);
  return findShare(trx, key.frontdoorId, key.token);
}

/**
 * An agent asks again for a name that its own environment holds: the same record with a new epoch and what is asked
 * now. Undefined: its environment holds no share of that name.
 */
export async function takeBackShare(
  trx: Queries,
  touch: Touch,
  wanted: NewShare,
): Promise<ShareTakeover | undefined> {
  if (wanted.name === undefined) return undefined;
  // Of two equal asks at once the second takes back what the first has made.
  await lockedByName(trx, `share ${wanted.frontdoorId} ${wanted.name}`);
  const held = await findShare(trx, wanted.frontdoorId, wanted.name);
  if (held === undefined || held.environmentId !== wanted.environmentId) return undefined;
  const change: ShareChange = {
    shareMode: wanted.shareMode,
    target: wanted.target,
    targetByAgent: wanted.targetByAgent,
    frontendIds: wanted.frontendIds,
    authProviderIds: wanted.authProviderIds,
    grants: wanted.grants,
  };
  const share = await changeShare(trx, touch, held, change, wanted.nowMs);
  return share === undefined ? undefined : { before: held, share };
}

/** `before`: as it was, when it was taken back; undefined when it is new. */
export interface ShareTakeover {
  readonly before: ShareRecord | undefined;
  readonly share: ShareRecord;
}

/** What an agent's own `share` does: takes the name back, or makes the share. */
export async function createOrTakeBackShare(
  trx: Queries,
  touch: Touch,
  wanted: NewShare,
): Promise<ShareTakeover> {
  const taken = await takeBackShare(trx, touch, wanted);
  return taken ?? { before: undefined, share: await createShare(trx, touch, wanted) };
}

/** Removes a share of a frontdoor; its names rest. False: there is none with this token. */
export async function deleteShare(
  trx: Queries,
  touch: Touch,
  share: { readonly frontdoorId: string; readonly token: string },
  nowMs: number,
): Promise<boolean> {
  const found = trx.selectFrom('share').select('id').where('frontdoor_id', '=', share.frontdoorId);
  return removeOne(trx, touch, found.where('token', '=', share.token), nowMs);
}

/** An agent gives up a share of its own environment, named or not; its names rest. False: it holds none with this token. */
export async function releaseShare(
  trx: Queries,
  touch: Touch,
  share: { readonly environmentId: string; readonly token: string },
  nowMs: number,
): Promise<boolean> {
  const found = trx.selectFrom('share').select('id').where('environment_id', '=', share.environmentId);
  return removeOne(trx, touch, found.where('token', '=', share.token), nowMs);
}

async function removeOne(
  trx: Queries,
  touch: Touch,
  found: SelectQueryBuilder<Database, 'share', { id: string }>,
  nowMs: number,
): Promise<boolean> {
  const share = await lockedForUpdate(trx, found).executeTakeFirst();
  if (share === undefined) return false;
  await restShareNames(trx, { column: 'share.id', id: share.id }, nowMs);
  await trx.deleteFrom('share').where('id', '=', share.id).execute();
  touch('share', share.id);
  return true;
}

interface WantedReach {
  readonly frontendIds?: readonly string[] | undefined;
  readonly grants?: readonly string[] | undefined;
}

type ShareKey = Pick<ShareRecord, 'id' | 'token' | 'frontdoorId' | 'shareMode'>;

interface Reach {
  readonly frontends: readonly Frontend[];
  readonly grants: readonly string[];
}

interface Frontend {
  readonly id: string;
  readonly zone: string;
}

/** Who may come to a share: gateways of its frontends when it is public, granted environments when it is private. */
async function checkedReach(trx: Queries, share: ShareKey, wanted: WantedReach): Promise<Reach> {
  const frontendIds = [...new Set(wanted.frontendIds)];
  const grants = [...new Set(wanted.grants)];
  if (share.shareMode === 'private') {
    if (frontendIds.length > 0)
      throw invalidValue('frontendIds', 'an empty array: a private share has no frontend');
    await checkEnvironments(trx, share.frontdoorId, grants);
    return { frontends: [], grants };
  }
  if (grants.length > 0) throw invalidValue('grants', 'an empty array: only a private share has grants');
  const frontends =
    frontendIds.length > 0 ? await checkedFrontends(trx, frontendIds) : await defaultFrontend(trx);
  return { frontends, grants };
}

/** Stores it for a share that has no reach yet. A name that another share has, or that rests, is a `conflict`. */
async function putReach(
  trx: Queries,
  share: ShareKey,
  { frontends, grants }: Reach,
  nowMs: number,
): Promise<void> {
  if (grants.length > 0) {
    const rows = grants.map((grant) => ({ share_id: share.id, environment_id: grant }));
    await trx.insertInto('share_grant').values(rows).execute();
  }
  for (const { id } of frontends) {
    await trx
      .insertInto('share_frontend')
      .values({ share_id: share.id, frontend_id: id, token: share.token })
      .execute()
      .catch((error: unknown) => {
        throw isUniqueViolation(error) ? nameTaken(share.token) : error;
      });
  }
  const names = frontends.map(({ zone }) => `${share.token}.${zone.toLowerCase()}`);
  if (!(await claimNames(trx, share.frontdoorId, names, nowMs))) throw nameTaken(share.token);
}

/** Stores who lets clients in: providers of the share's frontdoor in this order, in place of those before. */
async function putAuthProviders(
  trx: Queries,
  share: Pick<ShareRecord, 'id' | 'frontdoorId'>,
  authProviderIds: readonly string[],
): Promise<void> {
  await trx.deleteFrom('share_auth_provider').where('share_id', '=', share.id).execute();
  const ids = [...new Set(authProviderIds.map((id) => id.toLowerCase()))];
  if (ids.length === 0) return;
  const rows = await trx
    .selectFrom('auth_provider')
    .select('id')
    .where('id', 'in', ids)
    .where('frontdoor_id', '=', share.frontdoorId)
    .execute();
  const found = new Set(rows.map((row) => row.id));
  for (const id of authProviderIds) if (!found.has(id.toLowerCase())) throw missing('Auth provider', id);
  const links = ids.map((id, position) => ({ share_id: share.id, auth_provider_id: id, position }));
  await trx.insertInto('share_auth_provider').values(links).execute();
}

async function checkEnvironments(trx: Queries, frontdoorId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const rows = await trx
    .selectFrom('identity')
    .select('id')
    .where('id', 'in', ids)
    .where('kind', '=', 'environment')
    .where('frontdoor_id', '=', frontdoorId)
    .execute();
  const found = new Set(rows.map((row) => row.id));
  for (const id of ids) if (!found.has(id)) throw missing('Environment', id);
}

async function checkedFrontends(trx: Queries, ids: readonly string[]): Promise<readonly Frontend[]> {
  const rows = await trx.selectFrom('frontend').select(['id', 'zone']).where('id', 'in', ids).execute();
  const found = new Set(rows.map((row) => row.id));
  for (const id of ids) if (!found.has(id)) throw missing('Frontend', id);
  return rows;
}

async function defaultFrontend(trx: Queries): Promise<readonly Frontend[]> {
  const row = await trx
    .selectFrom('frontend')
    .select(['id', 'zone'])
    .where('is_default', '=', 1)
    .orderBy('id')
    .executeTakeFirst();
  if (row === undefined) throw new FrontdoorError('conflict', 'no_frontend', 'There is no default frontend');
  return [row];
}

function checkedTarget(text: string): string {
  const target = parseShareTarget(text);
  if (target === undefined) throw invalidValue('target', 'uri');
  return target.url;
}

function missing(what: string, id: string): FrontdoorError {
  return new FrontdoorError('notFound', 'not_found', `${what} ${id} not found`);
}

function nameTaken(token: string): FrontdoorError {
  return new FrontdoorError('conflict', 'conflict', `Share ${token} already exists`);
}
