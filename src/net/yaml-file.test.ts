import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileProblemLine, Part, Type } from '#base/shapes';
import { parseYamlFile } from './yaml-file.ts';

const schema = Part.closed({ names: Type.Array(Type.String()), size: Type.Integer() });

function linesOf(text: string): string[] {
  const parsed = parseYamlFile(text, {
    maxLength: 200,
    schema,
    rules: ({ names, size }) =>
      names.length === size ? [] : [[['size'], `must be the number of names, ${names.length}`]],
    whenEmpty: 'must hold names',
  });
  return 'value' in parsed ? [] : parsed.problems.map((problem) => fileProblemLine('f', problem));
}

test('every problem has its line and column, its path and the value', () => {
  assert.deepEqual(linesOf('size: 1\nnames: [a]\n'), []);
  assert.deepEqual(linesOf('names: [a, 5]\nsize: x\nmore: 1\n'), [
    'f:1:12 error names[1]: must be a text (given 5)',
    'f:2:1 error size: must be a whole number (given "x")',
    'f:3:1 error more: is not a field here; known fields are names, size (given 1)',
  ]);
  assert.deepEqual(linesOf('\nnames: []\n'), ['f:2:1 error: must have size']);
  assert.deepEqual(linesOf('names: [a]\nsize: 3\n'), [
    'f:2:1 error size: must be the number of names, 1 (given 3)',
  ]);
});

test('an unreadable file is a problem of the file', () => {
  assert.deepEqual(linesOf(''), ['f:1:1 error: must hold names']);
  assert.match(linesOf('names: [').join(), /^f:\d+:\d+ error: /);
  assert.match(linesOf('size: 1\nsize: 1\n').join(), /^f:2:1 error: .*unique/);
  assert.deepEqual(linesOf('x'.repeat(201)), ['f:1:1 error: must be smaller than 200 bytes']);
});
