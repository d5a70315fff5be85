/**
 * Puts what a person typed onto a newer state: fields that the person changed keep what was typed, all others get the newer
 * value. Objects are merged field by field, lists and texts are one value. Pure.
 */
type Fields = Readonly<Record<string, unknown>>;

/** `before` is the state that `typed` was made from. */
export function mergeTyped<T>(before: T, typed: T, now: T): T {
  return merged(before, typed, now) as T;
}

function merged(before: unknown, typed: unknown, now: unknown): unknown {
  if (isSame(before, typed)) return now;
  if (!isFields(before) || !isFields(typed) || !isFields(now)) return typed;
  const names = new Set([...Object.keys(typed), ...Object.keys(now)]);
  const entries = [...names].map((name) => [name, merged(before[name], typed[name], now[name])] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
