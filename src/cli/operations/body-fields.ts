/**
 * The options that stand for the fields of a body, from its schema: texts, choices, switches, lists that are repeated,
 * objects as JSON. And back: from the options that were given to the body that is sent.
 */
import { InvalidArgumentError, Option } from 'commander';
import { parseDurationText } from '../duration-text.ts';

export interface BodyField {
  readonly name: string;
  readonly kind: 'text' | 'integer' | 'seconds' | 'switch' | 'list' | 'object';
  /** The long option, without its dashes. */
  readonly option: string;
  readonly isRequired: boolean;
  /** There is an option that says "none": null, or an empty list. */
  readonly mayBeNone: boolean;
  readonly choices?: readonly string[];
  /** Each entry of the list is an object, given as JSON. */
  readonly isOfObjects: boolean;
}

interface PropertySchema {
  readonly type?: string | readonly string[];
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

/** What stands for a value in help. */
const VALUES: Readonly<Record<Exclude<BodyField['kind'], 'switch'>, string>> = {
  text: '<text>',
  integer: '<n>',
  seconds: '<time>',
  list: '<text>',
  object: '<json|@file|->',
};

/** Read-only fields are nobody's to give. Throws for a schema that no option can stand for. */
export function bodyFields(schema: object): BodyField[] {
  const { properties = {}, required = [] } = schema as ObjectSchema;
  return Object.entries(properties)
    .filter(([, property]) => property.readOnly !== true)
    .map(([name, property]) => {
      const types = typeof property.type === 'string' ? [property.type] : (property.type ?? []);
      const named = KINDS[types.find((type) => type !== 'null') ?? ''];
      const kind = named === 'integer' && name.endsWith('Seconds') ? 'seconds' : named;
      if (kind === undefined) throw new Error(`no option can stand for ${name}`);
      const choices = property.enum ?? property.items?.enum;
      return {
        name,
        kind,
        option: optionName(name, kind === 'list'),
        isRequired: required.includes(name),
        mayBeNone: types.includes('null') || (kind === 'list' && (property.minItems ?? 0) === 0),
        ...(choices === undefined ? {} : { choices }),
        isOfObjects: property.items?.type === 'object',
      };
    });
}

/** `frontendIds`, which is repeated, as `frontend-id`. The id of an organization is `organization` everywhere. */
export function optionName(name: string, isRepeated = false): string {
  if (name === 'organizationId') return 'organization';
  const one = isRepeated ? name.replace(/s$/, '') : name;
  return one.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

export function optionsOf(field: BodyField): Option[] {
  const { name, kind, option, mayBeNone, choices, isRequired, isOfObjects } = field;
  const said = `field ${name}${isRequired ? ', needed' : ''}`;
  const made: Option[] = [];
  if (kind === 'switch')
    made.push(new Option(`--${option}`, said), new Option(`--no-${option}`, `${said}: false`));
  else {
    const value = isOfObjects ? '<json|@file|->' : VALUES[kind];
    const main = new Option(`--${option} ${value}`, kind === 'list' ? `${said}; may be repeated` : said);
    if (choices !== undefined) main.choices(choices);
    if (kind === 'seconds') main.argParser(secondsOf);
    if (kind === 'list') {
      main.argParser((text: string, before: unknown) => {
        checkChoice(text, choices);
        return [...(Array.isArray(before) ? (before as string[]) : []), text];
      });
    }
    made.push(main);
    if (mayBeNone) made.push(new Option(`--no-${option}`, `${said}: ${kind === 'list' ? 'empty' : 'null'}`));
  }
  return made;
}

/** `24h`, `PT24H`, or a number of seconds as the field has it. */
function secondsOf(text: string): number {
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : parseDurationText(text);
  if (ms !== undefined && ms % 1_000 === 0) return ms / 1_000;
  throw new InvalidArgumentError('must be a time such as 30m, 24h, 7d or PT24H.');
}

function checkChoice(text: string, choices: readonly string[] | undefined): void {
  if (choices === undefined || choices.includes(text)) return;
  throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`);
}

/** What the options given say, over what `base` holds. `readJson` takes JSON, `@file` or `-`. */
export async function bodyOf(
  fields: readonly BodyField[],
  given: Readonly<Record<string, unknown>>,
  base: Readonly<Record<string, unknown>>,
  readJson: (text: string, option: string) => Promise<unknown>,
): Promise<Record<string, unknown>> {
  const body: Record<string, unknown> = { ...base };
  for (const { name, kind, option, isOfObjects } of fields) {
    const value = given[attributeName(option)];
    if (value === undefined) continue;
    if (value === false && kind !== 'switch') body[name] = kind === 'list' ? [] : null;
    else if (isOfObjects)
      body[name] = await Promise.all((value as string[]).map((each) => readJson(each, `--${option}`)));
    else if (kind === 'object') body[name] = await readJson(value as string, `--${option}`);
    else if (kind === 'integer') body[name] = Number(value);
    else body[name] = value;
  }
  return body;
}

/** How commander calls an option's value. */
export function attributeName(option: string): string {
  return option.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
