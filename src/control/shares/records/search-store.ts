/** Short lists of an organization's or the installation's resources that a search reads. */
import { type Queries, narrowed } from '../../store/mod.ts';

export interface NamedRow {
  readonly id: string;
  readonly name: string;
  readonly frontdoorId: string | null;
}

/** Every frontdoor of the organization. */
export async function frontdoorsOf(
  db: Queries,
  organizationId: string,
): Promise<{ readonly id: string; readonly name: string }[]> {
  return db
    .selectFrom('frontdoor')
    .select(['id', 'name'])
    .where('organization_id', '=', organizationId)
    .execute();
}

/** Auth providers of the organization whose name contains the text, at most so many. */
export async function searchProviders(
  db: Queries,
  organizationId: string,
  text: string,
  limit: number,
): Promise<NamedRow[]> {
  const query = db
    .selectFrom('auth_provider')
    .innerJoin('frontdoor', 'frontdoor.id', 'auth_provider.frontdoor_id')
    .where('frontdoor.organization_id', '=', organizationId);
  return narrowed(query, { name: text }, { name: 'auth_provider.name' })
    .select(['auth_provider.id', 'auth_provider.name', 'auth_provider.frontdoor_id as frontdoorId'])
    .orderBy('auth_provider.name')
    .limit(limit)
    .execute();
}

/** Shared policies of the organization whose name contains the text, at most so many. */
export async function searchPolicies(
  db: Queries,
  organizationId: string,
  text: string,
  limit: number,
): Promise<NamedRow[]> {
  const query = db
    .selectFrom('access_policy')
    .innerJoin('frontdoor', 'frontdoor.id', 'access_policy.frontdoor_id')
    .where('frontdoor.organization_id', '=', organizationId);
  return narrowed(query, { name: text }, { name: 'access_policy.name' })
    .select(['access_policy.id', 'access_policy.name', 'access_policy.frontdoor_id as frontdoorId'])
    .orderBy('access_policy.name')
    .limit(limit)
    .execute();
}

/** Custom frontends of the organization whose hostname contains the text, at most so many. */
export async function searchCustomFrontends(
  db: Queries,
  organizationId: string,
  text: string,
  limit: number,
): Promise<NamedRow[]> {
  const query = db
    .selectFrom('hostname_claim')
    .innerJoin('frontdoor', 'frontdoor.id', 'hostname_claim.frontdoor_id')
    .where('frontdoor.organization_id', '=', organizationId)
    .where('hostname_claim.share_id', 'is', null);
  return narrowed(query, { name: text }, { name: 'hostname_claim.hostname' })
    .select([
      'hostname_claim.id',
      'hostname_claim.hostname as name',
      'hostname_claim.frontdoor_id as frontdoorId',
    ])
    .orderBy('hostname_claim.hostname')
    .limit(limit)
    .execute();
}

/** Domains of shares of the organization that contain the text, at most so many, with the tokens of their shares. */
export async function searchShareDomains(
  db: Queries,
  organizationId: string,
  text: string,
  limit: number,
): Promise<NamedRow[]> {
  const query = db
    .selectFrom('hostname_claim')
    .innerJoin('share', 'share.id', 'hostname_claim.share_id')
    .innerJoin('frontdoor', 'frontdoor.id', 'hostname_claim.frontdoor_id')
    .where('frontdoor.organization_id', '=', organizationId);
  return narrowed(query, { name: text }, { name: 'hostname_claim.hostname' })
    .select([
      'share.token as id',
      'hostname_claim.hostname as name',
      'hostname_claim.frontdoor_id as frontdoorId',
    ])
    .orderBy('hostname_claim.hostname')
    .limit(limit)
    .execute();
}
