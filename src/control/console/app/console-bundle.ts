/** Bundles the sources of the console with esbuild, which is loaded here alone: by a build. */
import { basename } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { BuildOptions, BuildResult, Metafile, OnLoadResult, Plugin } from 'esbuild';
import { FrontdoorError } from '#base';
import { BUNDLE_OPTIONS, COMPRESSION } from './bundle-options.ts';
import type { ConsoleFile, FileRole } from './built-console.ts';
import {
  curlModule,
  modesModule,
  operationsModule,
  providerTypesModule,
  sentencesModule,
  versionModule,
} from './console-source.ts';
import { directImports } from './direct-imports.ts';

/** Modules of other parts that the program is built with, by the names that its files import. */
const MODULES: Readonly<Record<string, () => Promise<OnLoadResult>>> = {
  'frontdoor:operations': async () => ({ contents: operationsModule(), loader: 'js' }),
  'frontdoor:provider-types': async () => ({ contents: providerTypesModule(), loader: 'js' }),
  'frontdoor:curl-command': async () => ({ contents: await curlModule(), loader: 'ts' }),
  'frontdoor:version': async () => ({ contents: await versionModule(), loader: 'js' }),
  '#domain/backend-modes': async () => ({ contents: await modesModule(), loader: 'ts' }),
  '#contract/access-sentences': async () => ({ contents: await sentencesModule(), loader: 'ts' }),
};
/** It is not written: the names of a build have no folder. */
const OUT_FOLDER = 'out';
const STYLE_PAGE = 'src/console/testing/style-page.tsx';

type Bundled = BuildResult<{ metafile: true; write: false }>;

const contractPlugin: Plugin = {
  name: 'frontdoor',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^(?:frontdoor:|#)/ }, ({ path }) => ({ path, namespace: 'frontdoor' }));
    onLoad({ filter: /.*/, namespace: 'frontdoor' }, ({ path }) => MODULES[path]?.());
  },
};

/** The options as esbuild takes them. */
export function esbuildOptions(root: string): BuildOptions & { metafile: true; write: false } {
  const { entryPoints, target, define, loader, tsconfigRaw, gathering, ...options } = BUNDLE_OPTIONS;
  return {
    ...options,
    entryPoints: { ...entryPoints },
    target: [...target],
    define: { ...define },
    loader: { ...loader },
    tsconfigRaw: { compilerOptions: { ...tsconfigRaw.compilerOptions } },
    absWorkingDir: root,
    outdir: OUT_FOLDER,
    plugins: [contractPlugin, directImports(root, gathering)],
    metafile: true,
    write: false,
    logLevel: 'silent',
  };
}

/** @throws FrontdoorError with the lines of esbuild, if a file is wrong. */
export async function bundleConsole(root: string): Promise<Bundled> {
  const esbuild = await import('esbuild');
  try {
    return await esbuild.build(esbuildOptions(root));
  } catch (cause) {
    throw new FrontdoorError('invalid', 'console-build', linesOf(cause), { cause });
  } finally {
    await esbuild.stop();
  }
}

/** The style page (ADR 0110) as one document, for a browser that opens the file. */
export async function bundleStylePage(root: string): Promise<string> {
  const esbuild = await import('esbuild');
  try {
    const { outputFiles } = await esbuild.build({
      ...esbuildOptions(root),
      entryPoints: { style: STYLE_PAGE },
      splitting: false,
      minify: false,
    });
    const textOf = (ending: string): string =>
      outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? '';
    // The end of a script or style inside of a text would end the element.
    const inside = (ending: string): string => textOf(ending).replaceAll(/<\/(?=script|style)/gi, '<\\/');
    return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Frontdoor</title>
<style>${inside('.css')}</style><div id="root"></div><script type="module">${inside('.js')}</script></html>\n`;
  } catch (cause) {
    throw new FrontdoorError('invalid', 'console-build', linesOf(cause), { cause });
  } finally {
    await esbuild.stop();
  }
}

export function compressed(file: Omit<ConsoleFile, 'gzip' | 'brotli'>): ConsoleFile {
  const { bytes } = file;
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: COMPRESSION.brotli,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return {
    ...file,
    gzip: gzipSync(bytes, { level: COMPRESSION.gzip }),
    brotli: brotliCompressSync(bytes, { params }),
  };
}

/** The files of a build, each with its role in the document. */
export function filesOf({ metafile, outputFiles }: Bundled): readonly Omit<ConsoleFile, 'gzip' | 'brotli'>[] {
  const roles = rolesOf(metafile);
  return outputFiles
    .map(({ path, contents }) => {
      const name = basename(path);
      return { name, role: roles.get(name) ?? 'later', bytes: contents };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What the document loads at once: the entry, its style, and the chunks that it imports. */
function rolesOf({ outputs }: Metafile): ReadonlyMap<string, FileRole> {
  const roles = new Map<string, FileRole>();
  const [entryPath, entry] = Object.entries(outputs).find(([, { entryPoint }]) =>
    entryPoint?.endsWith(BUNDLE_OPTIONS.entryPoints.main),
  )!;
  const first = new Set([entryPath]);
  for (const path of first)
    for (const { path: next, kind } of outputs[path]?.imports ?? [])
      if (kind === 'import-statement' && outputs[next] !== undefined) first.add(next);
  for (const path of first) roles.set(basename(path), path === entryPath ? 'entry' : 'preload');
  if (entry.cssBundle !== undefined) roles.set(basename(entry.cssBundle), 'style');
  for (const [path, { cssBundle }] of Object.entries(outputs)) {
    if (cssBundle === undefined || path === entryPath) continue;
    const message = `${path} has a style of its own, which nothing loads: import it in ${BUNDLE_OPTIONS.entryPoints.main}`;
    throw new FrontdoorError('invalid', 'console-build', message);
  }
  return roles;
}

function linesOf(error: unknown): string {
  const { errors } = error as { readonly errors?: BuildResult['errors'] };
  if (errors === undefined || errors.length === 0)
    return error instanceof Error ? error.message : String(error);
  return errors
    .map(({ text, location }) =>
      location === null ? text : `${location.file}:${location.line}:${location.column} ${text}`,
    )
    .join('\n');
}
