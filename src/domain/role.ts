/** The scopes of the Management API, and the roles that people have in their organization. */

export const SCOPES = [
  'frontdoor.read',
  'frontdoor.write',
  'frontdoor.organization',
  'frontdoor.admin',
] as const;

export type Scope = (typeof SCOPES)[number];

export const ROLES = ['reader', 'editor', 'administrator', 'operator'] as const;

export type Role = (typeof ROLES)[number];

export const ROLE_SCOPES: Readonly<Record<Role, readonly Scope[]>> = {
  reader: ['frontdoor.read'],
  editor: ['frontdoor.read', 'frontdoor.write'],
  administrator: ['frontdoor.read', 'frontdoor.write', 'frontdoor.organization'],
  operator: SCOPES,
};

/** Whether a caller with `scopes` has `scope`. `frontdoor.admin` includes `frontdoor.organization`, of every organization. */
export function includesScope(scopes: readonly string[], scope: string): boolean {
  return scopes.includes(scope) || (scope === 'frontdoor.organization' && scopes.includes('frontdoor.admin'));
}
