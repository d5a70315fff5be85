// A door that a reader can learn has at most eighty names: a part with more is several parts, or exports what nobody uses.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sourceFiles } from '../../tools/source-tree.ts';

const MOST_NAMES = 80;
const LISTED = /^export (?:type )?\{(?<names>[^}]*)\}/gm;
const DECLARED = /^export (?:declare |async )*(?:const|function|class|interface|type) \w|^export \* as \w+/gm;

/** Doors of library parts, which every program uses, with more names. */
const LARGER: ReadonlySet<string> = new Set([
  'src/base/mod.ts',
  'src/contract/mod.ts',
  'src/domain/mod.ts',
  'src/net/mod.ts',
  'src/wire/mod.ts',
]);

function namesIn(text: string): number {
  const listed = Array.from(text.matchAll(LISTED)).flatMap(({ groups }) =>
    groups!['names']!.split(',').filter((name) => name.trim() !== ''),
  );
  return listed.length + Array.from(text.matchAll(DECLARED)).length;
}

test('no door has more than eighty names', () => {
  const doors = sourceFiles('src').filter(({ path }) => path.endsWith('/mod.ts'));
  assert.ok(doors.length > 40, 'the doors were not found');
  const wrong = doors.flatMap(({ path, text }) => {
    const count = namesIn(text);
    return count > MOST_NAMES && !LARGER.has(path) ? [`${path} has ${String(count)} names`] : [];
  });
  assert.deepEqual(wrong, [], 'give a folder inside it a door of its own, or export less');
});
