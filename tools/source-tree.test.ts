import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importsOf, packageOf, sourceFiles } from './source-tree.ts';

test('the scanner finds every form of import, and marks those of types only', () => {
  const text = [
    `import { a, type B } from './one.ts';`,
    `import type { C } from './two.ts';`,
    `import {`,
    `  type D,`,
    `  type E,`,
    `} from '#three';`,
    `import * as four from "node:four";`,
    `import five, { six } from 'five/deep';`,
    `import 'reflect-metadata';`,
    `export * from './seven.ts';`,
    `export { eight } from './eight.ts';`,
    `const nine = await import('./nine.ts');`,
    `new Worker(new URL('./ten.ts', import.meta.url));`,
    `// import { no } from './comment.ts';`,
    `export const text = 'from';`,
    `export interface From { readonly from: 'x' }`,
    `import eleven, { type Twelve } from 'eleven';`,
  ].join('\n');
  const seen = importsOf(text).map(
    ({ specifier, typeOnly, line }) => `${line} ${specifier}${typeOnly ? ' type' : ''}`,
  );
  assert.deepEqual(seen, [
    '1 ./one.ts',
    '2 ./two.ts type',
    '3 #three type',
    '7 node:four',
    '8 five/deep',
    '9 reflect-metadata',
    '10 ./seven.ts',
    '11 ./eight.ts',
    '17 eleven',
    '12 ./nine.ts',
    '13 ./ten.ts',
  ]);
});

test('a package is named by its first part, or two with a scope', () => {
  assert.deepEqual(['kysely/migration', '@a/b/c', 'node:fs', '#wire', './x.ts'].map(packageOf), [
    'kysely',
    '@a/b',
    undefined,
    undefined,
    undefined,
  ]);
});

test('the scanner reads the whole source tree', () => {
  const files = sourceFiles('src', 'bin', 'test', 'tools');
  assert.ok(files.some(({ path }) => path === 'src/base/mod.ts'));
  assert.ok(files.some(({ path, imports }) => path.endsWith('source-tree.test.ts') && imports.length >= 3));
});
