/**
 * What a field of the router file can be. A field carries its checks, its default, its words for editors and documents,
 * and its decoder. The types of its value in the file (`FileValue`) and in the configuration (`Value`) are inferred.
 * Values of the file are texts such as `5s`. A field with a default is always there once the file is read.
 */
import { formatGoDuration, parseGoDuration } from './go-duration.ts';
import type { KindValue, NetworkInterfaces, TextKind } from './text-kinds.ts';

export interface FieldNotes {
  readonly kind?: TextKind;
  /** Lower bound in the unit of the file; in milliseconds for durations. */
  readonly least?: number;
  readonly most?: number;
  /** What is done with a value beyond the bounds, with a warning; absent: it is an error. */
  readonly beyond?: 'default' | 'clamp';
  /** Milliseconds of one, where a whole number may stand for a duration. */
  readonly integerUnitMs?: number;
  /** Durations that OpenZiti turns into text first: a bare 0 is one. */
  readonly isZeroAllowed?: boolean;
  /** A whole number may be written with a fraction of 0. */
  readonly isFractionAllowed?: boolean;
  /** Words are compared without case. */
  readonly isAnyCase?: boolean;
  /** One text stands for a list of one. */
  readonly isSingleAllowed?: boolean;
  /** Nothing after the colon: as if the key were not there, with a warning. */
  readonly isEmptyAllowed?: boolean;
  /** What is wrong inside is a warning, and the default is kept. */
  readonly isLenient?: boolean;
  /** Only that it is no map is lenient. */
  readonly isKindLenient?: boolean;
  /** Filled with the defaults of its fields when it is missing. */
  readonly isFilled?: boolean;
  /** Never shown: keys, passwords. */
  readonly isSecret?: boolean;
  /** The key beside it that wins; this one is then not looked at. */
  readonly overriddenBy?: string;
  /** Its bounds hold only while that key is not there. */
  readonly boundsYieldTo?: string;
  /** A sibling key with the same value in milliseconds. Both get the same value; this key wins. */
  readonly millisecondsIn?: string;
  /** Only for these bindings. */
  readonly bindings?: readonly string[];
  /** Why it does nothing: OpenZiti takes the key and does nothing with it either. */
  readonly isLegacy?: boolean;
  /** Known, checked, and without effect in this version. */
  readonly isUnsupported?: boolean;
  /** Not among the requirement's keys but among OpenZiti's. */
  readonly isExtra?: boolean;
  /** What the annotated example shows; `commented`: behind a #. */
  readonly example?: unknown;
  readonly isCommented?: boolean;
}

/** Where a value stands, and what decoding it may look at. */
export interface DecodePlace {
  /** `listeners[0].options`; the root is ''. */
  readonly path: string;
  readonly interfaces: NetworkInterfaces;
}

declare const FILE_VALUE: unique symbol;
declare const VALUE: unique symbol;
declare const NAME: unique symbol;

/** `Name`: the key of the value in the configuration where it is another than in the file. */
export interface Field<FileValue = unknown, Value = unknown, Name extends string = string> {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly description?: string;
  readonly notes?: FieldNotes;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly properties?: Fields;
  readonly required?: readonly string[];
  readonly items?: Field;
  readonly minItems?: number;
  readonly isOptional?: boolean;
  /** Checked and shown, and no part of the configuration. */
  readonly isUnread?: boolean;
  readonly as?: string;
  /** Takes the decoded fields of a section, the decoded items of a list, else the value of the file. */
  readonly decode?: (value: never, place: DecodePlace) => unknown;
  readonly [FILE_VALUE]?: FileValue;
  readonly [VALUE]?: Value;
  readonly [NAME]?: Name;
}

export type Fields = Readonly<Record<string, Field>>;
/** Says nothing of the fields, so that the type of each is inferred from its own words alone. */
type AnyFields = Readonly<Record<string, object>>;

/** The value of a field in a file, with its default. */
export type FileValueOf<F> = F extends Field<infer FileValue> ? FileValue : never;
/** The value of a field in the configuration. */
export type ConfigOf<F> = F extends Field<unknown, infer Value> ? Value : never;
type NameOf<F> = F extends Field<unknown, unknown, infer Name> ? Name : never;

type FileFields<P> = { readonly [K in keyof P]: FileValueOf<P[K]> };
export type ConfigFields<P> = {
  readonly [
    K in keyof P as [ConfigOf<P[K]>] extends [never]
      ? never
      : [NameOf<P[K]>] extends [never]
        ? K
        : NameOf<P[K]>
  ]: ConfigOf<P[K]>;
};

interface Words<FileValue, Name extends string> extends FieldNotes {
  readonly about: string;
  readonly default?: FileValue;
  readonly as?: Name;
}

interface Decoding<In, Value> {
  readonly decode?: (value: In, place: DecodePlace) => Value;
}

