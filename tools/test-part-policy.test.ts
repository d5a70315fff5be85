import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { repositoryRoot } from './pinned-process.ts';
import { partOfTier, WHOLE_IN_QUICK } from './test-part-policy.ts';
import { testFiles } from './test-selection.ts';

const SHARES = 'src/control/shares/operations/share-operations.test.ts';
const TWINS = "describeEachStore('shares', (open) => {});";
const PLAIN = "test('a', () => {});";

test('a file that runs on both databases is divided between the tiers, and any other belongs to one', () => {
  const partsOf = (file: string, text: string) => [
    partOfTier('quick', file, text),
    partOfTier('rest', file, text),
    partOfTier('all', file, text),
  ];
  assert.deepEqual(partsOf(SHARES, TWINS), ['quick', 'rest', 'whole']);
  assert.deepEqual(partsOf(SHARES, 'fc.assert(property, { numRuns: effort(200) });'), [
    'quick',
    'rest',
    'whole',
  ]);
  assert.deepEqual(partsOf(SHARES, PLAIN), ['whole', undefined, 'whole']);
  assert.deepEqual(partsOf('src/control/store/store.test.ts', TWINS), ['whole', undefined, 'whole']);
  assert.deepEqual(partsOf('test/e2e/recovery.test.ts', TWINS), [undefined, 'whole', 'whole']);
});

test('the tiers together have both parts of every file', () => {
  for (const file of testFiles([])) {
    const text = readFileSync(join(repositoryRoot, file), 'utf8');
    const parts = (['quick', 'rest', 'long'] as const)
      .map((tier) => partOfTier(tier, file, text))
      .filter((part) => part !== undefined);
    assert.ok(parts.join() === 'whole' || parts.join() === 'quick,rest', `${file}: ${parts.join()}`);
  }
});

test('the table names files and folders that exist', () => {
  for (const path of WHOLE_IN_QUICK) assert.ok(existsSync(join(repositoryRoot, path)), path);
});
