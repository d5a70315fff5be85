import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from './schema-builder.ts';
import * as Part from './schema-parts.ts';
import { schemaProblems } from './schema-problems.ts';

const row = Part.closed({
  name: Part.text(3),
  ports: Type.Optional(Type.Array(Part.port(), { maxItems: 2 })),
});
const distinct = {
  rule: 'a list without repeated entries',
  check: (list: unknown) => new Set(list as unknown[]).size === (list as unknown[]).length,
};
const schema = Part.closed({
  rows: Type.Array(row),
  words: Type.Optional(Part.refined(Type.Array(Part.text()), distinct)),
  byName: Type.Optional(Part.mapOf(Part.flag())),
});

function problems(value: unknown, most = 100): string[] {
  return schemaProblems(schema, value, most).map(([path, rule]) => `${path.join('/')} ${rule}`);
}

test('each part of a value has its first problem, wherever the others are', () => {
  const value = {
    rows: [{ name: 'abc' }, { name: 'abcd', ports: [1, 'x', 70_000] }, { ports: [1, -1], nmae: 1 }, 7],
    byName: { a: true, b: 1 },
    words: ['a', 'a'],
    other: 1,
  };
  assert.deepEqual(problems(value), [
    'rows/1/name must be a text of at most 3 characters',
    'rows/1/ports/1 must be a whole number from 0 to 65535',
    'rows/1/ports/2 must be a whole number from 0 to 65535',
    'rows/2 must have name',
    'rows/2/ports/1 must be a whole number from 0 to 65535',
    'rows/2/nmae is not a field here; known fields are name, ports',
    'rows/3 must be an object',
    'byName/b must be true or false',
    'words must be a list without repeated entries',
    'other is not a field here; known fields are rows, words, byName',
  ]);
  assert.equal(problems(value, 4).length, 4);
});

test('a part whose own form is wrong has one problem', () => {
  assert.deepEqual(problems(5), [' must be an object']);
  assert.deepEqual(problems({ rows: {} }), ['rows must be a list']);
  const tooMany = { rows: [{ name: 'a', ports: [1, 2, 3] }] };
  assert.deepEqual(problems(tooMany), ['rows/0/ports must be a list of at most 2 entries']);
  assert.deepEqual(problems({ rows: [] }), []);
});
