/**
 * Checks the query of a request against the parameters of its operation: every name is known, stands once, and has a
 * value that its parameter takes. Pure: what refuses is the server, in the API's one sentence.
 */
import { nearestNames } from '#base';
import { isUuid, parseIsoDuration } from '#domain';
import { stringFormats } from './format-table.ts';
import type { QueryParameter } from './operation.ts';

/** A value for each name, an array where the name was sent several times. */
export type QueryValues = Readonly<Record<string, string | readonly string[] | undefined>>;

/** What stands in `Value for <property> must be of <type>`. */
export interface ValueProblem {
  readonly property: string;
  readonly type: string;
}

const SUGGESTED_NAMES = 3;
const MAX_SHOWN_CHARS = 64;
const MAX_FILTER_CHARS = 255;

/** Undefined: nothing is wrong with it. */
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

/** A name that a caller made up, cut to a length that an answer can show. */
export function shownName(name: string): string {
  return name.length <= MAX_SHOWN_CHARS ? name : `${name.slice(0, MAX_SHOWN_CHARS)}…`;
}

/** Field, direction, and what is too much; `-field` is `field,desc`. */
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

/** Each answers the rule that a value breaks. */
const checks: Readonly<
  Record<QueryParameter['type'], (value: string, parameter: QueryParameter) => string | undefined>
> = {
  integer(value, { minimum = 0, maximum = Infinity }) {
    const number = /^[0-9]+$/.test(value) ? Number(value) : undefined;
    if (number === undefined || number < minimum) return `integer from ${minimum}`;
    return number > maximum ? `integer from ${minimum} to ${maximum}` : undefined;
  },
  string(value, { pattern, rule }) {
    // PostgreSQL takes no text with a NUL.
    const isText = value !== '' && value.length <= MAX_FILTER_CHARS && !value.includes('\0');
    if (isText && (pattern === undefined || new RegExp(pattern).test(value))) return undefined;
    return rule ?? `string of 1 to ${MAX_FILTER_CHARS} characters without NUL`;
  },
  UUID: (value) => (isUuid(value) ? undefined : 'UUID'),
  'date-time': (value) => (stringFormats['date-time'].check(value) ? undefined : 'date-time'),
  /** The bounds are the handler's: some depend on another value. */
  duration: (value) => (parseIsoDuration(value) === undefined ? 'duration' : undefined),
  sort(value, { fields = [] }) {
    const [field = '', direction = 'asc', ...more] = sortParts(value);
    if (!fields.includes(field)) return fields.join(' or ');
    return more.length > 0 || (direction !== 'asc' && direction !== 'desc') ? 'asc or desc' : undefined;
  },
};
