import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileProblemLine } from '#base';
import { parseYamlFile } from './yaml-file.ts';

interface Sample {
  readonly names: readonly string[];
  readonly size: number;
}

/** As the compiled schema of an object with these two keys reports errors. */
function* errorsOf(value: unknown) {
  const { names = [], size, ...others } = value as { names?: unknown[]; size?: unknown };
  const error = (instancePath: string, keyword: string, message: string, params = {}) => ({
    ...{ instancePath, keyword, message, params },
  });
  for (const [i, name] of names.entries())
    if (typeof name !== 'string') yield error(`/names/${i}`, 'type', 'must be string');
  if (size === undefined) yield error('', 'required', 'is incomplete', { requiredProperties: ['size'] });
  else if (typeof size !== 'number') yield error('/size', 'type', 'must be integer');
  for (const key of Object.keys(others)) yield error(`/${key}`, 'boolean', 'is false');
}

const schema = {
  Check: (value: unknown): value is Sample => errorsOf(value).next().done === true,
  Errors: errorsOf,
};

function linesOf(text: string): string[] {
  const parsed = parseYamlFile<Sample>(text, {
    maxLength: 200,
    schema,
    messageFor: (keyword) => (keyword === 'boolean' ? 'is not a field here' : undefined),
    rules: ({ names, size }) =>
      names.length === size ? [] : [[['size'], `must be the number of names, ${names.length}`]],
    whenEmpty: 'must hold names',
  });
  return 'value' in parsed ? [] : parsed.problems.map((problem) => fileProblemLine('f', problem));
}

test('every problem has its line and column, its path and the value', () => {
  assert.deepEqual(linesOf('size: 1\nnames: [a]\n'), []);
  assert.deepEqual(linesOf('names: [a, 5]\nsize: x\nmore: 1\n'), [
    'f:1:12 error names[1]: must be string (given 5)',
    'f:2:1 error size: must be integer (given "x")',
    'f:3:1 error more: is not a field here (given 1)',
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
