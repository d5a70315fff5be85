/** The fields that bodies of the edge management API have, as schemas for `bodyReader`. */
import type { Static, TObject, TProperties, TSchema, TUnsafe } from 'typebox';
import { Part, Type } from '#base/shapes';
import type { JsonObject } from '../../overlay/model/mod.ts';

const MAX_NAME_CHARS = 256;
const MAX_TEXT_CHARS = 1_024;
const MAX_TEXTS = 512;

/** Keywords that `bodyReader` reads besides those of schemas. */
export interface BodyKeywords {
  readonly default?: unknown;
  /** Repeated texts of a list are left out. */
  readonly isSet?: boolean;
  /** The reason of the refusal when the field is absent or empty. */
  readonly whenEmpty?: string;
  /** Refusals name the fields of this object without its own name. */
  readonly isUnnamed?: boolean;
  readonly anyOf?: readonly BodyKeywords[];
  readonly items?: BodyKeywords;
  readonly properties?: Readonly<Record<string, BodyKeywords>>;
}

export const text = (maxLength = MAX_TEXT_CHARS) => Type.String({ maxLength, default: '' });

export const textOrNull = () => Part.withDefault(Part.nullable(text()), null);

/** A text that is not empty. */
export const neededText = (maxLength: number, whenEmpty = 'is missing') =>
  Type.String({ minLength: 1, maxLength, default: '', whenEmpty });

export const name = () =>
  Part.refined(neededText(MAX_NAME_CHARS, `must have 1 to ${MAX_NAME_CHARS} characters`), {
    rule: 'a text without control characters',
    check: (value) => !/\p{Cc}/u.test(value as string),
  });

export const flag = () => Type.Boolean({ default: false });

export const whole = (maximum: number, minimum = 0) => Type.Integer({ minimum, maximum, default: 0 });

/** The first of `words` is the default. */
export const choice = <const T extends string>(words: readonly [T, ...T[]]): TUnsafe<T> =>
  Part.withDefault(neededChoice(words), words[0]);

export const neededChoice = <const T extends string>(words: readonly T[]): TUnsafe<T> =>
  Part.refined(Type.Unsafe<T>({ default: '' }), {
    rule: `one of [${words.join(',')}]`,
    check: (value) => words.some((one) => one === value),
  });

export const texts = () =>
  Part.refined(Type.Unsafe<string[]>({ default: [], isSet: true }), {
    rule: `a list of at most ${MAX_TEXTS} texts`,
    check: (value) =>
      Array.isArray(value) &&
      value.length <= MAX_TEXTS &&
      value.every((one) => typeof one === 'string' && one !== '' && one.length <= MAX_NAME_CHARS),
  });

/** An object whose fields are not looked at. */
export const freeObject = (maxChars: number) =>
  Part.refined(Type.Unsafe<JsonObject>({ ...Part.anyObject(), default: {} }), {
    rule: `an object of at most ${maxChars} characters as JSON`,
    check: (value) => JSON.stringify(value).length <= maxChars,
  });

/** An object with these fields, each with its default when the object is absent. */
export const part = <F extends TProperties>(fields: F, more: BodyKeywords = {}) =>
  Type.Unsafe<Static<TObject<F>>>({ ...Part.closed(fields), ...more, default: {} });

/** An object with these fields, or null when it is absent or empty. */
export const partOrNull = <F extends TProperties>(fields: F) =>
  Part.withDefault(Part.nullable(Part.closed(fields)), null);

export const list = <S extends TSchema>(items: S, maxItems: number) =>
  Type.Array(items, { maxItems, default: [] });
