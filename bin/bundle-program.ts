/** Bundles `program.ts` with its packages for `program-bundle.ts`. ADR 0046. */
import { readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import type { Metafile, Plugin } from 'esbuild';
import { bundleIndex, currentBundle, packedBundle, type ProgramBundle } from './program-bundle.ts';

/** Programs that run may still load a part of an older bundle. */
const KEPT_BUNDLES = 8;
/** Packages that few programs load, and none at each start: they stay as they are. */
const LOADED_LATER = [
  '@clack/prompts',
  '@peculiar/x509',
  'cli-table3',
  'esbuild',
  'nodemailer',
  'openid-client',
  'pg',
  'pg-native',
  'reflect-metadata',
  'tldts',
];
const PACKAGES_LOCK = 'node_modules/.package-lock.json';

/**
 * The project's own modules find files, workers and programs beside them, so each keeps the place of its source. `placeOf` returns the
 * expression for that address.
 */
function placesPlugin(placeOf: (path: string) => string): Plugin {
  return {
    name: 'places',
    setup: ({ onLoad }) => {
      onLoad({ filter: /[/\\](?:src|bin)[/\\][^?]*\.[jt]s$/ }, ({ path }) => {
        if (path.includes('node_modules')) return undefined;
        const text = readFileSync(path, 'utf8');
        if (!text.includes('import.meta')) return undefined;
        const contents = text
          .replaceAll('import.meta.url', placeOf(path))
          .replaceAll('import.meta.main', 'false');
        return { contents, loader: path.endsWith('.ts') ? 'ts' : 'js' };
      });
    },
  };
}

/**
 * Throws for an `import()` of a CommonJS package: in a bundle its names would all be undefined, for there it has a default
 * export only. Such a package belongs to `LOADED_LATER`.
 */
function refuseLostNames({ inputs }: Metafile): void {
  for (const [path, { imports }] of Object.entries(inputs))
    for (const { kind, path: imported } of imports)
      if (kind === 'dynamic-import' && inputs[imported]?.format === 'cjs')
        throw new Error(`${path} imports ${imported}, which has no names in a bundle`);
}

/** `requireFrom` is the expression for the address from which packages are required. */
async function bundle(
  root: string,
  entry: string,
  outdir: string,
  placeOf: (path: string) => string,
  requireFrom: string,
): Promise<Metafile> {
  const { build } = await import('esbuild');
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    target: 'node26',
    // Sources stay in memory. Names stay, for stacks.
    minifyWhitespace: true,
    external: [...LOADED_LATER],
    plugins: [placesPlugin(placeOf)],
    logLevel: 'silent',
    metafile: true,
    outdir,
    outExtension: { '.js': '.mjs' },
    splitting: true,
    format: 'esm',
    banner: {
      js:
        'import{createRequire as requireOfPackages}from"node:module";' +
        `const require=requireOfPackages(${requireFrom});`,
    },
  });
  refuseLostNames(metafile);
  return metafile;
}

/** Bundles the compiled programs of a package in its folder `top`; the bundle works wherever the package is installed. */
export async function bundlePackage(top: string): Promise<void> {
  const outdir = dirname(packedBundle(top));
  const placeOf = (path: string): string =>
    `new URL(${JSON.stringify(relative(outdir, path).replaceAll(sep, '/'))},import.meta.url).href`;
  await bundle(top, 'bin/program.js', outdir, placeOf, 'import.meta.url');
}

/** Does nothing where the bundle is current. @throws when esbuild is not installed, or the folder cannot be written. */
export async function bundleProgram(root: string): Promise<void> {
  if (currentBundle(root) !== undefined) return;
  const bundles = dirname(bundleIndex(root));
  const folder = `${Date.now().toString(36)}-${process.pid}`;
  const stampOf = (path: string): ProgramBundle['files'][number] => {
    const { mtimeMs, size } = statSync(join(root, path));
    return [path, mtimeMs, size];
  };
  // A file that changes in the meantime has another stamp afterwards.
  const startedMs = Date.now();
  const metafile = await bundle(
    root,
    'bin/program.ts',
    join(bundles, folder),
    (path) => JSON.stringify(pathToFileURL(path).href),
    JSON.stringify(join(root, 'package.json')),
  );
  const own = Object.keys(metafile.inputs).filter((path) => !path.startsWith('node_modules/'));
  const files = [...own, 'package.json', PACKAGES_LOCK].map(stampOf);
  if (files.some(([, changedMs]) => changedMs >= startedMs))
    throw new Error('a source changed in the meantime');
  const next = join(bundles, `${folder}.json`);
  writeFileSync(next, JSON.stringify({ root, folder, files } satisfies ProgramBundle));
  renameSync(next, bundleIndex(root));
  removeOld(bundles);
}

function removeOld(bundles: string): void {
  // Names begin with the time, in a form whose order is the time's.
  const folders = readdirSync(bundles, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
  for (const name of folders.slice(0, -KEPT_BUNDLES))
    rmSync(join(bundles, name), { recursive: true, force: true });
}
