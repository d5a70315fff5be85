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

/** Custom frontends of the organization whose hostname contains the text, at most so many. */
export async function searchCustomFrontends(
  db: Queries,
  organizationId: string,
  text: string,
  limit: number,
): Promise<NamedRow[]> {
  const query = db
    .selectFrom('custom_frontend')
    .innerJoin('frontdoor', 'frontdoor.id', 'custom_frontend.frontdoor_id')
    .where('frontdoor.organization_id', '=', organizationId);
  return narrowed(query, { name: text }, { name: 'custom_frontend.hostname' })
    .select([
      'custom_frontend.id',
      'custom_frontend.hostname as name',
      'custom_frontend.frontdoor_id as frontdoorId',
    ])
    .orderBy('custom_frontend.hostname')
    .limit(limit)
    .execute();
}
