/** Selects claims of a token by a JSON pointer, as `/resource_access/app/roles`. The slash of its beginning may be missing. */

/** Returns undefined if there is no such claim. Only own fields count. */
export function claimAt(claims: Readonly<Record<string, unknown>>, selector: string): unknown {
  let value: unknown = claims;
  for (const part of selector.replace(/^\//, '').split('/')) {
    const field = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, field)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[field];
  }
  return value;
}
