/** The packages that run in production, from the lock file, and what of each is shipped. */
import { cpSync, existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { repositoryRoot } from '../pinned-process.ts';

interface LockRow {
  readonly version: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly os?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

interface Lock {
  readonly packages: Readonly<Record<string, LockRow>>;
}

/** What no program reads: types, maps, sources of compiled files; and tests and documents at the top of a package. */
const LEFT_OUT =
  /\.(?:[cm]?ts|map|md|markdown|flow|yml|tgz)$|^\/(?:tests?|__tests__|docs?|examples?|benchmarks?|\.github)(?:\/|$)|\/(?:CHANGELOG|HISTORY|AUTHORS|\.[a-z]+(?:rc|ignore))[^/]*$/i;
const LICENCE = /^(?:licen[cs]e|copying|notice)/i;

export function lockRows(): Readonly<Record<string, LockRow>> {
  return (JSON.parse(readFileSync(join(repositoryRoot, 'package-lock.json'), 'utf8')) as Lock).packages;
}

/** What a program imports that is neither a file beside it nor a part of the product. */
const IMPORTED = /\b(?:from|import)\s*\(?\s*(['"])([a-z@][^'":]*)\1/g;

/** The packages that the JavaScript below `folder` reaches, as paths below the repository; without the Node of a platform. */
export function packagesReachedFrom(folder: string): string[] {
  const rows = lockRows();
  const reached = new Set<string>();
  const add = (name: string, from: string): void => {
    const path = resolvedPath(rows, name, from);
    if (path === undefined || reached.has(path) || !existsSync(join(repositoryRoot, path))) return;
    reached.add(path);
    const { dependencies, peerDependencies } = rows[path]!;
    for (const next of Object.keys({ ...dependencies, ...peerDependencies })) add(next, path);
  };
  for (const file of globSync('**/*.js', { cwd: folder }))
    for (const [, , specifier] of readFileSync(join(folder, file), 'utf8').matchAll(IMPORTED)) {
      const [scope, name] = specifier!.split('/');
      add(scope!.startsWith('@') ? `${scope}/${name}` : scope!, '');
    }
  return [...reached].toSorted();
}

/** Where Node finds a package that a file below `from` imports; undefined for one that is not of production. */
function resolvedPath(rows: ReturnType<typeof lockRows>, name: string, from: string): string | undefined {
  const beside = `${from === '' ? '' : `${from}/`}node_modules/${name}`;
  const row = rows[beside];
  if (row !== undefined) return row.dev === true || row.os !== undefined ? undefined : beside;
  if (from === '') return undefined;
  return resolvedPath(rows, name, from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))));
}

export function copyPackage(path: string, to: string): void {
  const from = join(repositoryRoot, path);
  cpSync(from, join(to, path), {
    recursive: true,
    // Packages inside it have rows of their own.
    filter: (source) => {
      const inside = source.slice(from.length);
      return !inside.includes('/node_modules') && (LICENCE.test(basename(source)) || !LEFT_OUT.test(inside));
    },
  });
}

/** The licences of all packages, one after the other, with the names and versions of those that they hold for. */
export function licencesOf(paths: readonly string[]): string {
  const rows = lockRows();
  const packagesOf = new Map<string, string[]>();
  for (const path of paths) {
    const { version, license = 'see its manifest' } = rows[path]!;
    const files = globSync('*', { cwd: join(repositoryRoot, path) }).filter((name) => LICENCE.test(name));
    const text = files
      .toSorted()
      .map((name) => readFileSync(join(repositoryRoot, path, name), 'utf8').trim())
      .join('\n\n');
    const name = `${path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)} ${version} (${license})`;
    const names = packagesOf.get(text) ?? [];
    if (!names.includes(name)) names.push(name);
    packagesOf.set(text, names);
  }
  const line = '-'.repeat(80);
  return [...packagesOf]
    .map(([text, names]) => `${line}\n${names.join('\n')}\n\n${text || 'Its package has no licence file.'}\n`)
    .join('\n');
}
