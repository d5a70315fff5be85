/** Holds an answer to a row's shape: every field that it names and no other, each of its kind. */
import type { Kind, AnswerShape } from './management-row.ts';

const KINDS: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  UUID: (value) => isText(value, /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
  string: (value) => typeof value === 'string' && value !== '',
  'string or null': (value) => value === null || typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  integer: (value) => Number.isInteger(value),
  'integer or null': (value) => value === null || Number.isInteger(value),
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'object or null': (value) => typeof value === 'object' && !Array.isArray(value),
  time: (value) => isText(value, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3,6})?Z$/),
  duration: (value) => isText(value, /^P(?=[\dT])(?:\d+W)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?$/),
  URL: (value) => typeof value === 'string' && URL.canParse(value),
};

/** Every difference, each with its path; none when the value has the shape. */
export function checkShape(value: unknown, shape: AnswerShape, at = 'answer'): string[] {
  if (typeof shape === 'string') {
    return KINDS[shape](value) ? [] : [`${at} is no ${shape}: ${JSON.stringify(value)}`];
  }
  if (isList(shape)) {
    if (!Array.isArray(value)) return [`${at} is no array`];
    return value.flatMap((item, i) => checkShape(item, shape[0], `${at}.${i}`));
  }
  if (!KINDS.object(value)) return [`${at} is no object: ${JSON.stringify(value)}`];
  const fields = value as Readonly<Record<string, unknown>>;
  const known = Object.keys(shape).map((name) => name.replace(/\?$/, ''));
  const others = Object.keys(fields).filter((name) => !known.includes(name));
  return [
    ...others.map((name) => `${at}.${name} should not be there`),
    ...Object.entries(shape).flatMap(([name, inner]) => {
      const field = name.replace(/\?$/, '');
      if (name.endsWith('?') && !(field in fields)) return [];
      return checkShape(fields[field], inner, `${at}.${field}`);
    }),
  ];
}

/** Every name of a field in a value, at any depth. */
export function fieldNames(value: unknown): Set<string> {
  if (typeof value !== 'object' || value === null) return new Set();
  const inner = Object.values(value).map(fieldNames);
  const own = Array.isArray(value) ? [] : Object.keys(value);
  return new Set([...own, ...inner.flatMap((names) => [...names])]);
}

function isList(shape: AnswerShape): shape is readonly [AnswerShape] {
  return Array.isArray(shape);
}

function isText(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value);
}
