/**
 * Reads the JSON bodies of the edge management API. A field of the wrong form, and an unknown one with a value, are
 * refused with OpenZiti's code and the field's name. Absent, null and empty fields are alike, because Go clients send
 * every field.
 */
import type { Static, TObject, TProperties } from 'typebox';
import { isJsonObject } from '#base';
import { compileReader, Part, type UnreadValue } from '#base/shapes';
import { invalidParameter, type EdgeApiRefusal } from '../../overlay/clients/mod.ts';
import type { JsonObject } from '../../overlay/model/mod.ts';
import { freeObject, name, type BodyKeywords } from './body-fields.ts';

/** Limit for the tags and other free objects of an entity, as JSON. */
export const MAX_FREE_CHARS = 16_384;
const MAX_QUOTED_CHARS = 200;

/** Values besides empty ones of fields that clients send, and that say nothing here. */
export type AcceptedFields = Readonly<Record<string, readonly unknown[]>>;

export function bodyReader<F extends TProperties>(
  fields: F,
  accepted: AcceptedFields = {},
): (body: JsonObject) => Static<TObject<F>> {
  const schema = Part.closed(fields);
  const read = compileReader(schema);
  return (body) => {
    const given = Object.entries(body).filter(
      ([field, value]) => !(Object.hasOwn(accepted, field) && accepted[field]!.includes(value)),
    );
    const found = read(filled(schema, Object.fromEntries(given)));
    if ('rule' in found) throw refusalOf(found, schema, body, accepted);
    return found.value as Static<TObject<F>>;
  };
}

export interface EntityBody {
  readonly name: string;
  readonly tags: JsonObject;
  /** The other fields. */
  readonly data: JsonObject;
}

export interface EntityBodyOptions {
  /** Entities have a name unless this is false. */
  readonly isNamed?: boolean;
  readonly accepted?: AcceptedFields;
}

/** Reads an entity. `dataOf` checks fields that depend on each other, and returns what is stored. */
export function entityReader<F extends TProperties>(
  fields: F,
  dataOf: (fields: Static<TObject<F>>) => JsonObject = (given) => given as JsonObject,
  { isNamed = true, accepted }: EntityBodyOptions = {},
): (body: JsonObject) => EntityBody {
  const common = { ...(isNamed ? { name: name() } : {}), tags: freeObject(MAX_FREE_CHARS) };
  const read = bodyReader({ ...common, ...fields }, accepted);
  return (body) => {
    const { name: ownName = '', tags, ...others } = read(body) as JsonObject;
    const data = dataOf(others as Static<TObject<F>>);
    return { name: ownName as string, tags: tags as JsonObject, data };
  };
}

/** Puts in defaults, and leaves out unknown fields that are empty. */
function filled(schema: BodyKeywords, given: unknown): unknown {
  const isNullable = schema.anyOf !== undefined;
  const value =
    given === undefined || given === null || (isNullable && isEmpty(given)) ? schema.default : given;
  const { items, properties, isSet } = schema.anyOf?.[0] ?? schema;
  if (isSet === true && Array.isArray(value)) return [...new Set<unknown>(value)];
  if (items !== undefined && Array.isArray(value)) return value.map((one) => filled(items, one));
  if (properties === undefined || !isJsonObject(value)) return value;
  const known = Object.entries(properties).map(([field, each]) => [
    field,
    filled(each, Object.hasOwn(value, field) ? value[field] : undefined),
  ]);
  const others = Object.entries(value).filter(
    ([field, each]) => !Object.hasOwn(properties, field) && !isEmpty(each),
  );
  return Object.fromEntries([...known, ...others]) as unknown;
}

/** The refusal with the name of the field as `processes[3].path`, and its value. */
function refusalOf(
  { field, rule }: UnreadValue,
  schema: BodyKeywords,
  body: JsonObject,
  accepted: AcceptedFields,
): EdgeApiRefusal {
  let [at, value, place, own]: [BodyKeywords, unknown, string, string] = [schema, body, '', ''];
  const parts = field.split('.');
  for (const [depth, each] of parts.entries()) {
    const { items, properties } = at.anyOf?.[0] ?? at;
    const next = items ?? (Object.hasOwn(properties ?? {}, each) ? properties![each] : undefined);
    if (next === undefined) {
      own = parts.slice(depth).join('.');
      const known = place === '' && Object.hasOwn(accepted, own);
      const reason = `${own} ${known ? 'is not supported' : 'is not a field of this entity'}`;
      return invalidParameter(joined(place, own), reason, quoted(childOf(value, own)));
    }
    if (next.isUnnamed !== true) place = items === undefined ? joined(place, each) : `${place}[${each}]`;
    if (items === undefined) own = each;
    [at, value] = [next, childOf(value, each)];
  }
  const words = at.whenEmpty !== undefined && isEmpty(value) ? at.whenEmpty : rule;
  return invalidParameter(place, `${own} ${words}`, quoted(value));
}

function joined(place: string, field: string): string {
  return place === '' ? field : `${place}.${field}`;
}

function childOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as JsonObject)[key];
}

export function quoted(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value).slice(0, MAX_QUOTED_CHARS);
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 0 || value === false) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
