import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { repositoryRoot } from './pinned-process.ts';
import { EXPENSIVE, isQuick, JOURNEYS, LONG, longestFirst, MOSTLY_WAITING } from './test-tier-table.ts';

test('the tables name files and folders that exist', () => {
  for (const path of [
    ...Object.keys(JOURNEYS),
    ...Object.keys(EXPENSIVE),
    ...Object.keys(LONG),
    ...MOSTLY_WAITING,
  ])
    assert.ok(existsSync(join(repositoryRoot, path)), path);
});

test('the quick tier holds the cheap tests of the parts and the journeys, and no load or fault runs', () => {
  assert.ok(isQuick('src/wire/frame-decoder.test.ts'));
  assert.ok(isQuick('test/e2e/grant-revocation.test.ts'));
  assert.ok(!isQuick('src/control/console/app/console-build.test.ts'));
  assert.ok(!isQuick('test/battery/load-rows.test.ts'));
  assert.ok(!isQuick('test/e2e/backup-restore.test.ts'));
});

test('processes begin longest first, and a file of which nothing is known counts as a short one', () => {
  const known = new Map([
    ['src/b.test.ts', 5],
    ['src/a.test.ts', 900],
    ['src/c.test.ts', 600],
    ['src/d.test.ts', 400],
  ]);
  const groups = [
    ['src/a.test.ts'],
    ['src/b.test.ts'],
    ['src/b.test.ts', 'src/new.test.ts'],
    ['src/c.test.ts', 'src/d.test.ts'],
  ].map((files) => ({ files, isShared: files.length > 1 }));
  assert.deepEqual(
    longestFirst(groups, known).map(({ files }) => files.join()),
    ['src/c.test.ts,src/d.test.ts', 'src/a.test.ts', 'src/b.test.ts,src/new.test.ts', 'src/b.test.ts'],
  );
});
