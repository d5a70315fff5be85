/**
 * The fields of the router file. A field defines its checks, default, description and decoder. The types of its value
 * in the file (`FileValue`) and in the configuration (`Value`) are inferred. Values of the file are texts such as `5s`.
 * A field with a default always has a value after the file was read.
 */
import { formatGoDuration, parseGoDuration } from './go-duration.ts';
import type { KindValue, NetworkInterfaces, TextKind } from './text-kinds.ts';

export interface FieldNotes {
  readonly kind?: TextKind;
  /** Lower bound in the unit of the file; in milliseconds for durations. */
  readonly least?: number;
  readonly most?: number;
  /** How a value beyond the bounds is replaced, with a warning. By default, it is an error. */
  readonly beyond?: 'default' | 'clamp';
  /** The unit in milliseconds of whole numbers, for durations that can be written as such. */
  readonly integerUnitMs?: number;
  /** For durations that OpenZiti first converts to text: a bare 0 is valid. */
  readonly isZeroAllowed?: boolean;
  /** A whole number can be written with a fraction of 0. */
  readonly isFractionAllowed?: boolean;
  /** Words are compared without case. */
  readonly isAnyCase?: boolean;
  /** A single text is accepted as a list of one item. */
  readonly isSingleAllowed?: boolean;
  /** An empty value counts as a missing key, with a warning. */
  readonly isEmptyAllowed?: boolean;
  /** Problems inside the value are warnings, and the default is kept. */
  readonly isLenient?: boolean;
  /** Only a value that is no map is treated leniently. */
  readonly isKindLenient?: boolean;
  /** A missing section is filled in with the defaults of its fields. */
  readonly isFilled?: boolean;
  /** Never shown, because it contains keys or passwords. */
  readonly isSecret?: boolean;
  /** The sibling key with precedence; if it is present, this key is not checked. */
  readonly overriddenBy?: string;
  /** The bounds only apply if that key is missing. */
  readonly boundsYieldTo?: string;
  /** A sibling key with the same value in milliseconds. Both get the same value; this key wins. */
  readonly millisecondsIn?: string;
  /** Valid for these bindings only. */
  readonly bindings?: readonly string[];
  /** Has no effect; OpenZiti accepts and ignores the key, too. */
  readonly isLegacy?: boolean;
  /** Known and checked, but without effect in this version. */
  readonly isUnsupported?: boolean;
  /** A key of OpenZiti that the requirement does not list. */
  readonly isExtra?: boolean;
  /** The value in the annotated example; with `isCommented`, it is commented out. */
  readonly example?: unknown;
  readonly isCommented?: boolean;
}

/** The position of a value, and external facts for decoding it. */
export interface DecodePlace {
  /** A path such as `listeners[0].options`; '' for the root. */
  readonly path: string;
  readonly interfaces: NetworkInterfaces;
}

declare const FILE_VALUE: unique symbol;
declare const VALUE: unique symbol;
declare const NAME: unique symbol;

/** `Name` is the key of the value in the configuration if it differs from the key in the file. */
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
  /** Checked and shown, but not part of the configuration. */
  readonly isUnread?: boolean;
  readonly as?: string;
  /** Converts the decoded fields of a section, the decoded items of a list, or otherwise the value of the file. */
  readonly decode?: (value: never, place: DecodePlace) => unknown;
  readonly [FILE_VALUE]?: FileValue;
  readonly [VALUE]?: Value;
  readonly [NAME]?: Name;
}

export type Fields = Readonly<Record<string, Field>>;
/** Does not constrain the fields, so that the type of each is inferred from its own definition. */
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

/** Decoded by its kind, or from the text by `decode`. */
export function text<Kind extends TextKind = 'text', Value = KindValue<Kind>, Name extends string = never>(
  words: Words<string, Name> & Decoding<string, Value> & { readonly kind?: Kind },
): Field<string, Value, Name> {
  return describedBy('string', { kind: 'text', ...words }) as Field<string, Value, Name>;
}

/** Decoded to milliseconds within the range of timers. `least`, `most` and `default` are milliseconds, too. */
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

/** `default` is the value for a missing key, if it differs from an empty section. */
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

/** If the key is missing, the configuration contains undefined, or an empty list for a list. */
export function optional<F extends object>(
  field: F,
): Field<
  FileValueOf<F> | undefined,
  [FileValueOf<F>] extends [readonly unknown[]] ? ConfigOf<F> : ConfigOf<F> | undefined,
  NameOf<F>
> {
  return { ...field, isOptional: true } as Field as never;
}

/** A field that is only checked or used by other fields; it is not part of the configuration. */
export function unread<F extends object>(field: F): Field<FileValueOf<F>, never, never> {
  return { ...field, isUnread: true } as Field as never;
}

/** A key that is known and checked, but without effect in this version. */
export function unsupported<F extends object>(field: F): Field<FileValueOf<F>, never, never> {
  return unread({ ...field, notes: { ...notesOf(field), isUnsupported: true } });
}

/** A key that OpenZiti accepts and ignores; its value is not checked. */
export function legacy(about: string): Field<unknown, never, never> {
  return unread(optional(describedBy(undefined, { about, isLegacy: true, isExtra: true })));
}

/** The longest delay that Node's timers support. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export function timerMs(milliseconds: number): number {
  return Math.min(milliseconds, MAX_TIMER_MS);
}

/** Adds the path to a list item, which problems and log messages show. */
export function withPath<T>(fields: T, { path }: DecodePlace): T & { readonly path: string } {
  return { path, ...fields };
}

export function notesOf(field: Field): FieldNotes {
  return field.notes ?? {};
}

/** Passwords, and keys given as PEM instead of a path. */
export function isPrivateText({ isSecret, kind }: FieldNotes, value: string): boolean {
  if (isSecret !== true) return false;
  return kind !== 'key' || !/^(?:file:)?[^:]+$/.test(value) || value.includes('-----BEGIN');
}
