/** Counts of stored resources, of a granted frontdoor or of the installation. */
import { sql } from 'kysely';
import type { GrantedFrontdoor } from './frontdoor-store.ts';
import { countOrganizations } from '../../credentials/people/mod.ts';
import type { Queries } from '../../store/mod.ts';

const total = sql<number>`count(*)`.as('total');

export interface FrontdoorCounts {
  readonly authProviders: { readonly total: number; readonly enabled: number };
  readonly customFrontends: { readonly total: number; readonly active: number };
  readonly failures: number;
}

/** Failures are those since `sinceMs`. */
export async function countFrontdoor(
  db: Queries,
  { id }: GrantedFrontdoor,
  sinceMs: number,
): Promise<FrontdoorCounts> {
  const [providers, custom, failures] = await Promise.all([
    db
      .selectFrom('auth_provider')
      .where('frontdoor_id', '=', id)
      .select([total, sql<number>`coalesce(sum(enabled), 0)`.as('enabled')])
      .executeTakeFirstOrThrow(),
    db
      .selectFrom('hostname_claim')
      .where('frontdoor_id', '=', id)
      .where('share_id', 'is', null)
      .select([
        total,
        sql<number>`coalesce(sum(case when status = 'ACTIVE' then 1 else 0 end), 0)`.as('active'),
      ])
      .executeTakeFirstOrThrow(),
    db
      .selectFrom('request_failure')
      .where('frontdoor_id', '=', id)
      .where('at', '>=', sinceMs)
      .select(total)
      .executeTakeFirstOrThrow(),
  ]);
  return {
    authProviders: { total: Number(providers.total), enabled: Number(providers.enabled) },
    customFrontends: { total: Number(custom.total), active: Number(custom.active) },
    failures: Number(failures.total),
  };
}

export async function countInstallation(
  db: Queries,
): Promise<{ readonly organizations: number; readonly frontdoors: number }> {
  const [organizations, frontdoors] = await Promise.all([
    countOrganizations(db),
    db.selectFrom('frontdoor').select(total).executeTakeFirstOrThrow(),
  ]);
  return { organizations, frontdoors: Number(frontdoors.total) };
}
