import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestQueue } from './test-queue.ts';
import { MOSTLY_WAITING } from './test-tier-table.ts';

const [first, second] = MOSTLY_WAITING as readonly [string, string, ...string[]];
const groupOf = (...files: readonly string[]) => ({ files, isShared: files.length > 1 });

test('extra workers get files that wait, others those that compute and then what is left', () => {
  const durations = new Map([
    [first, 100],
    [second, 70],
    ['src/a.test.ts', 90],
    ['src/b.test.ts', 80],
  ]);
  const groups = [...durations.keys()].map((file) => groupOf(file));
  const queue = new TestQueue(groups, durations);
  const next = (kind: 'any' | 'waiting') => queue.next(kind)?.files[0];
  assert.equal(next('waiting'), first);
  assert.equal(next('any'), 'src/a.test.ts');
  queue.putBack(groupOf('src/c.test.ts'));
  assert.equal(next('any'), 'src/c.test.ts');
  assert.equal(next('any'), 'src/b.test.ts');
  assert.equal(next('any'), second);
  assert.equal(next('any'), undefined);
  assert.equal(next('waiting'), undefined);
});
