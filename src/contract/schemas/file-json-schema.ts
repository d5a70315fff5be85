/** The JSON Schema of a file, for editors, from the schema that its reader compiles. */
import type { TSchema } from 'typebox';
import { stringFormats, type FormatName } from '../format-table.ts';

type Json = Readonly<Record<string, unknown>>;

/** Where a text may be named by reference instead of being written into the file. */
const REFERENCE: Json = {
  oneOf: [
    {
      type: 'object',
      properties: { fromFile: { type: 'string', description: 'File with the value, relative to this file' } },
      required: ['fromFile'],
      additionalProperties: false,
    },
    {
      type: 'object',
      properties: { fromEnv: { type: 'string', description: 'Environment variable with the value' } },
      required: ['fromEnv'],
      additionalProperties: false,
    },
  ],
};
const SECRET_FIELDS: ReadonlySet<string> = new Set(['password']);

export function fileJsonSchema(schema: TSchema, title: string): Json {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title,
    ...editorSchema(schema as Json),
  };
}

function editorSchema(schema: Json): Json {
  const {
    format,
    refinement: _rule,
    anyOf,
    properties,
    items,
    ...others
  } = schema as {
    readonly format?: string;
    readonly refinement?: unknown;
    readonly anyOf?: readonly Json[];
    readonly properties?: Readonly<Record<string, Json>>;
    readonly items?: Json;
  } & Json;
  const found: Record<string, unknown> = { ...others };
  if (format !== undefined) {
    const { description = stringFormats[format as FormatName].words.description, ...words } = {
      ...stringFormats[format as FormatName].words,
      ...others,
    } as { readonly description?: string };
    Object.assign(found, words, description === undefined ? {} : { description });
  }
  if (anyOf !== undefined) found['anyOf'] = anyOf.map(editorSchema);
  if (items !== undefined) found['items'] = editorSchema(items);
  if (properties !== undefined)
    found['properties'] = Object.fromEntries(
      Object.entries(properties).map(([name, field]) => [name, fieldSchema(name, editorSchema(field))]),
    );
  return found;
}

function fieldSchema(name: string, schema: Json): Json {
  if (!SECRET_FIELDS.has(name)) return schema;
  const { description, ...value } = schema;
  return { description, anyOf: [value, REFERENCE] };
}
