// Parts import each other only in the allowed directions, and only through their mod.ts.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ARROWS, BUNDLED, DOORS, OUTSIDE, TYPES_ONLY } from './arrow-table.ts';
import { isTest, partOf, root, sourceFiles, targetOf } from '../../tools/source-tree.ts';

test('the table has a decision for every pair of parts', () => {
  const parts = Object.keys(ARROWS);
  const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  for (const { name } of folders) assert.ok(parts.includes(name), `src/${name} has no row in arrow-table.ts`);
  for (const [from, { may, mayNot }] of Object.entries(ARROWS)) {
    const decided = [...may, ...Object.keys(mayNot)].sort();
    const others = parts.filter((part) => part !== from).sort();
    assert.deepEqual(decided, others, `row ${from} names each other part once`);
  }
});

test('the names of package.json lead to the parts', () => {
  const { imports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    imports: Record<string, string>;
  };
  for (const [name, path] of Object.entries(imports)) {
    assert.equal(path, `./${DOORS[name]?.file ?? `src/${name.slice(1)}/mod.ts`}`);
  }
});

test('a second door of a part is imported only by the parts that its row names', () => {
  const loads = new Map(
    sourceFiles('src').map(({ path, imports }) => [
      path,
      imports
        .filter(({ typeOnly }) => !typeOnly)
        .map(({ specifier }) => targetOf(path, specifier))
        .filter((target) => target !== undefined),
    ]),
  );
  const reachedFrom = (start: string): ReadonlySet<string> => {
    const reached = new Set([start]);
    for (const file of reached) for (const next of loads.get(file) ?? []) reached.add(next);
    return reached;
  };
  for (const { file, parts } of Object.values(DOORS)) {
    const loading = Object.keys(ARROWS).filter((part) => reachedFrom(`src/${part}/mod.ts`).has(file));
    assert.deepEqual(loading.sort(), [...parts].sort());
  }
});

test('parts import each other in the allowed directions only', () => {
  const wrong: string[] = [];
  for (const file of sourceFiles('src', 'bin')) {
    const from = partOf(file.path);
    for (const { specifier, line } of file.imports) {
      const target = targetOf(file.path, specifier);
      if (target === undefined || partOf(target) === from) continue;
      const to = partOf(target);
      if (isTest(file.path) && target.startsWith('test/support/')) continue;
      if (file.path === 'bin/dev.ts' && to === 'tools') continue;
      const row = ARROWS[from];
      if (row?.may.includes(to) === true) continue;
      wrong.push(
        `${file.path}:${line} imports ${specifier}: ${row?.mayNot[to] ?? 'product code does not reach there'}`,
      );
    }
  }
  assert.deepEqual(wrong, []);
});

test('a part that may import types alone imports no value but files that import nothing', () => {
  for (const file of sourceFiles('src'))
    if (BUNDLED.some((name) => DOORS[name]?.file === file.path))
      assert.deepEqual(
        file.imports.filter(({ typeOnly }) => !typeOnly),
        [],
      );
  const wrong = sourceFiles('src')
    .filter(({ path }) => TYPES_ONLY.includes(partOf(path)))
    .flatMap(({ path, imports }) =>
      imports
        .filter(({ specifier, typeOnly }) => specifier.startsWith('#') && !typeOnly)
        .filter(({ specifier }) => !BUNDLED.includes(specifier))
        .map(({ specifier, line }) => `${path}:${line} imports ${specifier}`),
    );
  assert.deepEqual(wrong, []);
});

test('product code imports nothing that is only for tests', () => {
  const wrong = sourceFiles('src', 'bin', 'tools')
    .filter(({ path }) => !isTest(path))
    .flatMap(({ path, imports }) =>
      imports
        .filter(({ specifier }) => isTest(targetOf(path, specifier) ?? '') || specifier === 'node:test')
        .map(({ specifier, line }) => `${path}:${line} imports ${specifier}`),
    );
  assert.deepEqual(wrong, []);
});

test('tools and tests reach only what their row allows', () => {
  const wrong: string[] = [];
  for (const file of sourceFiles('test', 'tools')) {
    for (const { specifier, line } of file.imports) {
      const target = targetOf(file.path, specifier);
      if (target === undefined || OUTSIDE[partOf(file.path)]?.includes(partOf(target)) === true) continue;
      wrong.push(`${file.path}:${line} imports ${specifier}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('a part is entered only through its name', () => {
  const wrong: string[] = [];
  for (const file of sourceFiles('src', 'bin', 'test', 'tools')) {
    for (const { specifier, line } of file.imports) {
      const target = targetOf(file.path, specifier);
      if (target === undefined || !target.startsWith('src/')) continue;
      // Test worlds assemble programs from modules that the programs do not export to each other.
      if (file.path.startsWith('test/support/')) continue;
      const own = file.path.startsWith('src/') && partOf(file.path) === partOf(target);
      if (specifier.startsWith('#')) {
        if (!target.startsWith('src/'))
          wrong.push(`${file.path}:${line} ${specifier} is no name of package.json`);
        else if (own) wrong.push(`${file.path}:${line} ${specifier}: inside a part imports are relative`);
      } else if (!own) wrong.push(`${file.path}:${line} ${specifier}: use #${partOf(target)}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('every relative import names its file with its ending', () => {
  const wrong = sourceFiles('src', 'bin', 'test', 'tools').flatMap(({ path, imports }) =>
    imports
      .filter(({ specifier }) => specifier.startsWith('.') && !/\.(?:tsx?|js|json|css)$/.test(specifier))
      .map(({ specifier, line }) => `${path}:${line} ${specifier}`),
  );
  assert.deepEqual(wrong, []);
});
