/**
 * Stored policies of shares: the part that the API shows, and separately the hashes of passwords. A policy of an
 * earlier version lacks newer fields, which get their defaults, so that no row must be rewritten.
 */
import { sql } from 'kysely';
import { isJsonObject } from '#base';
import { DEFAULT_POLICY, type SharePolicy } from '#contract/schemas';
import type { StoredPolicy } from '../policy/stored-policy.ts';
import type { Queries, Touch, SharePolicyTable } from '../../store/mod.ts';

/**
 * Replaces a row that cannot be read, so that the share is closed until its policy is set again, and no other
 * share is affected.
 */
export const CLOSED_POLICY: SharePolicy = { ...DEFAULT_POLICY, expiresAt: new Date(0).toISOString() };

function policyOf(text: string): SharePolicy {
  const stored = objectOf(text);
  return stored === undefined ? CLOSED_POLICY : { ...DEFAULT_POLICY, ...(stored as Partial<SharePolicy>) };
}

function objectOf(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function storedPolicyOf(row: Pick<SharePolicyTable, 'data' | 'password_hashes'>): StoredPolicy {
  const hashes = (objectOf(row.password_hashes) ?? {}) as Record<string, string>;
  return { policy: policyOf(row.data), passwordHashes: new Map(Object.entries(hashes)) };
}

/**
 * The columns of the rules that apply at a share, in a query with the tables `share`, `share_policy` and `access_policy`: those of
 * its shared policy, otherwise its own. A shared policy that is missing closes the share.
 */
export const APPLYING = [
  sql<string | null>`case when share.policy_id is null then share_policy.data
    else coalesce(access_policy.data, '') end`.as('data'),
  sql<string | null>`case when share.policy_id is null then share_policy.password_hashes
    else coalesce(access_policy.password_hashes, '') end`.as('password_hashes'),
] as const;

type ApplyingRow = { readonly [K in 'data' | 'password_hashes']: string | null };

/** Undefined: no rules apply. */
export function applyingPolicyOf({ data, password_hashes }: ApplyingRow): StoredPolicy | undefined {
  return data === null || password_hashes === null ? undefined : storedPolicyOf({ data, password_hashes });
}

/** The rules that apply at a share: those of its shared policy, otherwise its own. Undefined: there are none. */
export async function findSharePolicy(db: Queries, shareId: string): Promise<StoredPolicy | undefined> {
  const row = await db
    .selectFrom('share')
    .leftJoin('share_policy', 'share_policy.share_id', 'share.id')
    .leftJoin('access_policy', 'access_policy.id', 'share.policy_id')
    .select(APPLYING)
    .where('share.id', '=', shareId)
    .executeTakeFirst();
  return row && applyingPolicyOf(row);
}

/** Replaces or removes the own policy of a share. Gateways are notified of a changed share. */
export async function putSharePolicy(
  trx: Queries,
  touch: Touch,
  shareId: string,
  stored: StoredPolicy | undefined,
  nowMs: number,
): Promise<void> {
  touch('share', shareId);
  if (stored === undefined) {
    await trx.deleteFrom('share_policy').where('share_id', '=', shareId).execute();
    return;
  }
  const { policy, passwordHashes } = stored;
  const columns = {
    data: JSON.stringify(policy),
    password_hashes: JSON.stringify(Object.fromEntries(passwordHashes)),
    updated_at: nowMs,
  };
  await trx
    .insertInto('share_policy')
    .values({ share_id: shareId, ...columns })
    .onConflict((conflict) => conflict.column('share_id').doUpdateSet(columns))
    .execute();
}
