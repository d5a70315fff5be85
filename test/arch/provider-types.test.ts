// The row of a type of auth provider has all that is particular about it (ADR 0081): other product code asks the table.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AUTH_PROVIDER_TYPES } from '#domain/provider-types';
import { isTest, sourceFiles } from '../../tools/source-tree.ts';

const TABLE = 'src/domain/provider-types/';
const NAMED = new RegExp(`['"](?:${AUTH_PROVIDER_TYPES.join('|')})['"]`, 'g');

test('no product file outside the table compares with the name of a type of auth provider', () => {
  const wrong = sourceFiles('src', 'bin')
    .filter(({ path }) => !isTest(path) && !path.startsWith(TABLE))
    .flatMap(({ path, text }) =>
      [...text.matchAll(NAMED)].map(
        ({ 0: name, index }) => `${path}:${text.slice(0, index).split('\n').length} names ${name}`,
      ),
    );
  assert.deepEqual(wrong, []);
});
