/**
 * Regular expressions of other people, of a kind whose search is short. Repeated groups, groups that look around, braces and
 * references are refused, and more than two repetitions, so that no text takes more than the square of its length for each
 * alternative.
 */
const MAX_PATTERN_CHARS = 200;
const MAX_REPEATS = 2;
/** Longer texts match nothing. */
const MAX_TEXT_CHARS = 256;

/** Returns a text if the pattern is refused. Every text matches without one. */
export function shortPatternOf(pattern: unknown): ((text: string) => boolean) | string {
  if (pattern === undefined || pattern === '') return () => true;
  if (typeof pattern !== 'string') return 'is not a text';
  if (pattern.length > MAX_PATTERN_CHARS) return `has more than ${MAX_PATTERN_CHARS} characters`;
  const plain = pattern
    .replaceAll(/\\[.^$*+?|[\]\\/()-]/g, 'x')
    .replaceAll(/\[[^\]]*\]/g, 'x')
    .replaceAll('(?:', '(');
  if (/[{}\\]|\(\?|\)[*+?]/.test(plain))
    return 'has repeated groups, braces, or escapes and groups that are not supported';
  if ((plain.match(/[*+?]/g)?.length ?? 0) > MAX_REPEATS) return `repeats more than ${MAX_REPEATS} times`;
  let expression: RegExp;
  try {
    expression = new RegExp(pattern, 'u');
  } catch {
    return 'is no regular expression';
  }
  return (text) => text.length <= MAX_TEXT_CHARS && expression.test(text);
}
