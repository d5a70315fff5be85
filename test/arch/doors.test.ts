// A door names what a part offers. One with many names says no more than a list of files, so that it is split by folder.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../tools/limit-table.ts';
import { doorNames } from '../../tools/source-measures.ts';
import { sourceFiles } from '../../tools/source-tree.ts';

test('no door has more than 80 names', () => {
  const doors = sourceFiles('src').filter(({ path }) => path.endsWith('/mod.ts'));
  assert.ok(doors.length > 30);
  const counted = new Map(doors.map(({ path, text }) => [path, doorNames(text)]));
  const wrong = [...counted].filter(([, count]) => count > LIMITS.doorNames);
  assert.deepEqual(wrong, [], 'export from the mod.ts of a folder instead');
});
