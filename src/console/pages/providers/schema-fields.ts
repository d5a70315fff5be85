/**
 * Turns the JSON Schema of a type of auth provider into the fields of a form. What a schema may have beyond what is known here
 * becomes a field for JSON, so that nothing that the API accepts is out of reach.
 */

export type JsonSchema = Readonly<Record<string, unknown>>;
export type Values = Readonly<Record<string, unknown>>;

interface Common {
  readonly name: string;
  readonly title: string | undefined;
  readonly help: string | undefined;
  readonly isRequired: boolean;
}

export type SchemaField = Common &
  (
    | { readonly kind: 'text' | 'secret' | 'address' | 'time'; readonly maxLength: number | undefined }
    | { readonly kind: 'choice'; readonly values: readonly string[] }
    | { readonly kind: 'boolean' | 'texts' | 'json' }
    /** Set by the API. */
    | { readonly kind: 'shown' }
    | {
        readonly kind: 'number';
        readonly isInteger: boolean;
        readonly min: number | undefined;
        readonly max: number | undefined;
      }
    /** A list of objects. */
    | { readonly kind: 'list'; readonly fields: readonly SchemaField[]; readonly minItems: number }
    | { readonly kind: 'group'; readonly fields: readonly SchemaField[] }
    /** One of several forms of an object. */
    | { readonly kind: 'variants'; readonly variants: readonly Variant[] }
  );

export interface Variant {
  readonly title: string;
  readonly fields: readonly SchemaField[];
  /** Properties that have one value in this form, by which it is known. */
  readonly constants: Values;
}

/**
 * Fields of an object's schema; those that are always required come first. `values` decide about what is required under a
 * condition, which moves no field.
 */
export function fieldsOf(schema: JsonSchema, values: Values = {}): readonly SchemaField[] {
  const properties = objectOf(schema['properties']);
  const required = requiredOf(schema, values);
  const first = new Set(textsOf(schema['required']));
  const fields = Object.entries(properties).map(([name, property]) =>
    fieldOf(name, objectOf(property), required.has(name)),
  );
  return [...fields.filter(({ name }) => first.has(name)), ...fields.filter(({ name }) => !first.has(name))];
}

/** The names that messages of the API about these fields have, with `prefix` before each. */
export function pathsOf(
  fields: readonly SchemaField[],
  prefix: string,
  countOf: (path: string) => number,
): readonly string[] {
  return fields.flatMap((field) => {
    const path = `${prefix}.${field.name}`;
    if (field.kind === 'group') return pathsOf(field.fields, path, countOf);
    if (field.kind !== 'list') return [path];
    return Array.from({ length: countOf(path) }, (_, at) =>
      pathsOf(field.fields, `${path}.${at}`, countOf),
    ).flat();
  });
}

function fieldOf(name: string, schema: JsonSchema, isRequired: boolean): SchemaField {
  const common: Common = {
    name,
    title: textOf(schema['title']),
    help: textOf(schema['description']),
    isRequired,
  };
  if (schema['readOnly'] === true) return { ...common, kind: 'shown' };
  const variants = variantsOf(schema);
  if (variants !== undefined) return { ...common, kind: 'variants', variants };
  const values = schema['enum'];
  if (Array.isArray(values))
    return values.every((value) => typeof value === 'string')
      ? { ...common, kind: 'choice', values }
      : { ...common, kind: 'json' };
  switch (typeOf(schema)) {
    case 'string':
      return { ...common, kind: kindOfText(schema), maxLength: numberOf(schema['maxLength']) };
    case 'boolean':
      return { ...common, kind: 'boolean' };
    case 'integer':
    case 'number':
      return {
        ...common,
        kind: 'number',
        isInteger: typeOf(schema) === 'integer',
        min: numberOf(schema['minimum']),
        max: numberOf(schema['maximum']),
      };
    case 'array': {
      const items = objectOf(schema['items']);
      if (typeOf(items) === 'string') return { ...common, kind: 'texts' };
      if (!hasProperties(items)) return { ...common, kind: 'json' };
      const minItems = numberOf(schema['minItems']) ?? 0;
      return { ...common, kind: 'list', fields: fieldsOf(items), minItems };
    }
    case 'object':
      return hasProperties(schema)
        ? { ...common, kind: 'group', fields: fieldsOf(schema) }
        : { ...common, kind: 'json' };
    default:
      return { ...common, kind: 'json' };
  }
}

function kindOfText(schema: JsonSchema): 'text' | 'secret' | 'address' | 'time' {
  const { format } = schema;
  if (schema['writeOnly'] === true || format === 'password') return 'secret';
  if (format === 'uri' || format === 'url') return 'address';
  return format === 'date-time' ? 'time' : 'text';
}

function variantsOf(schema: JsonSchema): readonly Variant[] | undefined {
  const given = schema['oneOf'] ?? schema['anyOf'];
  if (!Array.isArray(given)) return undefined;
  const schemas = given.map(objectOf);
  if (schemas.length === 0 || !schemas.every(hasProperties)) return undefined;
  return schemas.map((variant, at) => {
    const properties = Object.entries(objectOf(variant['properties']));
    const constants = Object.fromEntries(
      properties
        .filter(([, property]) => 'const' in objectOf(property))
        .map(([name, property]) => [name, objectOf(property)['const']]),
    );
    const first = Object.values(constants).find((value) => typeof value === 'string');
    return {
      title: textOf(variant['title']) ?? first ?? String(at + 1),
      fields: fieldsOf(variant).filter(({ name }) => !(name in constants)),
      constants,
    };
  });
}

/** `required`, and what `if`, `then` and `else` add to it for these values. */
function requiredOf(schema: JsonSchema, values: Values): ReadonlySet<string> {
  const names = new Set(textsOf(schema['required']));
  const parts = Array.isArray(schema['allOf']) ? schema['allOf'].map(objectOf) : [];
  for (const part of [schema, ...parts]) {
    if (part !== schema) for (const name of textsOf(part['required'])) names.add(name);
    if (part['if'] === undefined) continue;
    const branch = objectOf(part[holds(objectOf(part['if']), values) ? 'then' : 'else']);
    for (const name of textsOf(branch['required'])) names.add(name);
  }
  return names;
}

/** Whether a condition of constants, enumerations and patterns holds. A property without a value satisfies it, as in JSON Schema. */
function holds(condition: JsonSchema, values: Values): boolean {
  return Object.entries(objectOf(condition['properties'])).every(([name, given]) => {
    const [schema, value] = [objectOf(given), values[name]];
    if (value === undefined || value === '') return true;
    if ('const' in schema) return schema['const'] === value;
    const pattern = textOf(schema['pattern']);
    if (pattern !== undefined) return typeof value === 'string' && new RegExp(pattern, 'u').test(value);
    return Array.isArray(schema['enum']) ? schema['enum'].includes(value) : true;
  });
}

function typeOf(schema: JsonSchema): string | undefined {
  const { type } = schema;
  if (!Array.isArray(type)) return textOf(type);
  const others = type.filter((one) => one !== 'null');
  return others.length === 1 ? textOf(others[0]) : undefined;
}

function hasProperties(schema: JsonSchema): boolean {
  return Object.keys(objectOf(schema['properties'])).length > 0;
}

function objectOf(value: unknown): JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonSchema) : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
