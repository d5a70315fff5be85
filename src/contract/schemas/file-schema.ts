/**
 * Schemas of the API in the form that readers of files compile (`compileReader`): a value that may be null has two schemas, a
 * format is a refinement, and fields that requests may repeat and nobody reads are left out.
 */
import type { TSchema } from 'typebox';
import { definedFields } from '#base';
import type { Refinement } from '#base/shapes';
import { brokenRule, stringFormats, type FormatName } from '../format-table.ts';

type Json = Readonly<Record<string, unknown>>;

export function fileSchemaOf<S extends TSchema>(schema: S): S {
  return readable(schema as Json) as S;
}

function readable(schema: Json): Json {
  const { type, format, ...others } = schema;
  if (Array.isArray(type)) {
    const [only] = type as string[];
    return { anyOf: [readable({ ...schema, type: only }), { type: 'null' }] };
  }
  const found: Record<string, unknown> = definedFields({ ...others, type });
  if (isFormat(format)) {
    found['format'] = format;
    found['refinement'] = ruleOf(format);
  }
  const { properties, items } = schema as { properties?: Json; items?: Json };
  if (properties !== undefined) {
    const fields = Object.entries(properties).filter(([, field]) => (field as Json)['readOnly'] !== true);
    found['properties'] = Object.fromEntries(fields.map(([name, field]) => [name, readable(field as Json)]));
  }
  if (items !== undefined) found['items'] = readable(items);
  return found;
}

function isFormat(format: unknown): format is FormatName {
  return typeof format === 'string' && Object.hasOwn(stringFormats, format);
}

/** The rule of most formats depends on the text, so that the first words name the format. */
function ruleOf(format: FormatName): Refinement {
  return {
    rule: `of ${brokenRule(format, '')}`,
    check: (value) => typeof value === 'string' && stringFormats[format].check(value),
  };
}
