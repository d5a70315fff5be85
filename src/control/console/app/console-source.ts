/**
 * What a build of the console is made from: the files of `src/console`, the tables of operations and of provider types, the packages as the lock
 * file pins them, and the options. All of it has one hash, which a build notes.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jsonReader, Part, readJsonObject, Type, type ShapeOf } from '#base/shapes';
import { operations } from '#contract';
import { AUTH_PROVIDER_TYPES, PROVIDER_TYPES } from '#domain/provider-types';
import { BUNDLE_OPTIONS, COMPRESSION } from './bundle-options.ts';

/** The top folder of the package. */
export const PACKAGE_ROOT: string = fileURLToPath(new URL('../../../../', import.meta.url));
const SOURCE_FOLDER = 'src/console';
const CURL_FILE = 'src/contract/curl-command.ts';
const MODES_FILE = 'src/domain/backend-mode-table.ts';
const SENTENCES_FILE = 'src/contract/access-sentences.ts';
const LOCK_FILE = 'package-lock.json';
const KEY_CHARS = 20;

/** The packages that end up in the bundle, and what bundles them; those that they need follow. */
const PACKAGES = [
  'react',
  'react-dom',
  '@mantine/core',
  '@mantine/hooks',
  '@tanstack/react-query',
  '@tanstack/react-router',
  'uplot',
  'esbuild',
];

const packageTexts = () => Type.Optional(Part.mapOf(Part.text()));
const lockFileSchema = Type.Object({
  packages: Part.mapOf(
    Type.Object({
      version: Type.Optional(Part.text()),
      integrity: Type.Optional(Part.text()),
      dependencies: packageTexts(),
      optionalDependencies: packageTexts(),
      peerDependencies: packageTexts(),
    }),
  ),
});
type LockRows = ShapeOf<typeof lockFileSchema>['packages'];
const readLockFile = jsonReader(lockFileSchema);
const readManifest = jsonReader(Type.Object({ version: Part.text() }));

/** Where the built console is: in the top folder of a clone or a package, and beside its compiled programs. */
export function builtFolders(root: string): readonly string[] {
  return [join(root, 'dist/console'), join(root, '../console')];
}

/** The text of the module `frontdoor:operations`: method, path and scope of each operation. */
export function operationsModule(): string {
  const lines = operations.map(({ id, method, path, scope }) => [id, { method, path, scope }] as const);
  return `export const OPERATIONS = ${JSON.stringify(Object.fromEntries(lines))};\n`;
}

/** The text of the module `frontdoor:provider-types`: what the console needs of each type of auth provider. */
export function providerTypesModule(): string {
  const facts = AUTH_PROVIDER_TYPES.map((type) => {
    const { protocol, metadata, example, texts } = PROVIDER_TYPES[type];
    const hasMetadata = metadata(example) !== undefined;
    return [type, { hasKeys: protocol === 'keys', hasMetadata, ...texts }] as const;
  });
  return `export const PROVIDER_TYPE_FACTS = ${JSON.stringify(Object.fromEntries(facts))};\n`;
}

/** The text of the module `frontdoor:curl-command`: a file of the contract that imports nothing. */
export function curlModule(): Promise<string> {
  return readFile(join(PACKAGE_ROOT, CURL_FILE), 'utf8');
}

/** The text of the module `#domain/backend-modes`, which imports nothing. */
export function modesModule(): Promise<string> {
  return readFile(join(PACKAGE_ROOT, MODES_FILE), 'utf8');
}

/** The text of the module `#contract/access-sentences`, which imports nothing but types. */
export function sentencesModule(): Promise<string> {
  return readFile(join(PACKAGE_ROOT, SENTENCES_FILE), 'utf8');
}

/** The text of the module `frontdoor:version`. */
export async function versionModule(): Promise<string> {
  const { version } = readManifest(await readFile(join(PACKAGE_ROOT, 'package.json'), 'utf8'));
  return `export const VERSION = ${JSON.stringify(version)};\n`;
}

/** Returns the hash of everything that a build is made from, or undefined if the sources are not there. */
export async function sourceKey(root: string): Promise<string | undefined> {
  const paths: string[] = [];
  for await (const path of glob(`${SOURCE_FOLDER}/**/*.{ts,tsx,css,svg,png,woff2}`, { cwd: root }))
    if (!/\.(?:test|d)\.tsx?$|\/testing\//.test(path)) paths.push(path);
  paths.sort();
  if (paths.length === 0) return undefined;
  const hash = createHash('sha256');
  const add = (name: string, text: string): void => {
    hash.update(`${name}\0${Buffer.byteLength(text)}\0${text}`);
  };
  add(
    'options',
    JSON.stringify([BUNDLE_OPTIONS, COMPRESSION, process.versions.zlib, process.versions['brotli']]),
  );
  add('operations', operationsModule());
  add('provider types', providerTypesModule());
  add('curl', await curlModule());
  add('modes', await modesModule());
  add('sentences', await sentencesModule());
  add('version', await versionModule());
  add('packages', JSON.stringify(await lockRows(root)));
  add('manifest', JSON.stringify(await bundledFields(root)));
  for (const path of paths) add(path, await readFile(join(root, path), 'latin1'));
  return hash.digest('hex').slice(0, KEY_CHARS);
}

/** What the bundler reads of the package's own manifest: how it takes its modules, and which of them it may leave out. */
async function bundledFields(root: string): Promise<readonly unknown[]> {
  const path = join(root, 'package.json');
  if (!existsSync(path)) return [];
  const { type, sideEffects } = readJsonObject(await readFile(path, 'utf8'));
  return [type, sideEffects];
}

/** Place, version and hash of each package that a build uses. */
async function lockRows(root: string): Promise<readonly (readonly (string | undefined)[])[]> {
  const path = join(root, LOCK_FILE);
  if (!existsSync(path)) return [];
  const { packages } = readLockFile(await readFile(path, 'utf8'));
  const found = new Set<string>();
  for (const name of PACKAGES) found.add(`node_modules/${name}`);
  for (const at of found) {
    const { dependencies, optionalDependencies, peerDependencies } = packages[at] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const next = placeOf(packages, at, name);
      if (next !== undefined) found.add(next);
    }
  }
  return [...found].sort().map((at) => [at, packages[at]?.version, packages[at]?.integrity]);
}

/** Where Node finds a package that another one imports. */
function placeOf(packages: LockRows, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, folder.lastIndexOf('/node_modules/'))) {
    const place = `${folder}/node_modules/${name}`;
    if (packages[place] !== undefined) return place;
    if (!folder.includes('/node_modules/')) break;
  }
  return packages[`node_modules/${name}`] === undefined ? undefined : `node_modules/${name}`;
}
