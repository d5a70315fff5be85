/** The change of an audit event: the fields of both states whose values differ. Pure. */

export interface FieldDifference {
  /** Names of nested fields are joined by dots. */
  readonly field: string;
  /** As text; undefined if the field was not there. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Deeper values are compared as they are. */
const MAX_DEPTH = 4;

export function eventDifference(before: unknown, after: unknown): readonly FieldDifference[] {
  const [old, fresh] = [fieldsOf(before), fieldsOf(after)];
  const names = [...new Set([...old.keys(), ...fresh.keys()])].sort();
  return names
    .map((field) => ({ field, before: old.get(field), after: fresh.get(field) }))
    .filter((difference) => difference.before !== difference.after);
}

function fieldsOf(value: unknown): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  collect(value, '', 0, fields);
  return fields;
}

function collect(value: unknown, name: string, depth: number, fields: Map<string, string>): void {
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && depth < MAX_DEPTH) {
    for (const [key, inner] of Object.entries(value))
      collect(inner, name === '' ? key : `${name}.${key}`, depth + 1, fields);
  } else if (name !== '' && value !== undefined) {
    fields.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
}

/** The name of a resource in an event, which has its state before or after. */
export function nameIn(...states: readonly unknown[]): string | undefined {
  for (const state of states) {
    if (typeof state !== 'object' || state === null) continue;
    for (const key of ['name', 'hostname', 'token']) {
      const value = (state as Readonly<Record<string, unknown>>)[key];
      if (typeof value === 'string' && value !== '') return value;
    }
  }
  return undefined;
}
