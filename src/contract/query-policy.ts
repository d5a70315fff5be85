/**
 * Checks the query of a request against the parameters of its operation: every name is known, appears once, and
 * has a valid value. The function is pure; the server turns a problem into a refusal.
 */
import { nearestNames } from '#base';
import { isUuid, parseIsoDuration } from '#domain';
import { stringFormats } from './format-table.ts';
import type { QueryParameter } from './operation.ts';

/** The value of each parameter, or an array if the parameter was sent several times. */
export type QueryValues = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The parts of the message `Value for <property> must be of <type>`. */
export interface ValueProblem {
  readonly property: string;
  readonly type: string;
}

const SUGGESTED_NAMES = 3;
const MAX_SHOWN_CHARS = 64;
const MAX_FILTER_CHARS = 255;

/** An entry of a list may be any text. */
const ANY_TEXT: QueryParameter = { name: '', type: 'string', isRequired: false, summary: '' };

/** Returns undefined if the query is valid. */
export function queryProblem(
  parameters: readonly QueryParameter[],
  query: QueryValues,
): ValueProblem | undefined {
  for (const name of Object.keys(query)) {
    if (!parameters.some((parameter) => parameter.name === name)) return unknownName(name, parameters);
  }
  for (const parameter of parameters) {
    const type = problemOf(parameter, query[parameter.name]);
    if (type !== undefined) return { property: parameter.name, type };
  }
  return undefined;
}

function unknownName(name: string, parameters: readonly QueryParameter[]): ValueProblem {
  const known = parameters.map((parameter) => parameter.name);
  const nearest = nearestNames(name, known, SUGGESTED_NAMES).join(', ');
  return {
    property: name === '' ? 'query' : shownName(name),
    type: nearest === '' ? 'no query parameter, as this operation takes none' : nearest,
  };
}

/** Shortens an unknown name to a length that a response can show. */
export function shownName(name: string): string {
  return name.length <= MAX_SHOWN_CHARS ? name : `${name.slice(0, MAX_SHOWN_CHARS)}…`;
}

/** Splits a sort value into field, direction and surplus parts; `-field` means `field,desc`. */
export function sortParts(value: string): readonly string[] {
  return (value.startsWith('-') ? `${value.slice(1)},desc` : value).split(',');
}

function problemOf(parameter: QueryParameter, value: QueryValues[string]): string | undefined {
  if (value === undefined) return parameter.isRequired ? parameter.type : undefined;
  if (typeof value !== 'string') return 'one value, not several';
  if (parameter.values !== undefined) {
    return parameter.values.includes(value) ? undefined : parameter.values.join(' or ');
  }
  return checks[parameter.type](value, parameter);
}

/** Each check returns the rule that a value breaks, or undefined. */
const checks: Readonly<
  Record<QueryParameter['type'], (value: string, parameter: QueryParameter) => string | undefined>
> = {
  integer(value, { minimum = 0, maximum = Infinity }) {
    const number = /^[0-9]+$/.test(value) ? Number(value) : undefined;
    if (number === undefined || number < minimum) return `integer from ${minimum}`;
    return number > maximum ? `integer from ${minimum} to ${maximum}` : undefined;
  },
  string(value, { pattern, rule }) {
    // PostgreSQL does not accept NUL in text.
    const isText = value !== '' && value.length <= MAX_FILTER_CHARS && !value.includes('\0');
    if (isText && (pattern === undefined || new RegExp(pattern).test(value))) return undefined;
    return rule ?? `string of 1 to ${MAX_FILTER_CHARS} characters without NUL`;
  },
  UUID: (value) => (isUuid(value) ? undefined : 'UUID'),
  'date-time': (value) => (stringFormats['date-time'].check(value) ? undefined : 'date-time'),
  /** The handler checks the bounds, because some of them depend on another value. */
  duration: (value) => (parseIsoDuration(value) === undefined ? 'duration' : undefined),
  list(value, { maximum = Infinity }) {
    const entries = value.split(',');
    const isValid =
      entries.length <= maximum && entries.every((entry) => checks.string(entry, ANY_TEXT) === undefined);
    return isValid ? undefined : `list of 1 to ${maximum} texts with commas between them`;
  },
  sort(value, { fields = [] }) {
    const [field = '', direction = 'asc', ...more] = sortParts(value);
    if (!fields.includes(field)) return fields.join(' or ');
    return more.length > 0 || (direction !== 'asc' && direction !== 'desc') ? 'asc or desc' : undefined;
  },
};
