/**
 * What the schemas of our own shapes are made of. An object drops fields that it does not know; `closed` refuses them,
 * where an unknown field may restrict what is asked, and `open` keeps them, for files that an older version rewrites.
 */
import type { Static, TObject, TOptional, TProperties, TSchema, TUnsafe } from 'typebox';
import { definedFields } from '../defined-fields.ts';
import { Type } from './schema-builder.ts';
import type { Refinement } from './schema-reader.ts';

export const text = (maxLength?: number, pattern?: string) =>
  Type.String(definedFields({ maxLength, pattern }));
/** Not empty. */
export const someText = () => Type.String({ minLength: 1 });
export const texts = () => Type.Array(Type.String());
export const flag = () => Type.Boolean();
export const count = (maximum = Number.MAX_SAFE_INTEGER) => Type.Integer({ minimum: 0, maximum });
/** From 1. */
export const number = () => Type.Integer({ minimum: 1 });
export const port = () => Type.Integer({ minimum: 0, maximum: 65_535 });

/** An object whose fields are not looked at. */
export const anyObject = () =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true });

export function oneOf<const T extends string>(...values: readonly T[]): TUnsafe<T> {
  return Type.Unsafe<T>({ type: 'string', enum: [...values] });
}

/** One of these words, or one that came later: a newer program's word is a value, for a person to read. */
export function word<const T extends string>(..._known: readonly T[]): TUnsafe<T> {
  return Type.Unsafe<T>({ type: 'string' });
}

export function nullable<S extends TSchema>(schema: S): TUnsafe<Static<S> | null> {
  return Type.Unsafe<Static<S> | null>({ anyOf: [schema, { type: 'null' }] });
}

export function closed<T extends TProperties>(properties: T): TObject<T> {
  return Type.Object(properties, { additionalProperties: false });
}

type OptionalFields<T extends TProperties> = { [K in keyof T]: TOptional<T[K]> };

/** Returns the fields, each of them optional. */
export function optional<T extends TProperties>(fields: T): OptionalFields<T> {
  const entries = Object.entries(fields).map(([name, field]) => [name, Type.Optional(field)]);
  return Object.fromEntries(entries) as OptionalFields<T>;
}

export function open<T extends TProperties>(properties: T): TObject<T> {
  return Type.Object(properties, { additionalProperties: true });
}

/** An object with names of its own and values of one form; with `lossy`, it loses a value that cannot be read. */
export function mapOf<S extends TSchema>(
  values: S,
  bounds: { readonly maxProperties?: number; readonly lossy?: string } = {},
): TUnsafe<Record<string, Static<S>>> {
  return Type.Unsafe<Record<string, Static<S>>>({ type: 'object', additionalProperties: values, ...bounds });
}

/** `[name, value]`. */
export const textPair = () =>
  Type.Unsafe<[string, string]>({ type: 'array', prefixItems: [{ type: 'string' }, { type: 'string' }] });

export interface ListBounds {
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** A list that drops entries that cannot be read. `name` identifies the list in reports about them. */
export function lossyList<S extends TSchema>(name: string, items: S, bounds: ListBounds = {}) {
  return Type.Array(items, { ...bounds, lossy: name });
}

/** A field that is replaced by `fallback` when it cannot be read. */
export function lossyField<S extends TSchema>(
  name: string,
  schema: S,
  fallback: Static<S>,
): TUnsafe<Static<S>> {
  return Type.Unsafe<Static<S>>({ ...schema, replaced: name, fallback });
}

/** A field that came after the first version of its shape. */
export function withDefault<S extends TSchema>(schema: S, value: Static<S>): TUnsafe<Static<S>> {
  return Type.Unsafe<Static<S>>({ ...schema, default: value });
}

/** A field that is replaced by `value` when it is missing or cannot be read. */
export function orElse<S extends TSchema>(schema: S, value: Static<S>): TUnsafe<Static<S>> {
  return Type.Unsafe<Static<S>>({ ...schema, replaced: '', fallback: value, default: value });
}

export function refined<S extends TSchema>(schema: S, refinement: Refinement): S {
  return { ...schema, refinement };
}

type Variant<Tag extends string, Name, S extends TSchema> = { [T in Tag]: Name } & Static<S>;

/** Objects whose field `tag` says which of the variants each is. */
export function variants<const Tag extends string, const V extends Readonly<Record<string, TObject>>>(
  tag: Tag,
  byName: V,
): TUnsafe<{ [K in keyof V & string]: Variant<Tag, K, V[K]> }[keyof V & string]> {
  const tagged = Object.entries(byName).map(([name, schema]) => {
    const { required = [] } = schema as { required?: readonly string[] };
    const properties = { [tag]: { const: name }, ...schema.properties };
    return [name, { ...schema, properties, required: [tag, ...required] }];
  });
  return Type.Unsafe({ type: 'object', tag, variants: Object.fromEntries(tagged) as object });
}
