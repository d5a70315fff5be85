/**
 * The rule that a value breaks, in words, for `Value for <property> must be of <rule>`. A value of the wrong JSON
 * type gets the name of the type; any other value gets the rule of its format or the bounds of its schema.
 */
import { brokenRule, stringFormats, type FormatName } from './format-table.ts';

type Keywords = Readonly<Record<string, unknown>>;

/** Returns the words for a value that is missing or has another JSON type. */
export function typeWord(schema: Keywords, isMissing: boolean): string {
  const { type, format } = schema;
  if (isMissing && isFormat(format)) return stringFormats[format].saidAs;
  if (Array.isArray(type)) return String(type[0]);
  return typeof type === 'string' ? type : 'object';
}

/** Returns the words for a value of the right JSON type that breaks another keyword. */
export function ruleWords(schema: Keywords, value: unknown): string {
  const { format, pattern, title, uniqueItems } = schema;
  if (isFormat(format) && typeof value === 'string' && !stringFormats[format].check(value)) {
    return brokenRule(format, value);
  }
  // The title of a schema has the rule of a pattern that is no format, and the rule by which a value is not allowed.
  if ((pattern !== undefined || schema['not'] !== undefined) && typeof title === 'string') return title;
  const type = typeWord(schema, false);
  switch (type) {
    case 'string':
      return `string${lengthWords(schema, 'minLength', 'maxLength', 'character')}`;
    case 'array': {
      const items = lengthWords(schema, 'minItems', 'maxItems', 'item');
      return `array${items}${uniqueItems === true ? ', each of them once' : ''}`;
    }
    case 'object':
      return `object${lengthWords(schema, 'minProperties', 'maxProperties', 'property')}`;
    default:
      return `${type}${boundWords(schema)}`;
  }
}

function isFormat(format: unknown): format is FormatName {
  return typeof format === 'string' && Object.hasOwn(stringFormats, format);
}

function boundWords({ minimum, maximum }: Keywords): string {
  if (minimum === undefined) return maximum === undefined ? '' : ` up to ${maximum as number}`;
  return maximum === undefined
    ? ` from ${minimum as number}`
    : ` from ${minimum as number} to ${maximum as number}`;
}

function lengthWords(schema: Keywords, leastName: string, mostName: string, thing: string): string {
  const least = schema[leastName] as number | undefined;
  const most = schema[mostName] as number | undefined;
  const plural = thing.endsWith('y') ? `${thing.slice(0, -1)}ies` : `${thing}s`;
  if (most !== undefined) {
    const noun = most === 1 ? thing : plural;
    return least === undefined ? ` of at most ${most} ${noun}` : ` of ${least} to ${most} ${noun}`;
  }
  return least === undefined ? '' : ` of at least ${least} ${least === 1 ? thing : plural}`;
}
