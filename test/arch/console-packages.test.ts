// What the console adds to `npm ci`: bounds that no further package may pass unnoticed.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../tools/source-tree.ts';

/** Development dependencies that only the console, its build and its tests use. */
const OF_CONSOLE: readonly string[] = [
  'react',
  'react-dom',
  '@types/react',
  '@types/react-dom',
  '@mantine/core',
  '@mantine/hooks',
  '@tanstack/react-query',
  '@tanstack/react-router',
  'uplot',
  'esbuild',
  'axe-core',
];
const MOST = { packages: 80, files: 9_000, megabytes: 90 };

interface LockRow {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

type LockRows = Readonly<Record<string, LockRow>>;

/** The places of these packages and of all that they need. */
function reachable(rows: LockRows, names: readonly string[]): ReadonlySet<string> {
  const found = new Set(names.map((name) => `node_modules/${name}`));
  for (const place of found) {
    const { dependencies, optionalDependencies, peerDependencies } = rows[place] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const next = [`${place}/node_modules/${name}`, `node_modules/${name}`].find((at) => at in rows);
      if (next !== undefined) found.add(next);
    }
  }
  return found;
}

function sizesOf(folder: string): readonly number[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return [statSync(path).size];
    return entry.name === 'node_modules' ? [] : sizesOf(path);
  });
}

test('npm ci gains at most 80 packages, 9,000 files and 90 MB by the console', () => {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: LockRows;
  };
  const rows = lock.packages;
  const { dependencies, devDependencies, optionalDependencies } = rows['']!;
  const names = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies });
  const others = reachable(
    rows,
    names.filter((name) => !OF_CONSOLE.includes(name)),
  );
  const gained = [...reachable(rows, OF_CONSOLE)].filter(
    // Packages for other systems are not installed.
    (place) => !others.has(place) && existsSync(join(root, place)),
  );
  const sizes = gained.flatMap((place) => sizesOf(join(root, place)));
  const megabytes = sizes.reduce((sum, size) => sum + size, 0) / 1e6;
  assert.ok(
    gained.length >= OF_CONSOLE.length && gained.length <= MOST.packages,
    `${gained.length} packages`,
  );
  assert.ok(sizes.length <= MOST.files, `${sizes.length} files`);
  assert.ok(megabytes <= MOST.megabytes, `${megabytes} MB`);
});
