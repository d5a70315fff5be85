/**
 * The fields of the router file. A field defines its checks, default, description and decoder. The types of its value
 * in the file (`FileValue`) and in the configuration (`Value`) are inferred. Values of the file are texts such as `5s`.
 * A field with a default always has a value after the file was read.
 */
import { formatGoDuration, parseGoDuration } from '#base';
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
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean' | undefined;
  readonly description?: string;
  readonly notes?: FieldNotes;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Field>>;
  readonly required?: readonly string[];
  readonly items?: Field;
  readonly minItems?: number | undefined;
  /** Checked and shown, but not part of the configuration. */
  readonly isUnread?: boolean;
  readonly as?: string | undefined;
  /** Converts the decoded fields of a section, the decoded items of a list, or otherwise the value of the file. */
  readonly decode?: ((value: never, place: DecodePlace) => unknown) | undefined;
  readonly [FILE_VALUE]?: FileValue;
  readonly [VALUE]?: Value;
  readonly [NAME]?: Name;
}

/** Does not constrain the fields, so that the type of each is inferred from its own definition. */
type AnyFields = Readonly<Record<string, object>>;

/** The value of a field in a file, with its default. */
export type FileValueOf<F> = F extends Field<infer FileValue> ? FileValue : never;
/** The value of a field in the configuration. */
export type ConfigOf<F> = F extends Field<unknown, infer Value> ? Value : never;
type NameOf<F> = F extends Field<unknown, unknown, infer Name> ? Name : never;

type KeyOf<K> = K extends `${infer Key}?` ? Key : K;
type IfOptional<K, T> = K extends `${string}?` ? T : never;

type FileFields<P> = {
  readonly [K in keyof P as KeyOf<K>]: FileValueOf<P[K]> | IfOptional<K, undefined>;
};
/** If an optional key is missing, the configuration contains undefined, or an empty list for a list. */
export type ConfigFields<P> = {
  readonly [
    K in keyof P as [ConfigOf<P[K]>] extends [never]
      ? never
      : [NameOf<P[K]>] extends [never]
        ? KeyOf<K>
        : NameOf<P[K]>
  ]: ConfigOf<P[K]> | ([FileValueOf<P[K]>] extends [readonly unknown[]] ? never : IfOptional<K, undefined>);
};

interface Words<FileValue, Name extends string> extends Omit<FieldNotes, 'kind'> {
  readonly default?: FileValue | undefined;
  readonly as?: Name;
}

interface Decoding<In, Value> {
  readonly decode?: (value: In, place: DecodePlace) => Value;
}

function describedBy(
  type: Field['type'],
  description: string,
  { default: value, as, decode, ...notes }: Words<unknown, string> & Pick<Field, 'decode'> & FieldNotes,
): Field {
  return { type, description, notes, default: value, as, decode };
}

/** Decoded by its kind, or from the text by `decode`. */
export function text<Kind extends TextKind, Value = KindValue<Kind>, Name extends string = never>(
  about: string,
  kind: Kind,
  words: Words<string, Name> & Decoding<string, Value> = {},
): Field<string, Value, Name> {
  return describedBy('string', about, { kind, ...words }) as Field<string, Value, Name>;
}

/** Decoded to whole milliseconds within the range of timers. `least`, `most` and `default` are milliseconds, too. */
export function duration<Value = number, Name extends string = never>(
  about: string,
  { default: ms, decode = (ms) => ms as Value, ...words }: Words<number, Name> & Decoding<number, Value>,
): Field<string, Value, Name> {
  return describedBy('string', about, {
    kind: 'duration',
    ...words,
    default: ms === undefined ? undefined : formatGoDuration(ms),
    decode: (value: string, place) => decode(timerMs(parseGoDuration(value)!), place),
  }) as Field<string, Value, Name>;
}

export function integer<Value = number, Name extends string = never>(
  about: string,
  words: Words<number, Name> & Decoding<number, Value> = {},
): Field<number, Value, Name> {
  return describedBy('integer', about, words) as Field<number, Value, Name>;
}

