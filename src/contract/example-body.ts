/**
 * Examples of bodies, generated from schemas. A request has its required fields, or the first field that can be
 * changed; a response has every field.
 */
import type { TSchema } from 'typebox';
import { fieldExample } from './field-example-table.ts';
import { stringFormats, type FormatName } from './format-table.ts';
import { propertiesOf, type Json } from './openapi-schemas.ts';

/** Returns a body that the operation accepts. */
export function exampleBodyOf(schema: TSchema): unknown {
  return exampleOf(schema, '', (fields, required) => {
    const writable = fields.filter(([, field]) => (field as Json)['readOnly'] !== true);
    const asked = writable.filter(([name]) => required.includes(name));
    return asked.length === 0 ? writable.slice(0, 1) : asked;
  });
}

/** Returns a response of the operation. */
export function exampleAnswerOf(schema: TSchema): unknown {
  return exampleOf(schema, '', (fields) => fields);
}

type Fields = readonly (readonly [name: string, schema: TSchema])[];
type Choose = (fields: Fields, required: readonly string[]) => Fields;

function exampleOf(schema: TSchema, name: string, choose: Choose): unknown {
  const { type, enum: values, examples, format, items, required, minimum } = schema as Json;
  if (Array.isArray(examples)) return examples[0];
  if (Array.isArray(values)) return values[0];
  switch (Array.isArray(type) ? type[0] : type) {
    case 'object': {
      const fields = choose(Object.entries(propertiesOf(schema)), (required ?? []) as readonly string[]);
      return Object.fromEntries(fields.map(([field, inner]) => [field, exampleOf(inner, field, choose)]));
    }
    case 'array':
      return [exampleOf(items as TSchema, name, choose)];
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return Math.max(1, (minimum as number | undefined) ?? 1);
    case undefined:
      return {};
    default:
      return typeof format === 'string' ? stringFormats[format as FormatName].example : fieldExample(name);
  }
}
