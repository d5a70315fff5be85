// Folders of a part import each other in one direction, which folder-table.ts defines; folders of the control
// plane are imported through their mod.ts.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { DOORED, FOLDERS } from './folder-table.ts';
import { isTest, root, sourceFiles, targetOf } from '../../tools/source-tree.ts';

interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly path: string;
  readonly target: string;
  readonly at: string;
}

/**
 * Returns the subfolder of `top` that contains a file: '' for `top` itself, undefined for a file elsewhere.
 */
function folderOf(top: string, path: string): string | undefined {
  if (!path.startsWith(`${top}/`)) return undefined;
  const parts = path.slice(top.length + 1).split('/');
  return parts.length === 1 ? '' : parts[0];
}

const TEST_FOLDER = 'testing';

/** Imports between subfolders of `top`, and from them to its own files. */
function arrowsOf(top: string): Arrow[] {
  return sourceFiles(top).flatMap(({ path, imports }) =>
    imports.flatMap(({ specifier, line }) => {
      const target = targetOf(path, specifier);
      const from = folderOf(top, path);
      const to = target === undefined ? undefined : folderOf(top, target);
      if (target === undefined || from === undefined || from === '' || to === undefined || to === from)
        return [];
      // Worlds of tests stand on everything, and only tests stand on them.
      if (from === TEST_FOLDER || (to === TEST_FOLDER && isTest(path))) return [];
      return [{ from, to, path, target, at: `${path}:${line} imports ${specifier}` }];
    }),
  );
}

for (const [top, rows] of Object.entries(FOLDERS)) {
  const arrows = arrowsOf(top);
  /** Only the control plane holds its tests to the arrows. */
  const mayInTests = (path: string, from: string, to: string): boolean =>
    isTest(path) && (!top.startsWith(DOORED) || rows[from]?.tests?.includes(to) === true);

  test(`${top} has a row for each folder, and a row stands on rows before it alone`, () => {
    const folders = readdirSync(join(root, top), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== TEST_FOLDER)
      .map(({ name }) => name);
    assert.deepEqual(Object.keys(rows).sort(), folders.sort());
    const before = new Set<string>();
    for (const [folder, { may }] of Object.entries(rows)) {
      for (const each of may)
        assert.ok(before.has(each), `${folder} stands on ${each}, which comes after it`);
      before.add(folder);
    }
  });

  test(`folders of ${top} import each other as their rows say`, () => {
    const wrong = arrows
      .filter(({ from, to, path }) => !rows[from]?.may.includes(to) && !mayInTests(path, from, to))
      .map(({ at, from }) => `${at}: ${from} may import ${rows[from]?.may.join(', ') ?? 'nothing'}`);
    assert.deepEqual(wrong, []);
  });

  test(`no row of ${top} allows what no file does`, () => {
    const done = new Set(arrows.filter(({ path }) => !isTest(path)).map(({ from, to }) => `${from} → ${to}`));
    const allowed = Object.entries(rows).flatMap(([from, { may }]) => may.map((to) => `${from} → ${to}`));
    assert.deepEqual(
      allowed.filter((arrow) => !done.has(arrow)),
      [],
    );
  });
}

/** The door of a folder of the control plane, or that of a folder in it. */
const DOOR = new RegExp(`^${DOORED}/[^/]+/(?:[^/]+/)?mod\\.ts$`);

test('a part of the control plane is entered through its door, its own files and other parts alike', () => {
  const wrong = sourceFiles(DOORED)
    .filter(({ path }) => !isTest(path))
    .flatMap(({ path, imports }) =>
      imports.flatMap(({ specifier, line }) => {
        const target = targetOf(path, specifier) ?? '';
        const to = folderOf(DOORED, target);
        if (to === undefined || to === '' || to === folderOf(DOORED, path)) return [];
        return DOOR.test(target) ? [] : [`${path}:${line} ${specifier}: use a mod.ts of ${to}`];
      }),
    );
  assert.deepEqual(wrong, []);
});
