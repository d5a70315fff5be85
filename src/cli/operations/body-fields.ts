/**
 * Options for the fields of a body, derived from its schema: texts, choices, switches, durations, repeatable
 * lists, objects in a short form or as JSON. Also the way back, from the given options to the body that is sent.
 */
import { InvalidArgumentError, Option } from 'commander';
import { exampleBodyOf, formatDescription } from '#contract';
import { formatIsoDuration } from '#domain';
import { parseDurationText } from '../duration-text.ts';
import { secondsOf } from '../seconds-option.ts';
import { namedByField, type NamedThing } from './named-thing-table.ts';
import { decapital, optionHelp } from './option-help.ts';
import { OPTION_TEXTS } from './option-text-table.ts';
import { VALUE_FORMS, type ValueForm } from './value-form-table.ts';

export interface BodyField {
  readonly name: string;
  readonly kind: 'text' | 'integer' | 'seconds' | 'duration' | 'switch' | 'list' | 'object';
  /** The long option, without its dashes. */
  readonly option: string;
  readonly isRequired: boolean;
  /** Whether there is an option for "none", which means null or an empty list. */
  readonly mayBeNone: boolean;
  readonly choices?: readonly string[] | undefined;
  /** Whether each entry of the list is an object, given in its short form or as JSON. */
  readonly isOfObjects: boolean;
  /** The named resource that the value refers to, if a name is accepted instead of an id. */
  readonly named: NamedThing | undefined;
  readonly schema: PropertySchema;
}

export interface PropertySchema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly items?: PropertySchema;
  readonly minItems?: number;
  readonly readOnly?: boolean;
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, PropertySchema>>;
  readonly required?: readonly string[];
}

const KINDS: Readonly<Record<string, BodyField['kind']>> = {
  string: 'text',
  integer: 'integer',
  boolean: 'switch',
  array: 'list',
  object: 'object',
};
/** Placeholders of values in help, by string format. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  uuid: 'id',
  name: 'name',
  'share-name': 'name',
  'service-name': 'name',
  'share-target': 'url',
  uri: 'url',
  'date-time': 'date-time',
  span: 'duration',
  'email-pattern': 'email',
  'ip-network': 'cidr',
  'ip-address': 'address',
  'path-pattern': 'pattern',
  'terminator-address': 'address',
  'zone-name': 'domain',
};

/** Read-only fields get no option. Throws for a schema that no option can represent. */
export function bodyFields(schema: object): BodyField[] {
  const { properties = {}, required = [] } = schema as ObjectSchema;
  return Object.entries(properties)
    .filter(([, property]) => property.readOnly !== true)
    .map(([name, property]) => {
      const types = typeof property.type === 'string' ? [property.type] : (property.type ?? []);
      const kind = kindOf(name, property, types);
      if (kind === undefined) throw new Error(`no option can represent ${name}`);
      const choices = property.enum ?? property.items?.enum;
      return {
        name,
        kind,
        option: optionName(name, kind === 'list'),
        isRequired: required.includes(name),
        mayBeNone: types.includes('null') || (kind === 'list' && (property.minItems ?? 0) === 0),
        choices,
        isOfObjects: property.items?.type === 'object',
        named: namedByField(name),
        schema: property,
      };
    });
}

function kindOf(
  name: string,
  { format }: PropertySchema,
  types: readonly string[],
): BodyField['kind'] | undefined {
  const kind = KINDS[types.find((type) => type !== 'null') ?? ''];
  if (kind === 'integer' && name.endsWith('Seconds')) return 'seconds';
  return kind === 'text' && format === 'span' ? 'duration' : kind;
}

/**
 * Returns the option's name: `frontendIds`, which may be repeated, becomes `frontend-id`, and an organization id
 * is always `organization`.
 */
