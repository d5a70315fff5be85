// A door names what a part offers. One with many names says no more than a list of files, so that it is split by folder.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sourceFiles } from '../../tools/source-tree.ts';

const MOST_NAMES = 80;
const EXPORT = /^export (?:type )?\{([^}]*)\}/gm;

function namesOf(text: string): number {
  return [...text.matchAll(EXPORT)].flatMap(([, list = '']) => list.split(',').filter((name) => name.trim()))
    .length;
}

test('no door has more than 80 names', () => {
  const doors = sourceFiles('src').filter(({ path }) => path.endsWith('/mod.ts'));
  assert.ok(doors.length > 30);
  const counted = new Map(doors.map(({ path, text }) => [path, namesOf(text)]));
  const wrong = [...counted].filter(([, count]) => count > MOST_NAMES);
  assert.deepEqual(wrong, [], 'export from the mod.ts of a folder instead');
});
