// Pure files, and all files that they reach, import no module of a platform, for types neither. So the compiler loads none
// of its types with tsconfig.pure.json, and a timer or a socket in one of these files is an error of types. The clock is
// part of the language, and searched for here.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { PURE_PACKAGES } from './package-table.ts';
import { packageOf, root, sourceFiles, targetOf, type SourceFile } from '../../tools/source-tree.ts';

const TSC = join(root, 'node_modules/typescript/bin/tsc');
/** The only file that reads the clock of the machine. */
const CLOCK_FILE = 'src/base/clock.ts';
const CLOCK = /\bDate\.now\b|\bnew Date\(\)/;
/** Names that all platforms have, and that a pure file declares with the little that it uses. */
const DECLARED = new Set(['performance', 'TextEncoder', 'TextDecoder', 'URL']);
const DECLARATION = /^\s*declare (?:const|let|var|function|class|global)\s*(?<name>\w*)/gm;

function tsc(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [TSC, '-p', 'tsconfig.pure.json', ...args], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 16 * 1024 * 1024,
  });
  assert.equal(status, 0, stdout + stderr);
  return stdout;
}

const files = new Map(sourceFiles('src').map((file) => [file.path, file]));

/** The pure files and each that they reach, with the files that lead there. */
function reachedFiles(): ReadonlyMap<SourceFile, readonly string[]> {
  const { files: roots } = JSON.parse(tsc('--showConfig')) as { readonly files: readonly string[] };
  assert.ok(roots.length > 250);
  const found = new Map<SourceFile, readonly string[]>();
  const queue = roots.map((path): readonly string[] => [path.replace(/^\.\//, '')]);
  for (const way of queue) {
    const file = files.get(way.at(-1)!);
    if (file === undefined || found.has(file)) continue;
    found.set(file, way);
    const targets = file.imports.map(({ specifier }) => targetOf(file.path, specifier));
    queue.push(...targets.filter((to) => to !== undefined).map((to) => [...way, to]));
  }
  return found;
}

const reached = reachedFiles();

test('pure files reach no module of a platform, and only packages that are pure', () => {
  const wrong = [...reached].flatMap(([{ imports, path }, way]) =>
    imports
      .filter(({ specifier }) => targetOf(path, specifier) === undefined)
      .map(({ specifier }) => packageOf(specifier) ?? specifier)
      .filter((module) => !PURE_PACKAGES.includes(module))
      .map((module) => [...way, module].join(' → ')),
  );
  const remedy = 'move what is pure to a file of its own, or rename the file that is not';
  assert.deepEqual(wrong, [], remedy);
});

test('the compiler loads no types of a platform for pure files', () => {
  const loaded = tsc('--listFilesOnly').split('\n');
  assert.ok(loaded.length > 500);
  assert.deepEqual(
    loaded.filter((path) => /\/@types\/|\/undici-types\/|\/lib\.(?:dom|webworker)/.test(path)),
    [],
  );
});

test('pure files declare no timer or socket for themselves, and read no clock', () => {
  const wrong = [...reached.keys()].flatMap(({ path, text }) => [
    ...[...text.matchAll(DECLARATION)]
      .map(({ groups }) => groups!['name']!)
      .filter((name) => !DECLARED.has(name))
      .map((name) => `${path} declares ${name}`),
    ...(path !== CLOCK_FILE && CLOCK.test(text) ? [`${path} reads the clock`] : []),
  ]);
  assert.deepEqual(wrong, []);
});
