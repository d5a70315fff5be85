// Third-party packages: used where the table says, pinned, above their floors, and explained.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BUILT_FROM, FLOORS, PACKAGES } from './package-table.ts';
import { isTest, packageOf, partOf, root, sourceFiles } from '../../tools/source-tree.ts';

interface Manifest {
  readonly dependencies: Record<string, string>;
  readonly optionalDependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
  readonly scripts: Record<string, string>;
  readonly allowScripts: Record<string, boolean>;
  readonly engines: { readonly node: string };
}

const BUILT_MODULES = 'frontdoor:';
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const manifest = JSON.parse(read('package.json')) as Manifest;
const lock = JSON.parse(read('package-lock.json')) as {
  packages: Record<
    string,
    { version?: string; hasInstallScript?: boolean; resolved?: string; engines?: { node?: string } }
  >;
};
const runtime = { ...manifest.dependencies, ...manifest.optionalDependencies };
const all = { ...runtime, ...manifest.devDependencies };

test('each part uses only the packages that its row allows', () => {
  const wrong: string[] = [];
  for (const { path, imports } of sourceFiles('src', 'bin', 'test', 'tools')) {
    const allowed = [...(PACKAGES[partOf(path)] ?? []), ...(isTest(path) ? (PACKAGES['test'] ?? []) : [])];
    for (const { specifier, line } of imports) {
      const name = packageOf(specifier);
      // A module that the build of the console writes.
      if (specifier.startsWith(BUILT_MODULES)) continue;
      if (name !== undefined && !allowed.includes(name)) wrong.push(`${path}:${line} imports ${name}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('a row allows nothing that its part does not use', () => {
  for (const [part, allowed] of Object.entries(PACKAGES)) {
    // Its pages come one by one.
    if (part === 'console') continue;
    const files = sourceFiles('src', 'bin', 'test', 'tools').filter(({ path }) =>
      part === 'test' ? isTest(path) : partOf(path) === part && !isTest(path),
    );
    const used = files.flatMap(({ imports }) => imports.map(({ specifier }) => packageOf(specifier)));
    assert.deepEqual(
      allowed.filter((name) => !used.includes(name)),
      [],
      `row ${part}`,
    );
  }
});

test('product code imports no development dependency', () => {
  const wrong: string[] = [];
  for (const { path, imports } of sourceFiles('src', 'bin')) {
    for (const { specifier, typeOnly, line } of imports) {
      const name = packageOf(specifier);
      if (name === undefined || typeOnly || isTest(path) || name in runtime) continue;
      if (BUILT_FROM.some((prefix) => path.startsWith(prefix))) continue;
      wrong.push(`${path}:${line} imports ${name}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('the product loads ajv in one file, and TypeBox, of which it has the types, in none', () => {
  const loads = (name: string): string[] =>
    sourceFiles('src', 'bin')
      .filter(({ path }) => !isTest(path))
      .filter(({ imports }) => imports.some((each) => !each.typeOnly && packageOf(each.specifier) === name))
      .map(({ path }) => path);
  assert.deepEqual(loads('ajv'), ['src/control/json-schema/schema-compiler.ts']);
  assert.deepEqual(loads('typebox'), []);
});

test('built-in modules are named with node:', () => {
  const builtIn = new Set([
    'fs',
    'net',
    'tls',
    'http',
    'https',
    'path',
    'crypto',
    'os',
    'url',
    'util',
    'events',
    'zlib',
  ]);
  const wrong = sourceFiles('src', 'bin', 'test', 'tools').flatMap(({ path, imports }) =>
    imports.filter(({ specifier }) => builtIn.has(specifier)).map(({ specifier }) => `${path}: ${specifier}`),
  );
  assert.deepEqual(wrong, []);
});

test('runtime dependencies are pinned to exact versions', () => {
  const loose = Object.entries(runtime).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version));
  assert.deepEqual(loose, []);
});

test('no package is older than its floor, wherever it stands in the tree', () => {
  const old: string[] = [];
  for (const [path, { version }] of Object.entries(lock.packages)) {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const floor = FLOORS[name];
    if (floor === undefined || version === undefined) continue;
    if (isOlder(version, floor.version)) old.push(`${path} ${version} < ${floor.version}: ${floor.closes}`);
  }
  assert.deepEqual(old, []);
});

test('every dependency is explained in docs/dependencies.md or an ADR', () => {
  const text = read('docs/dependencies.md');
  const missing = Object.keys(all).filter((name) => !text.includes(`\`${name}\``));
  assert.deepEqual(missing, []);
});

test('the row of every pinned dependency names the version that is installed', () => {
  const rows = read('docs/dependencies.md').split('\n');
  const wrong = Object.entries(runtime).filter(
    ([name, version]) => !rows.some((row) => row.includes(`\`${name}\``) && row.includes(version)),
  );
  assert.deepEqual(wrong, []);
});

test('no dependency runs a script when it is installed', () => {
  const allowed = Object.keys(manifest.allowScripts);
  const wanting = Object.entries(lock.packages)
    .filter(
      ([path, { hasInstallScript }]) => hasInstallScript === true && !path.endsWith('node_modules/fsevents'),
    )
    .map(([path]) => path.replace('node_modules/', ''));
  assert.deepEqual(
    wanting.filter((name) => !allowed.includes(name)),
    [],
  );
  assert.deepEqual(Object.values(manifest.allowScripts).filter(Boolean), []);
});

test('an installation runs no script of this project: npm start builds what its sources have changed', () => {
  const wrong = ['preinstall', 'install', 'postinstall', 'prepare'].filter(
    (name) => name in manifest.scripts,
  );
  assert.deepEqual(wrong, []);
});

test('every script ends in exec, so that signals arrive', () => {
  const wrong = Object.entries(manifest.scripts).filter(
    ([, line]) => !/^(?:node bin\/frontdoor\.js dev build; )?exec node bin\/frontdoor\.js /.test(line),
  );
  assert.deepEqual(wrong, []);
});

test('the lock file names no registry host', () => {
  const hosts = Object.entries(lock.packages).filter(([, { resolved }]) => resolved !== undefined);
  assert.deepEqual(hosts, []);
});

function isOlder(version: string, floor: string): boolean {
  const [a = [], b = []] = [version, floor].map((text) => text.split(/[.-]/).slice(0, 3).map(Number));
  for (let i = 0; i < 3; i += 1) if (a[i] !== b[i]) return (a[i] ?? 0) < (b[i] ?? 0);
  return false;
}

test('no package asks for a newer Node than the README does', () => {
  const least = manifest.engines.node.replace('>=', '');
  assert.match(
    read('README.md'),
    new RegExp(`You need Node ${least.replace(/\.0$/, '').replaceAll('.', '[.]')} or newer`),
  );
  const tooNew = Object.entries(lock.packages)
    .filter(
      ([path, { engines }]) => path !== '' && engines?.node !== undefined && !allows(engines.node, least),
    )
    .map(([path, { engines }]) => `${path}: ${engines!.node}`);
  assert.deepEqual(tooNew, []);
});

/** Whether a range of npm holds a version: alternatives of `>=1.2.3`, `> 1`, `^1.2.3`, `1.x` and `*`. */
function allows(range: string, version: string): boolean {
  const order = (text: string): number =>
    text.split('.').reduce((sum, part, i) => sum + (Number(part) || 0) * 1_000 ** (2 - i), 0);
  return range.split('||').some((alternative) => {
    const [, comparator = '', bound = ''] =
      /^\s*(>=|>|\^|)\s*v?([\d.x*]*)\s*(?:<.*)?$/.exec(alternative) ?? [];
    const isFrom = order(version) >= order(bound);
    return comparator.startsWith('>') || bound === '*' || bound === ''
      ? isFrom
      : isFrom && version.split('.')[0] === bound.split('.')[0];
  });
}
