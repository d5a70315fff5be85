/**
 * The programs as JavaScript, for the package: Node removes no types from files below `node_modules`. Types become spaces, so
 * that lines and columns of stacks are those of the sources. The folder is a package by itself, with the same places of files
 * as the repository, and with `imports` that lead to the JavaScript (ADR 0035).
 */
import { copyFileSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { repositoryRoot } from './pinned-process.ts';

/** Where the launcher looks for them, too. */
export const PROGRAMS_FOLDER = 'dist/programs';
/** Tests, what only tests use, what browsers run, and what works on the sources. */
const LEFT_OUT =
  /\.(?:test|d)\.ts$|-(?:fixture|suite)\.ts$|\/testing\/|^src\/console\/|^bin\/(?:dev|bundle-program)\.ts$/;
/** In an import, or the name of a file that is started. */
const SOURCE_NAME = /(['"])([\w./-]*[\w-])\.ts\1/g;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly imports: Readonly<Record<string, string>>;
}

/** `commit` and its day are undefined outside a clone. */
export function buildPrograms(commit: string | undefined, commitDate: string | undefined): void {
  const top = join(repositoryRoot, PROGRAMS_FOLDER);
  rmSync(top, { recursive: true, force: true });
  for (const path of globSync('{bin,src}/**/*.ts', { cwd: repositoryRoot })) {
    if (LEFT_OUT.test(path)) continue;
    const source = readFileSync(join(repositoryRoot, path), 'utf8');
    writeTextFile(
      join(top, javaScriptOf(path)),
      stripTypeScriptTypes(source).replace(SOURCE_NAME, '$1$2.js$1'),
    );
  }
  // For `frontdoor service`.
  for (const path of ['deploy/systemd', 'deploy/launchd'])
    cpSync(join(repositoryRoot, path), join(top, path), { recursive: true });
  copyFileSync(join(repositoryRoot, 'bin/node-flags.js'), join(top, 'bin/node-flags.js'));
  const root = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8')) as Manifest;
  const imports = Object.entries(root.imports).map(([name, path]) => [name, javaScriptOf(path)]);
  const manifest = {
    name: root.name,
    version: root.version,
    // For the version that the programs report.
    commit,
    commitDate,
    private: true,
    type: 'module',
    imports: Object.fromEntries(imports) as Record<string, string>,
  };
  writeTextFile(join(top, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

function javaScriptOf(path: string): string {
  return path.replace(/\.ts$/, '.js');
}

/** Makes the folders above it, too. */
export function writeTextFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
