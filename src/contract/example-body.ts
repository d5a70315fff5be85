/** A body that an operation accepts, for examples: its required fields, or the first that may be changed. */
import type { TSchema } from 'typebox';
import { stringFormats, type FormatName } from './format-table.ts';
import { propertiesOf, type Json } from './openapi-schemas.ts';

const EXAMPLE_ID = stringFormats.uuid.example;

export function exampleBodyOf(schema: TSchema): unknown {
  const { type, enum: values, examples, format, items, required } = schema as Json;
  if (Array.isArray(examples)) return examples[0];
  if (Array.isArray(values)) return values[0];
  switch (Array.isArray(type) ? type[0] : type) {
    case 'object': {
      const writable = Object.entries(propertiesOf(schema)).filter(
        ([, field]) => (field as Json)['readOnly'] !== true,
      );
      const asked = writable.filter(([name]) => ((required ?? []) as readonly string[]).includes(name));
      const shown = asked.length === 0 ? writable.slice(0, 1) : asked;
      return Object.fromEntries(shown.map(([name, field]) => [name, exampleBodyOf(field)]));
    }
    case 'array':
      return [exampleBodyOf(items as TSchema)];
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return 1;
    default:
      return typeof format === 'string' ? (stringFormats[format as FormatName]?.example ?? '…') : EXAMPLE_ID;
  }
}
