/** A schema as rows for readers: the dotted path of each field and its type in words. */
import type { TSchema } from 'typebox';
import { stringFormats, type FormatName, type StringFormat } from './format-table.ts';
import { propertiesOf, type Json } from './openapi-schemas.ts';

export interface FieldRow {
  /** `content[].id`; `[].id` if the root is an array. */
  readonly path: string;
  readonly type: string;
  readonly isRequired: boolean;
  /** Accepted and ignored, because the service assigns the value. */
  readonly isReadOnly: boolean;
  readonly note: string;
}

/** Schemas of the contract are not nested deeper. The limit ends the walk of a recursive schema. */
const MAX_DEPTH = 6;

/** Returns the fields of an object, or of the objects in an array, including nested ones. */
export function fieldsOf(schema: TSchema, prefix = '', depth = 0): readonly FieldRow[] {
  const items = itemsOf(schema);
  if (items !== undefined) return fieldsOf(items, `${prefix}[]`, depth);
  if (depth > MAX_DEPTH) return [];
  const required = ((schema as Json)['required'] ?? []) as readonly string[];
  return Object.entries(propertiesOf(schema)).flatMap(([name, field]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const { readOnly } = field as Json;
    const row = {
      path,
      type: readOnly === true ? 'any' : typeWords(field),
      isRequired: required.includes(name),
      isReadOnly: readOnly === true,
      note: noteOf(field),
    };
    return [row, ...fieldsOf(field, path, depth + 1)];
  });
}

/** Returns `string (UUID)`, `array of integer`, `public | private`, `string (timestamp) or null` and the like. */
export function typeWords(schema: TSchema): string {
  const { type, enum: values, format } = schema as Json;
  const items = itemsOf(schema);
  if (items !== undefined) return `array of ${typeWords(items)}`;
  if (Array.isArray(values)) return values.map((value) => value ?? 'null').join(' | ');
  const types = Array.isArray(type) ? type : [type ?? 'any'];
  const named = typeof format === 'string' ? ` (${formatOf(format)?.name ?? format})` : '';
  return types.map((each) => (each === 'string' ? `string${named}` : String(each))).join(' or ');
}

function noteOf(schema: TSchema): string {
  const { description, format, minItems, maxItems } = schema as Notable;
  const fieldText = description ?? (format === undefined ? undefined : formatOf(format)?.words.description);
  return [
    ...(fieldText === undefined ? [] : [fieldText]),
    ...(minItems === undefined ? [] : [`at least ${minItems}`]),
    ...(maxItems === undefined ? [] : [`at most ${maxItems}`]),
  ].join('; ');
}

/** The keywords of a schema that become notes. */
interface Notable {
  readonly description?: string;
  readonly format?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
}

function formatOf(format: string): StringFormat | undefined {
  return stringFormats[format as FormatName];
}

function itemsOf(schema: TSchema): TSchema | undefined {
  return (schema as Json)['items'] as TSchema | undefined;
}
