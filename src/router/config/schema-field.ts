/**
 * What a field of the router file can be: builders of TypeBox schemas with the notes that checks, defaults, the JSON
 * Schema for editors, the annotated example and the reference page are made from. Values are those of the file:
 * durations are texts such as `5s`. A field with a default is always there once the file is read.
 */
import type {
  Static,
  TArray,
  TBoolean,
  TInteger,
  TNumber,
  TObject,
  TProperties,
  TSchema,
  TSchemaOptions,
  TString,
  TUnsafe,
} from 'typebox';
import { Type } from '#contract/schema';
import { formatGoDuration } from './go-duration.ts';

/** What a text means; `text-kinds.ts` says what each takes. */
export type TextKind =
  | 'text'
  | 'any-text'
  | 'duration'
  | 'address'
  | 'host-port'
  | 'advertised'
  | 'interface'
  | 'path'
  | 'certificate'
  | 'key'
  | 'cidr'
  | 'ip'
  | 'uri'
  | 'resolver'
  | 'upstream'
  | 'tunnel-mode'
  | 'tunnel-service';

export interface FieldNotes {
  readonly kind?: TextKind;
  /** In the file's own unit; of durations in milliseconds. */
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
  /** The key beside it that says the same in milliseconds; the two are brought into step, and this one wins. */
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

/** A schema with its notes, as checks see it. */
export interface Field extends TSchema {
  readonly type?: string;
  readonly description?: string;
  readonly notes?: FieldNotes;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Field>>;
  readonly required?: readonly string[];
  readonly items?: Field;
  readonly minItems?: number;
}

interface Words extends FieldNotes {
  readonly about: string;
}

interface WithDefault<T> extends Words {
  readonly default?: T;
}

function optionsOf<T>({ about, default: value, ...notes }: WithDefault<T>): TSchemaOptions {
  return { description: about, notes, ...(value === undefined ? {} : { default: value }) };
}

export function text(words: WithDefault<string>): TString {
  return Type.String(optionsOf({ kind: 'text', ...words }));
}

/** `least`, `most` and `default` in milliseconds. */
export function duration({ default: ms, ...words }: WithDefault<number>): TString {
  return Type.String(
    optionsOf({ kind: 'duration', ...words, ...(ms === undefined ? {} : { default: formatGoDuration(ms) }) }),
  );
}

export function integer(words: WithDefault<number>): TInteger {
  return Type.Integer(optionsOf(words));
}

export function number(words: WithDefault<number>): TNumber {
  return Type.Number(optionsOf(words));
}

export function flag(words: WithDefault<boolean>): TBoolean {
  return Type.Boolean(optionsOf(words));
}

export function oneOf<const T extends string>(
  values: readonly T[],
  words: WithDefault<NoInfer<T>>,
): TUnsafe<T> {
  return Type.Unsafe<T>({ type: 'string', enum: values, ...optionsOf(words) });
}

/** `default`: when the key is missing, if that differs from an empty section. */
export function section<T extends TProperties>(
  properties: T,
  words: WithDefault<Readonly<Record<string, unknown>>>,
): TObject<T> {
  return Type.Object(properties, optionsOf(words));
}

export function list<T extends TSchema>(
  items: T,
  { minItems, ...words }: WithDefault<readonly Static<T>[]> & { readonly minItems?: number },
): TArray<T> {
  return Type.Array(items, { ...optionsOf(words), ...(minItems === undefined ? {} : { minItems }) });
}

/** A key that OpenZiti knows and does nothing with; nobody looks at its value. */
export function legacy(about: string): TUnsafe<unknown> {
  return Type.Unsafe<unknown>(optionsOf({ about, isLegacy: true, isExtra: true }));
}

export const optional = Type.Optional;

export function notesOf(field: Field): FieldNotes {
  return field.notes ?? {};
}

/** Passwords, and keys that are not just paths. */
export function isPrivateText({ isSecret, kind }: FieldNotes, value: string): boolean {
  if (isSecret !== true) return false;
  return kind !== 'key' || !/^(?:file:)?[^:]+$/.test(value) || value.includes('-----BEGIN');
}
