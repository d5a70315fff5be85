import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { LIMITS } from './limit-table.ts';
import { castsOf, doorNames, functionLengths, moduleVariables } from './source-measures.ts';
import { root } from './source-tree.ts';

test('the length of a function is counted from its first line to its last, in every form', () => {
  const text = [
    'export async function one(',
    '  a: string,',
    '): Promise<void> {',
    '  if (a) {',
    '    b();',
    '  }',
    '}',
    'const two = (): void => {',
    '  c();',
    '};',
    'class Three {',
    '  private *four(a: string): Generator<string> {',
    '    yield a;',
    '  }',
    '}',
  ].join('\n');
  assert.deepEqual(functionLengths(text), [7, 3, 3]);
});

test('names of doors, variables of modules and casts are counted', () => {
  assert.equal(doorNames(`export { a, type B } from './a.ts';\nexport type { C } from './c.ts';\n`), 3);
  assert.deepEqual(moduleVariables('let a = 1;\nexport let b;\nconst c = 1;\n  let d;\n'), ['a', 'b']);
  assert.equal(
    castsOf('const a = b as C;\nconst d = [1] as const;\n// known as E\nconst f = g() as unknown;\n'),
    1,
  );
});

test('lint exempts no file whose functions are short', () => {
  const { overrides } = JSON.parse(readFileSync(join(root, '.oxlintrc.json'), 'utf8')) as {
    readonly overrides: readonly { readonly files: readonly string[]; readonly rules: object }[];
  };
  const exempt = overrides
    .filter(({ rules }) => 'max-lines-per-function' in rules)
    .flatMap(({ files }) => files.filter((path) => !path.includes('*')));
  const short = exempt.filter((path) =>
    functionLengths(readFileSync(join(root, path), 'utf8')).every((length) => length <= LIMITS.functionLines),
  );
  assert.deepEqual(short, []);
});
