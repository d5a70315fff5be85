/** Counts of stored resources, of a granted frontdoor or of the installation. */
import { sql } from 'kysely';
import type { GrantedFrontdoor } from './frontdoor-store.ts';
import type { Queries } from '../engine/store.ts';

export interface VersionCount {
  readonly version: string | null;
  readonly count: number;
}

type MachineKind = 'environment' | 'gateway' | 'router';

export interface MachineExpiry {
  readonly kind: MachineKind;
  readonly id: string;
  readonly name: string;
  readonly notAfterMs: number;
}

const total = sql<number>`count(*)`.as('total');

/** Without a frontdoor, the agents of all. The most frequent version comes first. */
export async function countAgentVersions(
  db: Queries,
  frontdoor: GrantedFrontdoor | undefined,
): Promise<VersionCount[]> {
  let query = db.selectFrom('identity').where('kind', '=', 'environment');
  if (frontdoor !== undefined) query = query.where('frontdoor_id', '=', frontdoor.id);
  const rows = await query
    .select(['agent_version', total])
    .groupBy('agent_version')
    .orderBy('total', 'desc')
    .orderBy('agent_version')
    .execute();
  return rows.map((row) => ({ version: row.agent_version, count: Number(row.total) }));
}

/** Returns machines whose latest certificate expires before then, the first one to expire first. */
export async function expiringCertificates(
  db: Queries,
  frontdoor: GrantedFrontdoor | undefined,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<MachineExpiry[]> {
  let query = db
    .selectFrom('certificate')
    .innerJoin('identity', 'identity.id', 'certificate.identity_id')
    .where('identity.kind', '!=', 'edge');
  if (frontdoor !== undefined) query = query.where('identity.frontdoor_id', '=', frontdoor.id);
  const rows = await query
    .select(['identity.id', 'identity.name'])
    .select((eb) => eb.ref('identity.kind').$castTo<MachineKind>().as('kind'))
    .select(sql<number>`max(certificate.not_after)`.as('not_after'))
    .groupBy(['identity.id', 'identity.kind', 'identity.name'])
    .having(sql`max(certificate.not_after)`, '<', beforeMs)
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
