/** Counts of stored resources, of a granted frontdoor or of the installation. */
import { sql } from 'kysely';
import type { GrantedFrontdoor } from './frontdoor-store.ts';
import type { Queries } from '../../store/mod.ts';

type MachineKind = 'environment' | 'gateway' | 'router';

export interface MachineExpiry {
  readonly kind: MachineKind;
  readonly id: string;
  readonly name: string;
  readonly notAfterMs: number;
}

const total = sql<number>`count(*)`.as('total');

/** Returns machines whose latest certificate expires before then, the first one to expire first. */
export async function expiringCertificates(
  db: Queries,
  frontdoor: GrantedFrontdoor | undefined,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<MachineExpiry[]> {
  // Few certificates expire soon, so that these are selected first and not the latest one of each of many machines.
  let query = db
    .selectFrom('certificate')
    .innerJoin('identity', 'identity.id', 'certificate.identity_id')
    .where('identity.kind', '!=', 'edge')
    .where('certificate.not_after', '<', beforeMs)
    .where(({ eb, not, exists }) =>
      not(
        exists(
          eb
            .selectFrom('certificate as later')
            .select('later.fingerprint')
            .whereRef('later.identity_id', '=', 'certificate.identity_id')
            .where('later.not_after', '>=', beforeMs),
        ),
      ),
    );
  if (frontdoor !== undefined) query = query.where('identity.frontdoor_id', '=', frontdoor.id);
  const rows = await query
    .select(['identity.id', 'identity.name'])
    .select((eb) => eb.ref('identity.kind').$castTo<MachineKind>().as('kind'))
    .select(sql<number>`max(certificate.not_after)`.as('not_after'))
    .groupBy(['identity.id', 'identity.kind', 'identity.name'])
    .orderBy('not_after')
    .orderBy('identity.id')
    .limit(limit)
    .execute();
  return rows.map(({ kind, id, name, not_after: notAfterMs }) => ({
    ...{ kind, id, name },
    notAfterMs: Number(notAfterMs),
  }));
}

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
      .selectFrom('custom_frontend')
      .where('frontdoor_id', '=', id)
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
    db.selectFrom('organization').select(total).executeTakeFirstOrThrow(),
    db.selectFrom('frontdoor').select(total).executeTakeFirstOrThrow(),
  ]);
  return { organizations: Number(organizations.total), frontdoors: Number(frontdoors.total) };
}
