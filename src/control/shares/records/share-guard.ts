/**
 * Data of a share that gateways need in addition to its record: its policy as rules, its upstream settings, and whether its
 * requests are recorded.
 */
import type { GuardedShare } from '#domain';
import type { AccessRules } from '#domain/access';
import type { GatewayInspection } from '#domain/gateway-shapes';
import { DEFAULT_UPSTREAM, storedUpstream, type ShareUpstream } from '#domain/upstream';
import { accessRulesOf } from '../policy/access-rules.ts';
import type { StoredPolicy } from '../policy/stored-policy.ts';
import { APPLYING, applyingPolicyOf, CLOSED_POLICY } from './share-policy-store.ts';
import { shareRecordOf } from './share-record.ts';
import { relatedShares, relationsOf, type RelatedShare } from './share-relations.ts';
import type { Queries } from '../../store/mod.ts';

const CLOSED: StoredPolicy = { policy: CLOSED_POLICY, passwordHashes: new Map() };

/** The shares with these ids; those that are gone are left out. At most 500 ids. */
export async function findGuardedShares(db: Queries, ids: readonly string[]): Promise<GuardedShare[]> {
  if (ids.length === 0) return [];
  return (await relatedShares(db, guardedRows(db).where('share.id', 'in', ids))).map(guardedShareOf);
}

/** The first `limit` shares after an id, in the order of ids. */
export async function guardedSharesAfter(db: Queries, id: string, limit: number): Promise<GuardedShare[]> {
  const rows = guardedRows(db).where('share.id', '>', id).orderBy('share.id').limit(limit);
  // Two statements, because one answers with a wide row for each relation: slow for many shares.
  return (await relationsOf(db, await rows.execute())).map(guardedShareOf);
}

function guardedRows(db: Queries) {
  return db
    .selectFrom('share')
    .leftJoin('share_policy', 'share_policy.share_id', 'share.id')
    .leftJoin('access_policy', 'access_policy.id', 'share.policy_id')
    .leftJoin('share_upstream', 'share_upstream.share_id', 'share.id')
    .leftJoin('share_inspection', 'share_inspection.share_id', 'share.id')
    .selectAll('share')
    .select(APPLYING)
    .select('share_upstream.data as upstream_data')
    .select(['share_inspection.max_body_bytes', 'share_inspection.until_at']);
}

type GuardedRow = Awaited<ReturnType<ReturnType<typeof guardedRows>['execute']>>[number];

function guardedShareOf(share: RelatedShare<GuardedRow>): GuardedShare {
  const { row } = share;
  const upstream = upstreamOf(row);
  // Without its settings a service may show what it must not, so that the share is closed.
  const rules = upstream === undefined ? accessRulesOf(CLOSED) : rulesOf(row);
  return {
    ...shareRecordOf(share),
    rules,
    upstream: upstream ?? DEFAULT_UPSTREAM,
    inspection: inspectionOf(row),
  };
}

/** Returns undefined if the settings cannot be read. */
function upstreamOf({ upstream_data }: GuardedRow): ShareUpstream | undefined {
  return upstream_data === null ? DEFAULT_UPSTREAM : storedUpstream(upstream_data);
}

function rulesOf(row: GuardedRow): AccessRules | null {
  const applying = applyingPolicyOf(row);
  return applying === undefined ? null : accessRulesOf(applying);
}

function inspectionOf({ max_body_bytes, until_at }: GuardedRow): GatewayInspection | null {
  return max_body_bytes === null || until_at === null
    ? null
    : { maxBodyBytes: max_body_bytes, untilMs: until_at };
}
