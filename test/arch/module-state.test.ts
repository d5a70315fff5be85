// A module has no variable that changes: what changes is a field of an object, and the one that uses it owns it. Otherwise all
// users of a process, and all tests of one, share a state that no signature shows.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moduleVariables } from '../../tools/source-measures.ts';
import { isTest, sourceFiles } from '../../tools/source-tree.ts';

test('no module of the product has a variable that changes', () => {
  const found = sourceFiles('src', 'bin')
    .filter(({ path }) => !isTest(path))
    .flatMap(({ path, text }) => moduleVariables(text).map((name) => `${path} ${name}`));
  const remedy = 'make it a field of the object that uses it; `lazy` of #base makes a value once';
  assert.deepEqual(found, [], remedy);
});
