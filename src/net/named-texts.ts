/**
 * Texts that a file names by reference instead of having them in it: `{ fromFile: PATH }` and `{ fromEnv: NAME }`, for
 * passwords and other secrets. No message about them has their content.
 */
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { isJsonObject, messageOf } from '#base';
import type { PlacedProblem, ValuePath } from '#base/shapes';

export interface NamedTextSource {
  /** Paths are relative to it. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface ResolvedValue {
  readonly value: unknown;
  readonly problems: readonly PlacedProblem[];
}

const MAX_TEXT_BYTES = 65_536;

/** Returns the value with each reference replaced by its text, and what is wrong with references. */
export function resolveNamedTexts(value: unknown, source: NamedTextSource): ResolvedValue {
  const problems: PlacedProblem[] = [];
  const resolved = (part: unknown, path: ValuePath): unknown => {
    if (Array.isArray(part)) return part.map((each: unknown, at) => resolved(each, [...path, String(at)]));
    if (!isJsonObject(part)) return part;
    const text = textOf(part, source);
    if (typeof text === 'string') return text;
    if (text !== undefined) {
      problems.push([path, text.problem]);
      return '';
    }
    return Object.fromEntries(
      Object.entries(part).map(([name, each]) => [name, resolved(each, [...path, name])]),
    );
  };
  return { value: resolved(value, []), problems };
}

/** Returns undefined for an object that is no reference. */
function textOf(
  part: Readonly<Record<string, unknown>>,
  { folder, env }: NamedTextSource,
): string | { readonly problem: string } | undefined {
  const [name, ...others] = Object.keys(part);
  if (others.length > 0 || (name !== 'fromFile' && name !== 'fromEnv')) return undefined;
  const place = part[name];
  if (typeof place !== 'string' || place === '') return { problem: `${name} must be a text` };
  if (name === 'fromEnv') return env[place] ?? { problem: `the environment variable ${place} is not set` };
  const path = resolve(folder, place);
  try {
    if (statSync(path).size > MAX_TEXT_BYTES)
      return { problem: `${path} is larger than ${MAX_TEXT_BYTES} bytes` };
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    return { problem: `cannot read ${path}: ${messageOf(error)}` };
  }
}
