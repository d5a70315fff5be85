import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { repositoryRoot } from './pinned-process.ts';
import { groupFiles, OWN_PROCESS, PEER_VARIABLES } from './test-group-policy.ts';

const textOf = (text: string) => () => text;

test('files of one part share a process, two dozen at a time; those of other folders have one each', () => {
  const names = Array.from(
    { length: 26 },
    (_, index) => `src/wire/${String(index).padStart(2, '0')}.test.ts`,
  );
  const groups = groupFiles(['test/fuzz/b.test.ts', ...names, 'src/net/a.test.ts'], textOf(''));
  assert.deepEqual(
    groups.map(({ files, isShared }) => [files[0], files.length, isShared]),
    [
      ['src/net/a.test.ts', 1, true],
      ['src/wire/00.test.ts', 24, true],
      ['src/wire/24.test.ts', 2, true],
      ['test/fuzz/b.test.ts', 1, false],
    ],
  );
});

test('files of the product in one process share one, unless they start its programs', () => {
  const files = ['test/e2e/a.test.ts', 'test/e2e/b.test.ts', 'test/e2e/c.test.ts'];
  const groups = groupFiles(files, (file) =>
    file === files[1] ? `import { startSeparate } from '../support/separate.ts';` : '',
  );
  assert.deepEqual(groups, [
    { files: [files[0], files[2]], isShared: true },
    { files: [files[1]], isShared: false },
  ]);
});

test('files with a shared world share its process, wherever they are', () => {
  const texts: Record<string, string> = {
    'test/e2e/a.test.ts': `import { startSeparate } from '../support/separate.ts'; sharedIdentityWorld()`,
    'test/e2e/b.test.ts': 'sharedIdentityPair()',
    'test/fuzz/c.test.ts': 'sharedIdentityWorld()',
  };
  const groups = groupFiles(Object.keys(texts), (file) => texts[file]!);
  assert.deepEqual(
    groups.map(({ files }) => files),
    [['test/e2e/a.test.ts', 'test/fuzz/c.test.ts'], ['test/e2e/b.test.ts']],
  );
});

test('files of a peer share a process where the peer is missing', () => {
  const files = ['test/interop/a.test.ts', 'test/interop/b.test.ts'];
  assert.deepEqual(groupFiles(files, textOf(''), {}), [{ files, isShared: true }]);
  assert.equal(groupFiles(files, textOf(''), { ZITI_BIN: '/ziti' }).length, 2);
});

test('a strict run passes without each program of a peer that a test takes from the environment', () => {
  const form = /process\.env\['(\w+_(?:BIN|JARS|RESOLVED|INTEROP))'\]/g;
  const read = globSync(
    'test/{arch,battery,compat,console,conformance,e2e,fuzz,interop,release,support}/**/*.ts',
    {
      cwd: repositoryRoot,
    },
  ).flatMap((file) =>
    Array.from(readFileSync(join(repositoryRoot, file), 'utf8').matchAll(form), ([, name]) => name!),
  );
  assert.deepEqual(new Set(read), new Set(PEER_VARIABLES));
});

test('a file that measures or changes the process has one of its own', () => {
  for (const text of [
    'const before = process.cpuUsage();',
    `import { heap } from '../../test/support/heap.ts';`,
  ]) {
    assert.deepEqual(groupFiles(['src/net/a.test.ts'], textOf(text)), [
      { files: ['src/net/a.test.ts'], isShared: false },
    ]);
  }
});

test('each form of a text that asks for a process of its own occurs in a test', () => {
  const texts = globSync('src/**/*.test.ts', { cwd: repositoryRoot }).map((file) =>
    readFileSync(join(repositoryRoot, file), 'utf8'),
  );
  for (const [form] of OWN_PROCESS)
    assert.ok(
      texts.some((text) => form.test(text)),
      String(form),
    );
});
