/** Which organizations a caller may administer: its own, and with `frontdoor.admin` every one. */
import { includesScope, ROLE_SCOPES } from '#domain';
import type { Principal } from '../../credentials/oauth/mod.ts';
import {
  findOrganization,
  lockOrganization,
  rolesThroughProviders,
  type OrganizationRecord,
} from '../../credentials/people/mod.ts';
import type { Queries } from '../../store/mod.ts';
import { insufficientScope, logInTooOld, notGranted } from './api-errors.ts';
import { textOf, type Query } from './page-query.ts';

export const ADMIN = 'frontdoor.admin';

export function mayReach({ organizationId, scopes }: Principal, asked: string): boolean {
  return asked.toLowerCase() === organizationId || scopes.includes(ADMIN);
}

/** Returns the organization that the query names, or the caller's own. */
export async function askedOrganization(
  db: Queries,
  { principal, query }: { readonly principal: Principal; readonly query: Query },
): Promise<string> {
  const asked = textOf(query, 'organizationId');
  if (asked === undefined) return principal.organizationId;
  return (await reachedOrganization(db, principal, asked)).id;
}

/** Throws the refusal of an organization that does not exist, so that a caller does not find out which ones do. */
export function reachedOrganization(
  db: Queries,
  principal: Principal,
  id: string,
): Promise<OrganizationRecord> {
  return reached(principal, id, (asked) => findOrganization(db, asked));
}

/** The same, locked until the transaction ends. */
export function lockReachedOrganization(
  trx: Queries,
  principal: Principal,
  id: string,
): Promise<OrganizationRecord> {
  return reached(principal, id, (asked) => lockOrganization(trx, asked));
}

async function reached(
  principal: Principal,
  id: string,
  find: (id: string) => Promise<OrganizationRecord | undefined>,
): Promise<OrganizationRecord> {
  const organization = mayReach(principal, id) ? await find(id) : undefined;
  if (organization === undefined) throw notGranted('Organization', id);
  return organization;
}

/** A caller must have each scope that it gives to others. */
export function checkMayHandOut({ scopes: own }: Principal, scopes: readonly string[]): void {
  const missing = scopes.find((scope) => !includesScope(own, scope));
  if (missing !== undefined) throw insufficientScope(missing);
}

/**
 * An auth provider says who someone is at the console: with another issuer, its accounts are other people, and without it
 * nobody is. So providers that people log in with are changed, and deleted with their frontdoor, by those alone who may give
 * each role of these people, with a recent log-in.
 */
export async function checkMayVouch(
  trx: Queries,
  principal: Principal,
  of: Parameters<typeof rolesThroughProviders>[1],
): Promise<void> {
  const roles = await rolesThroughProviders(trx, of);
  if (roles === undefined) return;
  checkMayHandOut(principal, ['frontdoor.organization', ...roles.flatMap((role) => ROLE_SCOPES[role])]);
  if (principal.isRecent === false) throw logInTooOld();
}
