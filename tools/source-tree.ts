/**
 * The repository as the architecture tests see it: files, and what each imports. A light scanner: `import` and
 * `export … from` at the start of a line, `import('…')` anywhere, files that `new Worker(new URL(…))` names.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root: string = resolve(dirname(fileURLToPath(import.meta.url)), '..');

export interface Import {
  /** The specifier as written: `#wire`, `./frame-codec.ts`, `node:net`, `kysely/migration`. */
  readonly specifier: string;
  readonly line: number;
  /** An import of types only, which does not exist at run time. */
  readonly typeOnly: boolean;
}

export interface SourceFile {
  /** Path relative to the repository's top folder. */
  readonly path: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

const STATEMENT =
  /^(?:import|export)\b(?<clause>\s+type\b(?=\s*[\w*{]))?(?<names>[\w\s*{},$]*?)(?:\bfrom\s*)?(?<!\w)(['"])(?<specifier>[^'"\n]+)\3/gm;
const DYNAMIC = /\bimport\(\s*(['"])(?<specifier>[\w@#./:-]+)\1/g;
const WORKER =
  /\bnew Worker\(\s*new URL\(\s*(['"])(?<specifier>\.{1,2}\/[^'"\n]+\.ts)\1\s*,\s*import\.meta\.url/g;

/** The imports of one file's text. */
export function importsOf(text: string): Import[] {
  const found: Import[] = [];
  for (const pattern of [STATEMENT, DYNAMIC, WORKER]) {
    for (const match of text.matchAll(pattern)) {
      const { specifier = '', clause, names = '' } = match.groups ?? {};
      const listed = [...names.matchAll(/[{,]\s*(type\s)?\s*\w+/g)];
      // `import net, { type Socket }`: the name before the braces is a value.
      const hasDefault = /^\s*[\w$]+\s*,/.test(names);
      const listsTypesAlone = listed.length > 0 && listed.every((name) => name[1] !== undefined);
      const typeOnly = clause !== undefined || (listsTypesAlone && !hasDefault);
      found.push({ specifier, typeOnly, line: text.slice(0, match.index).split('\n').length });
    }
  }
  return found;
}

const read = new Map<string, readonly SourceFile[]>();

/** Every TypeScript file of the given folders, generated ones left out. Each folder is read once a process. */
export function sourceFiles(...folders: string[]): SourceFile[] {
  return folders.flatMap((folder) => {
    let files = read.get(folder);
    if (files === undefined) read.set(folder, (files = readFolder(folder)));
    return files;
  });
}

function readFolder(folder: string): SourceFile[] {
  return globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root })
    .filter((path) => !path.startsWith('src/wire/gen/'))
    .sort()
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      return { path, text, imports: importsOf(text) };
    });
}

/** Tests, and what only tests use: `-fixture` and `-suite` files, and `testing/` folders inside parts. */
export function isTest(path: string): boolean {
  return /\.test\.tsx?$|-(?:fixture|suite)\.tsx?$|^test\/|\/testing\//.test(path);
}

/** `src/wire/frame-codec.ts` → `wire`; `bin`, `test` and `tools` are themselves. */
export function partOf(path: string): string {
  const [top = '', part = ''] = path.split('/');
  return top === 'src' ? part : top;
}

const { imports: NAMES } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  imports: Record<string, string>;
};

/** The file that an import of our own leads to, relative to the top; undefined for packages and `node:`. */
export function targetOf(file: string, specifier: string): string | undefined {
  if (specifier.startsWith('#')) return NAMES[specifier]?.replace(/^\.\//, '') ?? specifier;
  if (!specifier.startsWith('.')) return undefined;
  return relative(root, resolve(root, dirname(file), specifier));
}

/** The package that an import names: `kysely/migration` → `kysely`; undefined for our own files and `node:`. */
export function packageOf(specifier: string): string | undefined {
  if (/^(?:[.#]|node:)/.test(specifier)) return undefined;
  const [first = '', second = ''] = specifier.split('/');
  return first.startsWith('@') ? `${first}/${second}` : first;
}