export function optionName(name: string, isRepeated = false): string {
  if (name === 'organizationId') return 'organization';
  const one = isRepeated ? name.replace(/s$/, '') : name;
  return one.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

export function optionsOf(field: BodyField): Option[] {
  const { name, kind, option, mayBeNone, choices, isRequired } = field;
  const made: Option[] = [];
  if (kind === 'switch') {
    const description = optionHelp({ description: descriptionOf(field), isRequired });
    made.push(new Option(`--${option}`, description), new Option(`--no-${option}`, `set ${name} to false`));
    return made;
  }
  const main = new Option(`--${option} <${placeholderOf(field)}>`, fieldHelp(field));
  if (choices !== undefined) main.choices(choices);
  if (kind === 'seconds') main.argParser(secondsOf);
  if (kind === 'duration') main.argParser(isoDurationOf);
  if (kind === 'list') main.argParser(collect(choices));
  made.push(main);
  const none = kind === 'list' ? `set ${name} to an empty list` : `set ${name} to null`;
  if (mayBeNone) made.push(new Option(`--no-${option}`, none));
  return made;
}

/** Returns the help text of a field with a value. */
export function fieldHelp(field: BodyField, description = descriptionOf(field)): string {
  const { kind, isRequired, choices, named } = field;
  return optionHelp({
    description,
    isRequired,
    isRepeated: kind === 'list',
    named: named?.what,
    ...(choices === undefined ? { example: exampleOf(field) } : {}),
    ...(isJson(field) ? { note: 'also accepts JSON, @file or -' } : {}),
  });
}

function formOf({ kind, option, isOfObjects }: BodyField): ValueForm | undefined {
  const form = VALUE_FORMS[option];
  return kind === 'object' || isOfObjects || form?.isText === true ? form : undefined;
}

export function placeholderOf(field: BodyField): string {
  const { kind, named, choices, isOfObjects, schema } = field;
  const form = formOf(field);
  if (form !== undefined) return form.placeholder;
  if (kind === 'object' || isOfObjects) return 'json|@file|-';
  if (named !== undefined) return 'id|name';
  if (choices !== undefined) return 'choice';
  if (kind === 'integer') return 'n';
  if (kind === 'seconds' || kind === 'duration') return 'time';
  return PLACEHOLDERS[schema.format ?? schema.items?.format ?? ''] ?? 'text';
}

function isJson({ kind, option, isOfObjects }: BodyField): boolean {
  return VALUE_FORMS[option] !== undefined && (kind === 'object' || isOfObjects);
}

/** Returns the schema's description, or the texts of `OPTION_TEXTS` and of the format. */
function descriptionOf({ name, schema }: BodyField): string {
  if (schema.description !== undefined) return schema.description;
  const format = schema.format ?? schema.items?.format;
  const ofFormat = format === 'name' ? undefined : formatDescription(format);
  // OPTION_TEXTS describes names in general; the description of a stricter name format is more exact.
  const known = name === 'name' && ofFormat !== undefined ? undefined : OPTION_TEXTS[name]?.description;
  const descriptions = [known, ofFormat].filter((text) => text !== undefined);
  return descriptions.length === 0
    ? `the field ${name}`
    : descriptions.map((text) => decapital(text)).join(': ');
}

function exampleOf(field: BodyField): string {
  const { name, kind, schema } = field;
  const form = formOf(field);
  if (form !== undefined) return form.example;
  if (kind === 'duration') return '8h';
  const isFormatted = (schema.format ?? schema.items?.format ?? 'name') !== 'name';
  const known = isFormatted ? undefined : OPTION_TEXTS[name]?.example;
  if (known !== undefined) return known;
  const made = exampleBodyOf((kind === 'list' ? schema.items : schema) as never);
  return typeof made === 'string' ? made : `'${JSON.stringify(made)}'`;
}

/** Converts `24h` to the ISO 8601 form of the API. */
export function isoDurationOf(text: string): string {
  const ms = parseDurationText(text);
  if (ms !== undefined) return formatIsoDuration(ms);
  throw new InvalidArgumentError('must be a duration such as 30m, 24h, 7d or PT24H.');
}

/** Returns a parser for a repeatable option, which appends each value to the previous ones. */
export function collect(choices?: readonly string[]): (text: string, before: unknown) => string[] {
  return (text, before) => {
    if (choices !== undefined && !choices.includes(text))
      throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`);
    return [...(Array.isArray(before) ? (before as string[]) : []), text];
  };
}

/** Reads JSON, `@file` or `-`, or converts another text by the given short form. */
export type ReadValue = (text: string, option: string, form?: ValueForm) => Promise<unknown>;

/** Returns `base` with the fields that the given options set. */
export async function bodyOf(
  fields: readonly BodyField[],
  given: Readonly<Record<string, unknown>>,
  base: Readonly<Record<string, unknown>>,
  readValue: ReadValue,
): Promise<Record<string, unknown>> {
  const body: Record<string, unknown> = { ...base };
  for (const field of fields) {
    const value = given[attributeName(field.option)];
    if (value === undefined) continue;
    const { name, kind } = field;
    if (value === false && kind !== 'switch') body[name] = kind === 'list' ? [] : null;
    else body[name] = await fieldValue(field, value, readValue);
  }
  return body;
}

/** Returns the field value for the texts of an option. */
export async function fieldValue(field: BodyField, value: unknown, readValue: ReadValue): Promise<unknown> {
  const { kind, option, isOfObjects } = field;
  const form = formOf(field);
  const read = (text: string): Promise<unknown> => readValue(text, `--${option}`, form);
  if (isOfObjects) return Promise.all((value as string[]).map(read));
  if (kind === 'object' || form !== undefined) return read(value as string);
  return kind === 'integer' ? Number(value) : value;
}

/** The name under which commander stores an option's value. */
export function attributeName(option: string): string {
  return option.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
