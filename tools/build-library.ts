/**
 * `frontdoor dev library`: compiles `@frontdoor-dev/frontdoor/sdk` to JavaScript and declarations in `dist/`, which is a package by itself:
 * it has a manifest with the dependencies that the library needs, and no other. Node runs no TypeScript from
 * `node_modules`, hence this step (ADR 0035). Both `npm pack` and `npm pack ./dist` take what it makes.
 */
import { copyFileSync, globSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot, runPinned } from './pinned-process.ts';

const TSC = 'node_modules/typescript/bin/tsc';
export const LIBRARY_FOLDER = 'dist';
/** The oldest Node with what the library calls (`tls.getCACertificates`); the programs of the product run on a pinned one. */
const LIBRARY_NODE = '>=22.15.0';
/** An import of another file, or of a package or a part, in the form that the compiler writes. */
const IMPORT = /\b(?:from |import\(|import )(['"])([^'"]+)\1/g;
/** The compiler writes these endings into JavaScript as `.js`, but not into declarations. */
const SOURCE_ENDING = /^(\.{1,2}\/.+)\.ts$/;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly imports: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** Returns the exit status. */
export async function buildLibrary(): Promise<number> {
  const folder = join(repositoryRoot, LIBRARY_FOLDER);
  rmSync(folder, { recursive: true, force: true });
  const { status } = await runPinned([TSC, '-p', 'tsconfig.library.json']);
  if (status !== 0) return status;
  const named = new Set<string>();
  for (const path of globSync('**/*.{js,d.ts}', { cwd: folder })) {
    const text = readFileSync(join(folder, path), 'utf8');
    const changed = text.replaceAll(IMPORT, (whole, _quote: string, specifier: string) => {
      named.add(specifier);
      return whole.replace(specifier, specifier.replace(SOURCE_ENDING, '$1.js'));
    });
    if (changed !== text) writeFileSync(join(folder, path), changed);
  }
  const root = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8')) as Manifest;
  writeFileSync(
    join(folder, 'package.json'),
    `${JSON.stringify(libraryManifest(root, named, foldersOf(folder)), null, 2)}\n`,
  );
  copyFileSync(join(repositoryRoot, 'docs/guide/sdk.md'), join(folder, 'README.md'));
  copyFileSync(join(repositoryRoot, 'LICENSE'), join(folder, 'LICENSE'));
  return 0;
}

function foldersOf(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return entries.map(({ name }) => `${name}/`).sort();
}

/** `named` are the specifiers of all imports, `files` the folders of the library: `dist/` holds the built console, too. */
function libraryManifest(root: Manifest, named: ReadonlySet<string>, files: readonly string[]): unknown {
  const { name, version, license } = root;
  const isUsed = ([key]: readonly [string, string]): boolean =>
    [...named].some((specifier) => specifier === key || specifier.startsWith(`${key}/`));
  const imports = Object.entries(root.imports)
    .filter(([key]) => named.has(key))
    .map(([key, path]) => [key, path.replace(/^\.\/src\//, './').replace(/\.ts$/, '.js')]);
  return {
    name,
    version,
    description: 'Dials and hosts private services from a program.',
    license,
    type: 'module',
    engines: { node: LIBRARY_NODE },
    files,
    exports: {
      './sdk': { types: './sdk/library/mod.d.ts', default: './sdk/library/mod.js' },
      './package.json': './package.json',
    },
    imports: Object.fromEntries(imports) as unknown,
    dependencies: Object.fromEntries(Object.entries(root.dependencies).filter(isUsed)),
  };
}
