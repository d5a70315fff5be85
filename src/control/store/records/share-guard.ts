/** What gateways must know of a share beyond its record: its policy as rules, and whether its requests are recorded. */
import type { AccessRules, GatewayInspection } from '#domain';
import { accessRulesOf } from '../../policy/mod.ts';
import { findSharePolicies } from './share-policy-store.ts';
import type { ShareRecord } from './share-record.ts';
import type { Queries } from '../engine/store.ts';

export interface GuardedShare extends ShareRecord {
  /** Null: it has no policy. */
  readonly rules: AccessRules | null;
  readonly inspection: GatewayInspection | null;
}

export async function guardedSharesOf(db: Queries, shares: readonly ShareRecord[]): Promise<GuardedShare[]> {
  if (shares.length === 0) return [];
  const ids = shares.map(({ id }) => id);
  const policies = await findSharePolicies(db, ids);
  const inspections = await db
    .selectFrom('share_inspection')
    .selectAll()
    .where('share_id', 'in', ids)
    .execute();
  const inspectionOf = new Map(
    inspections.map((row) => [
      row.share_id,
      { maxBodyBytes: row.max_body_bytes, untilMs: row.until_at } satisfies GatewayInspection,
    ]),
  );
  return shares.map((share) => {
    const stored = policies.get(share.id);
    return {
      ...share,
      rules: stored === undefined ? null : accessRulesOf(stored),
      inspection: inspectionOf.get(share.id) ?? null,
    };
  });
}
