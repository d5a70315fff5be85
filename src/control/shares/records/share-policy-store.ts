/**
 * Stored policies of shares: the part that the API shows, and separately the hashes of passwords. A policy of an
 * earlier version lacks newer fields, which get their defaults, so that no row must be rewritten.
 */
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

/** Undefined: the share has no policy. */
export async function findSharePolicy(db: Queries, shareId: string): Promise<StoredPolicy | undefined> {
  const rows = db.selectFrom('share_policy').select(['data', 'password_hashes']);
  const row = await rows.where('share_id', '=', shareId).executeTakeFirst();
  return row === undefined ? undefined : storedPolicyOf(row);
}

/** Replaces or removes a share's policy. Gateways are notified of a changed share. */
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
