/**
 * What the roles of a policy select, as OpenZiti defines it: `@id` selects one entity, `#all` every one, and `#role`
 * those with the attribute. Several attributes select entities with all of them (AllOf) or with any (AnyOf); ids are
 * selected besides, whatever the semantic.
 */
export type Semantic = 'AllOf' | 'AnyOf';

export interface RoleSelection {
  readonly isAll: boolean;
  readonly ids: ReadonlySet<string>;
  readonly attributes: readonly string[];
}

export interface Attributed {
  readonly id: string;
  readonly roleAttributes: ReadonlySet<string>;
}

const ALL = '#all';

/** Texts without `#` or `@` select nothing. */
export function selectionOf(roles: readonly string[]): RoleSelection {
  const attributes = roles
    .filter((role) => role.startsWith('#') && role !== ALL)
    .map((role) => role.slice(1));
  return { isAll: roles.includes(ALL), ids: new Set(namedIds(roles)), attributes };
}

/** Returns the ids of the roles `@id`. */
export function namedIds(roles: readonly string[]): string[] {
  return roles.filter((role) => role.startsWith('@')).map((role) => role.slice(1));
}

export function isSelected(selection: RoleSelection, semantic: Semantic, entity: Attributed): boolean {
  if (selection.isAll || selection.ids.has(entity.id)) return true;
  const { attributes } = selection;
  if (attributes.length === 0) return false;
  const has = (attribute: string): boolean => entity.roleAttributes.has(attribute);
  return semantic === 'AllOf' ? attributes.every(has) : attributes.some(has);
}
