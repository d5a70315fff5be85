// An optional property is declared `name?: T | undefined` and given as it is; where the presence of a key matters,
// `definedFields` leaves it out. A conditional spread in their place makes a reader look for a difference that is seldom
// there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sourceFiles } from '../../tools/source-tree.ts';

/**
 * A spread of `{}` or, unless `x` is undefined, of `{ x }`, `{ name: x }` or `{ name: x.field }`; also as `x && { … }`. A
 * single quoted name, which is that of a header, is left out.
 */
const CONDITIONAL_SPREAD =
  /\.\.\.\(\s*(?<value>[\w.#]+) (?:=== undefined\s*\? \{\}\s*:|(?:!== undefined )?&&) \{\s*(?:(?<name>\w+)|\w+: (?<given>[\w.#]+)),?\s*\}\s*\)/g;

function spreads(): string[] {
  return sourceFiles('src', 'bin', 'test', 'tools').flatMap(({ path, text }) =>
    [...text.matchAll(CONDITIONAL_SPREAD)]
      .filter(({ groups }) => {
        const { value, name, given = name } = groups!;
        return given === value || given?.startsWith(`${value}.`);
      })
      .map(
        ({ 0: match, index }) =>
          `${path}:${text.slice(0, index).split('\n').length} ${match.replaceAll(/\s+/g, ' ')}`,
      ),
  );
}

test('optional values are passed on without a conditional spread', () => {
  const remedy = 'declare the property `name?: T | undefined`, or leave it out by `definedFields` of #base';
  assert.deepEqual(spreads(), [], remedy);
});