export function number<Name extends string = never>(
  about: string,
  words: Words<number, Name>,
): Field<number, number, Name> {
  return describedBy('number', about, words) as Field<number, number, Name>;
}

export function flag<Name extends string = never>(
  about: string,
  words: Words<boolean, Name> = {},
): Field<boolean, boolean, Name> {
  return describedBy('boolean', about, words) as Field<boolean, boolean, Name>;
}

export function oneOf<const T extends string, Value = T, Name extends string = never>(
  about: string,
  values: readonly T[],
  words: Words<NoInfer<T>, Name> & Decoding<T, Value>,
): Field<T, Value, Name> {
  return { ...describedBy('string', about, words), enum: values } as Field as never;
}

/**
 * Returns a function that takes the fields; a key that ends in `?` is optional in the file. `default` is the value for a
 * missing section, if it differs from an empty one.
 */
export function section<Name extends string = never>(
  about: string,
  words: Words<Readonly<Record<string, unknown>>, Name> = {},
) {
  return <P extends AnyFields, Value = ConfigFields<P>>(
    fields: P,
    decode?: (fields: ConfigFields<NoInfer<P>>, place: DecodePlace) => Value,
  ): Field<FileFields<P>, Value, Name> => {
    const named = Object.entries(fields).map(([key, field]) => [key.replace('?', ''), field] as const);
    const required = Object.keys(fields).filter((key) => !key.endsWith('?'));
    const described = describedBy('object', about, { ...words, decode });
    return { ...described, properties: Object.fromEntries(named), required } as Field as never;
  };
}

export function list<F extends object, Value = readonly ConfigOf<F>[], Name extends string = never>(
  about: string,
  items: F,
  {
    minItems,
    ...words
  }: Words<readonly FileValueOf<F>[], Name> &
    Decoding<readonly ConfigOf<F>[], Value> & { readonly minItems?: number } = {},
): Field<readonly FileValueOf<F>[], Value, Name> {
  return { ...describedBy('array', about, words), items, minItems } as Field as never;
}

/** Returns the values of these fields, from a section that also has others. */
export function partOf<P extends AnyFields>(fields: P, all: ConfigFields<NoInfer<P>>): ConfigFields<P> {
  const read = Object.entries<Field>(fields).filter(([, { isUnread }]) => isUnread !== true);
  const names = read.map(([key, field]) => field.as ?? key.replace('?', ''));
  const values = all as Readonly<Record<string, unknown>>;
  return Object.fromEntries(names.map((name) => [name, values[name]])) as never;
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
  return unread(describedBy(undefined, about, { isLegacy: true, isExtra: true }));
}

/** The longest delay that Node's timers support. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Rounds to whole milliseconds, which timers count. Of more than 0, at least 1 ms is left, because 0 often means none. */
export function timerMs(milliseconds: number): number {
  const whole = milliseconds > 0 ? Math.max(1, Math.round(milliseconds)) : Math.round(milliseconds);
  return Math.min(whole, MAX_TIMER_MS);
}

/** Adds the path to a list item, which problems and log messages show. */
export function withPath<T>(fields: T, { path }: DecodePlace): T & { readonly path: string } {
  return { path, ...fields };
}

export function notesOf(field: Field): FieldNotes {
  return field.notes ?? {};
}

/** Whether a section of a file must have the key: nothing takes the place of a missing value. */
export function isNeeded({ properties = {}, required = [] }: Field, key: string): boolean {
  const field = properties[key]!;
  return required.includes(key) && field.default === undefined && notesOf(field).isFilled !== true;
}

/** Passwords, and keys given as PEM instead of a path. */
export function isPrivateText({ isSecret, kind }: FieldNotes, value: string): boolean {
  if (isSecret !== true) return false;
  return kind !== 'key' || !/^(?:file:)?[^:]+$/.test(value) || value.includes('-----BEGIN');
}
