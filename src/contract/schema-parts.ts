/** Building blocks for schemas of resources. */
import type { TObject, TProperties } from 'typebox';
import { Type } from '#base/shapes';

export const uuid = () => Type.String({ format: 'uuid' });
export const text = () => Type.String({ maxLength: 300 });
export const nameText = () => Type.String({ format: 'name' });
export const timestamp = () => Type.String({ format: 'date-time' });
export const url = () => Type.String({ format: 'uri' });
export const ids = (maxItems: number, description?: string) =>
  Type.Array(text(), description === undefined ? { maxItems } : { maxItems, description });
/** Accepts any value, which is ignored. */
export const readOnly = () => Type.Optional(Type.Unknown({ readOnly: true }));

export function oneOf<const T extends string>(...values: readonly T[]) {
  return Type.Unsafe<T>({ type: 'string', enum: [...values] });
}

export function nullable<T>(schema: { readonly type: string; readonly [name: string]: unknown }) {
  return Type.Unsafe<T | null>({ ...schema, type: [schema.type, 'null'] });
}

/** Returns an object schema that refuses other properties. */
export function closed<T extends TProperties>(properties: T): TObject<T> {
  return Type.Object(properties, { additionalProperties: false });
}
