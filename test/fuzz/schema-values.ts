/**
 * Values that a JSON Schema of the API's description allows, as fast-check arbitraries. Supports the keywords that
 * the description uses.
 */
import fc from 'fast-check';
import { textsMatching } from '../support/pattern-texts.ts';

export type Schema = Readonly<Record<string, unknown>>;

/** Finds what a `$ref` leads to. */
export type Resolve = (reference: string) => Schema;

const MAX_ITEMS = 4;
const UUID_FORM = { version: [4 as const] };

const FORMATS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  uuid: fc.uuid(UUID_FORM),
  uri: fc.webUrl(),
  'date-time': fc
    .date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) })
    .map((date) => date.toISOString()),
  duration: fc.integer({ min: 5, max: 43_200 }).map((minutes) => `PT${minutes}M`),
};

export function valuesOf(schema: Schema, resolve: Resolve): fc.Arbitrary<unknown> {
  const { $ref: reference, enum: values, const: only, examples, anyOf, oneOf, type } = schema;
  if (typeof reference === 'string') return valuesOf(resolve(reference), resolve);
  if (only !== undefined) return fc.constant(only);
  if (Array.isArray(values)) return fc.constantFrom(...(values as unknown[]));
  const branches = (anyOf ?? oneOf) as readonly Schema[] | undefined;
  if (branches !== undefined && type === undefined)
    return fc.oneof(...branches.map((each) => valuesOf(each, resolve)));
  const types = (Array.isArray(type) ? type : [type]) as readonly string[];
  const ofTypes = fc.oneof(...types.map((each) => valuesOfType(each, schema, resolve)));
  return Array.isArray(examples) ? fc.oneof(fc.constantFrom(...(examples as unknown[])), ofTypes) : ofTypes;
}

function valuesOfType(type: string | undefined, schema: Schema, resolve: Resolve): fc.Arbitrary<unknown> {
  switch (type) {
    case 'string':
      return texts(schema);
    case 'integer':
      return fc.integer(bounds(schema));
    case 'number':
      return fc.double({ ...bounds(schema), noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array': {
      const { items = {}, minItems = 0, uniqueItems } = schema as ArraySchema;
      const sizes = { minLength: minItems, maxLength: Math.max(minItems, MAX_ITEMS) };
      const each = valuesOf(items, resolve);
      return uniqueItems === true
        ? fc.uniqueArray(each, { ...sizes, selector: (value) => JSON.stringify(value) })
        : fc.array(each, sizes);
    }
    case 'object': {
      const { properties = {}, required = [] } = schema as ObjectSchema;
      const fields = Object.entries(properties).map(
        ([name, field]) => [name, valuesOf(field, resolve)] as const,
      );
      return fc.record(Object.fromEntries(fields), { requiredKeys: [...required], noNullPrototype: true });
    }
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

interface ArraySchema {
  readonly items?: Schema;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

function texts({ format, pattern, minLength = 0, maxLength }: Schema): fc.Arbitrary<string> {
  const min = minLength as number;
  const max = (maxLength ?? 300) as number;
  if (typeof format === 'string' && FORMATS[format] !== undefined) return FORMATS[format];
  if (typeof pattern === 'string') {
    return textsMatching(pattern).filter((text) => text.length >= min && text.length <= max);
  }
  return fc.string({ minLength: min, maxLength: Math.min(max, 40), unit: 'grapheme' });
}

function bounds({ minimum, maximum }: Schema): { min?: number; max?: number } {
  return {
    ...(minimum === undefined ? {} : { min: Math.max(minimum as number, -(2 ** 31)) }),
    ...(maximum === undefined ? {} : { max: Math.min(maximum as number, 2 ** 31 - 1) }),
  };
}
