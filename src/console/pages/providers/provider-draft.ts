/**
 * The values that a person typed into a form of a schema, and the data that the API gets for them. A draft holds texts for texts,
 * numbers, times and JSON, lists of lines for lists of texts, and objects for objects, so that nothing typed is lost on the way.
 */
import type { SchemaField, Values, Variant } from './schema-fields.ts';

/** The API shows it instead of a stored secret, which it keeps when this is sent back. */
export const MASK = '********';

export type ProviderDraft = Readonly<Record<string, unknown>>;

/** JSON that cannot be read. */
export class UnreadableJson extends Error {
  readonly path: string;

  constructor(path: string, options?: ErrorOptions) {
    super(path, options);
    this.path = path;
  }
}

export function draftOf(fields: readonly SchemaField[], data: Values): ProviderDraft {
  return Object.fromEntries(fields.map((field) => [field.name, draftValue(field, data[field.name])]));
}

function draftValue(field: SchemaField, value: unknown): unknown {
  switch (field.kind) {
    case 'texts':
      return Array.isArray(value) ? value.map(String).join('\n') : '';
    case 'boolean':
      return shownText(value);
    case 'list':
      return (Array.isArray(value) ? value : Array<Values>(field.minItems).fill({})).map((item) =>
        draftOf(field.fields, item as Values),
      );
    case 'group':
      return draftOf(field.fields, (value ?? {}) as Values);
    case 'variants':
      return variantDraft(field.variants, (value ?? {}) as Values);
    case 'json':
      return value === undefined ? '' : JSON.stringify(value, undefined, 2);
    case 'shown':
      return value;
    default:
      return shownText(value);
  }
}

function variantDraft(variants: readonly Variant[], value: Values) {
  const found = variants.findIndex(({ constants }) =>
    Object.entries(constants).every(([name, constant]) => value[name] === constant),
  );
  const at = Math.max(0, found);
  return { at, draft: draftOf(variants[at]!.fields, value) };
}

/** A value in an input. */
export function shownText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The data of a draft; empty fields are left out. Throws `UnreadableJson`. */
export function dataOf(fields: readonly SchemaField[], draft: ProviderDraft, path: string = 'data'): Values {
  const entries = fields
    .map((field) => [field.name, dataValue(field, draft[field.name], `${path}.${field.name}`)] as const)
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries);
}

function dataValue(field: SchemaField, value: unknown, path: string): unknown {
  switch (field.kind) {
    case 'shown':
      return undefined;
    case 'texts':
      return linesOf(value);
    case 'list': {
      const items = (value as readonly ProviderDraft[]).map((item, at) =>
        dataOf(field.fields, item, `${path}.${at}`),
      );
      return items.length === 0 && !field.isRequired ? undefined : items;
    }
    case 'group': {
      const data = dataOf(field.fields, value as ProviderDraft, path);
      return Object.keys(data).length === 0 && !field.isRequired ? undefined : data;
    }
    case 'variants': {
      const { at, draft } = value as { readonly at: number; readonly draft: ProviderDraft };
      const variant = field.variants[at]!;
      return { ...variant.constants, ...dataOf(variant.fields, draft, path) };
    }
    default:
      return value === '' || value === undefined ? undefined : scalarValue(field, value as string, path);
  }
}

function scalarValue(field: SchemaField, text: string, path: string): unknown {
  switch (field.kind) {
    case 'boolean':
      return text === 'true';
    case 'number':
      // Other text is sent, too, so that the API names the field.
      return Number.isNaN(Number(text)) ? text : Number(text);
    case 'json':
      try {
        return JSON.parse(text) as unknown;
      } catch (error) {
        throw new UnreadableJson(path, { cause: error });
      }
    default:
      return text;
  }
}

function linesOf(value: unknown): readonly string[] | undefined {
  const lines = shownText(value)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return lines.length === 0 ? undefined : lines;
}

/** The differences as a merge patch: null removes a field. Fields that the schema does not name stay as they are. */
export function patchOf(fields: readonly SchemaField[], before: Values, after: Values): Values {
  const patch: Record<string, unknown> = {};
  for (const field of fields) {
    if (field.kind === 'shown') continue;
    const was = dataOf([field], draftOf([field], before))[field.name];
    const is = after[field.name];
    if (is === undefined && was !== undefined) patch[field.name] = null;
    else if (JSON.stringify(is) !== JSON.stringify(was)) patch[field.name] = is;
  }
  return patch;
}

/** Names and values of the secrets that the service made: those that the answer shows and nobody sent. */
export function madeSecrets(
  fields: readonly SchemaField[],
  sent: Values,
  answered: Values,
): readonly (readonly [name: string, value: string])[] {
  return fields.flatMap((field) => {
    const shown = answered[field.name];
    if (field.kind === 'secret')
      return typeof shown === 'string' && shown !== MASK && sent[field.name] === undefined
        ? [[field.name, shown] as const]
        : [];
    if (field.kind !== 'list' || !Array.isArray(shown)) return [];
    const items = (sent[field.name] ?? []) as readonly Values[];
    return (shown as readonly Values[]).flatMap((item, at) =>
      madeSecrets(field.fields, items[at] ?? {}, item).map(
        ([name, value]) => [typeof item['name'] === 'string' ? item['name'] : name, value] as const,
      ),
    );
  });
}
