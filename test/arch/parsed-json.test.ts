// Parsed JSON is not cast to a type: another process, an earlier version or a damaged disk may have written it. A `Shape`, a
// reader of #base/shapes or ajv judges it, or its user treats it as unknown.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsedJsonCasts } from '../../tools/source-measures.ts';
import { isTest, sourceFiles } from '../../tools/source-tree.ts';

/** Files that may cast, with the reason. */
const MAY_CAST: Readonly<Record<string, string>> = {
  'bin/program-bundle.ts':
    'a file in its own cache; the launcher loads no part, and ignores one that causes an exception',
  'src/console/api/call.ts':
    'the control plane that serves the page answers by the contract, which its tests hold it to',
};

test('the search finds the forms of a cast', () => {
  const found = (text: string): number => parsedJsonCasts(text).length;
  assert.equal(found('const a = JSON.parse(text) as Thing;'), 1);
  assert.equal(found('return row && (JSON.parse(unseal(row.data)) as Thing);'), 1);
  assert.equal(found('const { a } = (JSON.parse(text) ?? {}) as { a?: string };'), 1);
  assert.equal(found('const a: Thing = JSON.parse(text);'), 1);
  assert.equal(found('const a = (await response.json()) as Thing;'), 1);
  assert.equal(found('const a = JSON.parse(\n  text,\n) as {\n  a: string };'), 1);
  assert.equal(found('const a: unknown = JSON.parse(text); return JSON.parse(text) as unknown;'), 0);
  assert.equal(found('const a = shape.read(JSON.parse(text)); f(b as Thing);'), 0);
});

test('product code casts no parsed JSON', () => {
  const files = sourceFiles('src', 'bin').filter(({ path }) => !isTest(path));
  const found = files.flatMap(({ path, text }) =>
    parsedJsonCasts(text).map((cast): [string, string] => [path, cast]),
  );
  assert.deepEqual(
    found.filter(([path]) => MAY_CAST[path] === undefined).map(([path, cast]) => `${path}:${cast}`),
    [],
    'read it by `jsonReader`, `readJsonObject` or a `Shape` of #base/shapes',
  );
  assert.deepEqual([...new Set(found.map(([path]) => path))].sort(), Object.keys(MAY_CAST).sort());
});
