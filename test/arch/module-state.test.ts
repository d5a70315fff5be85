// A module has no variable that changes: what changes is a field of an object, and the one that uses it owns it. Otherwise all
// users of a process, and all tests of one, share a state that no signature shows.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTest, sourceFiles } from './source-tree.ts';

const MODULE_LET = /^(?:export )?(?:let|var) (?<name>[\w$]+|[[{])/gm;

/** Variables that are left, with the reason. */
const LEFT: ReadonlyMap<string, string> = new Map([
]);

function moduleLets(): string[] {
  return sourceFiles('src', 'bin')
    .filter(({ path }) => !isTest(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(MODULE_LET)].map(({ groups }) => `${path} ${groups!['name']}`),
    );
}

test('no module of the product has a variable that changes', () => {
  const remedy = 'make it a field of the object that uses it; `lazy` of #base makes a value once';
  assert.deepEqual(
    moduleLets().filter((variable) => !LEFT.has(variable)),
    [],
    remedy,
  );
});

test('the list of variables that are left names none that is gone', () => {
  const found = new Set(moduleLets());
  assert.deepEqual(
    [...LEFT.keys()].filter((variable) => !found.has(variable)),
    [],
  );
});
