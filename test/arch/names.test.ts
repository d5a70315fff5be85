// Names and sizes of files, and the forms of TypeScript that we use.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../tools/limit-table.ts';
import { linesOf, sharedNames } from '../../tools/source-measures.ts';
import { sourceFiles, type SourceFile } from '../../tools/source-tree.ts';

const FORBIDDEN_NAMES = [
  'utils',
  'util',
  'helpers',
  'helper',
  'common',
  'misc',
  'types',
  'manager',
  'index',
  'impl',
];

const files = sourceFiles('src', 'bin', 'test', 'tools');
const nameOf = (path: string): string =>
  path.slice(path.lastIndexOf('/') + 1).replace(/(?:\.test|\.d)?\.tsx?$/, '');

test('file and folder names are kebab-case', () => {
  const wrong = files.filter(({ path }) =>
    path.split('/').some((step) => !/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?:\.test|\.d)?(?:\.tsx?)?$/.test(step)),
  );
  assert.deepEqual(
    wrong.map(({ path }) => path),
    [],
  );
});

test('a file is named after the one thing inside, not after a category', () => {
  const wrong = files.filter(({ path }) => {
    const words = nameOf(path).split('-');
    const last = words.at(-1) ?? '';
    return words.length === 1
      ? FORBIDDEN_NAMES.includes(last)
      : /^(?:utils?|helpers?|misc|impl|\d+)$/.test(last);
  });
  assert.deepEqual(
    wrong.map(({ path }) => path),
    [],
  );
});

test('no file is longer than 400 lines, no test longer than 600', () => {
  const long = files
    .map(({ path, text }) => ({ path, lines: linesOf(text) }))
    .filter(({ path, lines }) => lines > (/\.test\.tsx?$/.test(path) ? LIMITS.testLines : LIMITS.fileLines));
  assert.deepEqual(long, []);
});

test('every source file longer than a page begins with a comment that describes it', () => {
  const silent = files.filter(
    ({ path, text }) =>
      !/(?:\.test|\/mod)\.tsx?$/.test(path) &&
      text.split('\n').length > 80 &&
      !/^(?:\/\/|\/\*)/.test(firstProse(text)),
  );
  assert.deepEqual(
    silent.map(({ path }) => path),
    [],
  );
});

test('TypeScript stays erasable and exports stay named', () => {
  const rules: readonly (readonly [RegExp, string])[] = [
    [/^\s*(?:export )?(?:declare )?(?:const )?enum \w/m, 'enum'],
    [/^\s*export default\b/m, 'default export'],
    [/^\s*(?:export )?(?:declare )?namespace \w/m, 'namespace'],
    [/@ts-(?:ignore|nocheck)\b/, 'types switched off'],
  ];
  assert.deepEqual(
    breaches(
      files.filter(({ path }) => path !== 'test/arch/names.test.ts'),
      rules,
    ),
    [],
  );
});

test('a name of a class, an interface or a type is exported by one file', () => {
  assert.deepEqual(sharedNames(files), []);
});

test('no part re-exports another part', () => {
  const wrong = files.filter(
    ({ path, text }) => path.startsWith('src/') && /^export .* from ['"]#/m.test(text),
  );
  assert.deepEqual(
    wrong.map(({ path }) => path),
    [],
  );
});

/**
 * The text after a `#!` line and the imports, because the head comment may stand above or below the imports.
 */
function firstProse(text: string): string {
  const top = text.replace(/^#!.*\n/, '');
  if (/^(?:\/\/|\/\*)/.test(top)) return top;
  return top.replace(/^(?:import[^;]*;\s*)+/, '').trimStart();
}

function breaches(among: readonly SourceFile[], rules: readonly (readonly [RegExp, string])[]): string[] {
  return among.flatMap(({ path, text }) =>
    rules.filter(([pattern]) => pattern.test(text)).map(([, what]) => `${path}: ${what}`),
  );
}
