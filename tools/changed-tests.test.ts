import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importsOf, type SourceFile } from './source-tree.ts';
import { testsReaching } from './changed-tests.ts';
import { fitting } from './test-selection.ts';

const fileOf = (path: string, text: string): SourceFile => ({ path, text, imports: importsOf(text) });

const TREE = [
  fileOf(
    'src/wire/mod.ts',
    "export { decode } from './codec.ts';\nexport { trace, type Traced } from './trace.ts';\n",
  ),
  fileOf('src/wire/codec.ts', "import type { Bytes } from './bytes.ts';\n"),
  fileOf('src/wire/bytes.ts', ''),
  fileOf('src/wire/trace.ts', ''),
  fileOf('src/wire/codec.test.ts', "import { decode } from './codec.ts';\n"),
  fileOf('src/net/channel.ts', "import { decode } from '#wire';\n"),
  fileOf('src/net/channel.test.ts', "import { open } from './channel.ts';\n"),
  fileOf('src/net/traced.test.ts', "import { trace } from '#wire';\n"),
  fileOf('src/net/thread.test.ts', "new Worker(new URL('./channel.ts', import.meta.url));\n"),
];
const reached = (...changed: readonly string[]) =>
  testsReaching(changed, TREE).map(({ file, distance }) => `${distance} ${file}`);

test('the tests that reach a change are found through types, doors and threads, the nearest first', () => {
  assert.deepEqual(reached('src/wire/bytes.ts'), [
    '2 src/wire/codec.test.ts',
    '3 src/net/channel.test.ts',
    '3 src/net/thread.test.ts',
  ]);
});

test('a door leads only those that take a name to the file of that name', () => {
  assert.deepEqual(reached('src/wire/trace.ts'), ['1 src/net/traced.test.ts']);
});

test('a change of the door itself concerns all that take names from it', () => {
  assert.deepEqual(reached('src/wire/mod.ts'), [
    '1 src/net/traced.test.ts',
    '2 src/net/channel.test.ts',
    '2 src/net/thread.test.ts',
  ]);
});

test('a changed test file reaches itself, and a document no test', () => {
  assert.deepEqual(reached('src/net/traced.test.ts', 'docs/guide.md'), ['0 src/net/traced.test.ts']);
});

test('a run of what changed has near files as long as its time lasts, and changed test files in any case', () => {
  const reaching = [
    { file: 'test/e2e/recovery.test.ts', distance: 0 },
    { file: 'src/wire/a.test.ts', distance: 1 },
    { file: 'src/wire/b.test.ts', distance: 2 },
    { file: 'src/wire/c.test.ts', distance: 3 },
    { file: 'test/e2e/replicas.test.ts', distance: 3 },
  ];
  const durations = new Map([
    ['test/e2e/recovery.test.ts', 30_000],
    ['src/wire/a.test.ts', 10_000],
    ['src/wire/b.test.ts', 20_000],
    ['src/wire/c.test.ts', 4_000],
  ]);
  assert.deepEqual(fitting(reaching, durations), {
    near: ['test/e2e/recovery.test.ts', 'src/wire/a.test.ts', 'src/wire/c.test.ts'],
    far: 1,
  });
});
