import assert from 'node:assert/strict';
import { test } from 'node:test';
import { durationTable, loadDurationTable } from './test-durations.ts';
import { testFiles } from './test-selection.ts';

test('the table of durations has the long files in order, rounded, without those that are gone', () => {
  const durations = new Map([
    ['src/b.test.ts', 1_260],
    ['src/short.test.ts', 999],
    ['src/gone.test.ts', 5_000],
    ['src/a.test.ts', 61_240],
  ]);
  const files = new Set(['src/a.test.ts', 'src/b.test.ts', 'src/short.test.ts']);
  assert.equal(durationTable(durations, files), '{\n  "src/a.test.ts": 61000,\n  "src/b.test.ts": 1500\n}\n');
});

test('a fresh clone knows the durations of the longest files', () => {
  const long = [...loadDurationTable()].filter(([, ms]) => ms >= 10_000);
  assert.ok(long.length > 20, `${long.length} files`);
  const files = testFiles([]);
  assert.ok(long.filter(([file]) => files.includes(file)).length > 20);
});