function describedBy(type: Field['type'], words: Words<unknown, string> & Decoding<never, unknown>): Field {
  const { about, default: value, as, decode, ...notes } = words;
  return {
    ...(type === undefined ? {} : { type }),
    description: about,
    notes,
    ...(value === undefined ? {} : { default: value }),
    ...(as === undefined ? {} : { as }),
    ...(decode === undefined ? {} : { decode }),
  };
}

/** Decoded as its kind is, or by `decode` from the text. */
export function text<Kind extends TextKind = 'text', Value = KindValue<Kind>, Name extends string = never>(
  words: Words<string, Name> & Decoding<string, Value> & { readonly kind?: Kind },
): Field<string, Value, Name> {
  return describedBy('string', { kind: 'text', ...words }) as Field<string, Value, Name>;
}

/** Decoded as milliseconds that a timer can hold. `least`, `most` and `default` are milliseconds too. */
export function duration<Value = number, Name extends string = never>({
  default: ms,
  decode = (ms) => ms as Value,
  ...words
}: Words<number, Name> & Decoding<number, Value>): Field<string, Value, Name> {
  return describedBy('string', {
    kind: 'duration',
    ...words,
    ...(ms === undefined ? {} : { default: formatGoDuration(ms) }),
    decode: (value: string, place) => decode(timerMs(parseGoDuration(value)!), place),
  }) as Field<string, Value, Name>;
}

export function integer<Value = number, Name extends string = never>(
  words: Words<number, Name> & Decoding<number, Value>,
): Field<number, Value, Name> {
  return describedBy('integer', words) as Field<number, Value, Name>;
}

export function number<Name extends string = never>(words: Words<number, Name>): Field<number, number, Name> {
  return describedBy('number', words) as Field<number, number, Name>;
}

export function flag<Name extends string = never>(
  words: Words<boolean, Name>,
): Field<boolean, boolean, Name> {
  return describedBy('boolean', words) as Field<boolean, boolean, Name>;
}

export function oneOf<const T extends string, Value = T, Name extends string = never>(
  values: readonly T[],
  words: Words<NoInfer<T>, Name> & Decoding<T, Value>,
): Field<T, Value, Name> {
  return { ...describedBy('string', words), enum: values } as Field as never;
}

/** `default`: when the key is missing, if that differs from an empty section. */
export function section<P extends AnyFields, Value = ConfigFields<P>, Name extends string = never>(
  properties: P,
  words: Words<Readonly<Record<string, unknown>>, Name> & Decoding<ConfigFields<P>, Value>,
): Field<FileFields<P>, Value, Name> {
  const fields = properties as Fields;
  const required = Object.keys(fields).filter((key) => fields[key]!.isOptional !== true);
  return { ...describedBy('object', words), properties: fields, required } as Field as never;
}

export function list<F extends object, Value = readonly ConfigOf<F>[], Name extends string = never>(
  items: F,
  {
    minItems,
    ...words
  }: Words<readonly FileValueOf<F>[], Name> &
    Decoding<readonly ConfigOf<F>[], Value> & { readonly minItems?: number },
): Field<readonly FileValueOf<F>[], Value, Name> {
  const bound = minItems === undefined ? {} : { minItems };
  return { ...describedBy('array', words), items, ...bound } as Field as never;
}

/** The configuration holds undefined where the key is missing, and an empty list for a list. */
export function optional<F extends object>(
  field: F,
): Field<
  FileValueOf<F> | undefined,
  [FileValueOf<F>] extends [readonly unknown[]] ? ConfigOf<F> : ConfigOf<F> | undefined,
  NameOf<F>
> {
  return { ...field, isOptional: true } as Field as never;
}

/** A field that only checks or other fields use; the configuration has no such key. */
export function unread<F extends object>(field: F): Field<FileValueOf<F>, never, never> {
  return { ...field, isUnread: true } as Field as never;
}

/** A key that is known, checked, and without effect in this version. */
export function unsupported<F extends object>(field: F): Field<FileValueOf<F>, never, never> {
  return unread({ ...field, notes: { ...notesOf(field), isUnsupported: true } });
}

/** A key that OpenZiti knows and does nothing with; its value is not looked at. */
export function legacy(about: string): Field<unknown, never, never> {
  return unread(optional(describedBy(undefined, { about, isLegacy: true, isExtra: true })));
}

/** Node's timers hold no longer time. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export function timerMs(milliseconds: number): number {
  return Math.min(milliseconds, MAX_TIMER_MS);
}

/** Adds the path to a list item, by which problems and logs name it. */
export function withPath<T>(fields: T, { path }: DecodePlace): T & { readonly path: string } {
  return { path, ...fields };
}

export function notesOf(field: Field): FieldNotes {
  return field.notes ?? {};
}

/** Passwords, and keys that are not just paths. */
export function isPrivateText({ isSecret, kind }: FieldNotes, value: string): boolean {
  if (isSecret !== true) return false;
  return kind !== 'key' || !/^(?:file:)?[^:]+$/.test(value) || value.includes('-----BEGIN');
}
