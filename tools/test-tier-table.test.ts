import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { repositoryRoot } from './pinned-process.ts';
import { isQuick, JOURNEYS, LONGEST_FIRST, longestFirst, MOSTLY_WAITING } from './test-tier-table.ts';

test('the tables name files and folders that exist', () => {
  for (const path of [...Object.keys(JOURNEYS), ...LONGEST_FIRST, ...MOSTLY_WAITING])
    assert.ok(existsSync(join(repositoryRoot, path)), path);
});

test('without durations, the file that takes longest begins first', () => {
  const groups = ['test/e2e/access-clients.test.ts', 'test/fuzz/api-fuzz.test.ts', LONGEST_FIRST[0]!].map(
    (file) => ({ files: [file], isShared: false }),
  );
  assert.deepEqual(longestFirst(groups, new Map()), groups.toReversed());
});

test('the quick tier holds the tests of the parts and the journeys, and no load or fault runs', () => {
  assert.ok(isQuick('src/wire/frame-decoder.test.ts'));
  assert.ok(isQuick('test/e2e/oidc-login-browser.test.ts'));
  assert.ok(!isQuick('test/battery/load-rows.test.ts'));
  assert.ok(!isQuick('test/e2e/backup-restore.test.ts'));
});

test('processes begin longest first, and those with a file that never ran before all others, by folder', () => {
  const known = new Map([
    ['src/b.test.ts', 5],
    ['src/a.test.ts', 90],
    ['src/c.test.ts', 60],
    ['src/d.test.ts', 40],
  ]);
  const groups = [
    ['src/a.test.ts'],
    ['src/b.test.ts'],
    ['src/c.test.ts', 'src/d.test.ts'],
    ['src/b.test.ts', 'src/new.test.ts'],
    ['test/e2e/new.test.ts'],
  ].map((files) => ({ files, isShared: files.length > 1 }));
  assert.deepEqual(
    longestFirst(groups, known).map(({ files }) => files.join()),
    [
      'test/e2e/new.test.ts',
      'src/b.test.ts,src/new.test.ts',
      'src/c.test.ts,src/d.test.ts',
      'src/a.test.ts',
      'src/b.test.ts',
    ],
  );
});
