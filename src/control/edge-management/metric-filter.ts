/**
 * Filters of metrics: regular expressions of administrators, of a kind whose search is short. Groups, braces and references
 * are refused, and more than two repetitions, so that no name takes more than the square of its length.
 */
const MAX_PATTERN_CHARS = 200;
const MAX_REPEATS = 2;
/** Longer names match nothing. */
const MAX_NAME_CHARS = 256;

/** Returns a text if the filter is refused. Everything passes without one. */
export function metricFilterOf(pattern: unknown): ((text: string) => boolean) | string {
  if (pattern === undefined || pattern === '') return () => true;
  if (typeof pattern !== 'string') return 'is not a text';
  if (pattern.length > MAX_PATTERN_CHARS) return `has more than ${MAX_PATTERN_CHARS} characters`;
  const plain = pattern.replaceAll(/\\[.^$*+?|[\]\\/-]/g, 'x').replaceAll(/\[[^\]]*\]/g, 'x');
  if (/[(){}\\]/.test(plain)) return 'has groups, braces or escapes that are not supported';
  if ((plain.match(/[*+?]/g)?.length ?? 0) > MAX_REPEATS) return `repeats more than ${MAX_REPEATS} times`;
  let expression: RegExp;
  try {
    expression = new RegExp(pattern, 'u');
  } catch {
    return 'is no regular expression';
  }
  return (text) => text.length <= MAX_NAME_CHARS && expression.test(text);
}
