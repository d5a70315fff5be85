/**
 * `frontdoor dev console --watch`: builds the console again whenever a file changes, with source maps. Control planes of this
 * clone look for what it has built last (`WatchedBuild`), and the pages ask them for it and reload themselves.
 */
import { createHash } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';
import { replaceBuild } from './built-console.ts';
import { compressed, esbuildOptions, filesOf } from './console-bundle.ts';
import { watchedFile } from './watched-build.ts';

export interface WatchOptions {
  readonly folder: string;
  readonly root: string;
  readonly print: (text: string) => void;
}

const ASK_MS = 500;
/** Part of each file; one of a page begins to ask. */
const RELOAD = `
if (!globalThis.frontdoorReload) {
  globalThis.frontdoorReload = true;
  const of = (name) => document.querySelector('meta[name=frontdoor-console-' + name + ']')?.content;
  setInterval(async () => {
    const build = await fetch(of('base') + '/assets/watched').then((it) => (it.ok ? it.text() : undefined)).catch(() => {});
    if (build !== undefined && build !== of('build')) location.reload();
  }, ${ASK_MS});
}
`;

/** Resolves when the process is asked to end. */
export async function watchConsole({ folder, root, print }: WatchOptions): Promise<void> {
  const esbuild = await import('esbuild');
  const marker = watchedFile(folder);
  const keep: Plugin = {
    name: 'keep',
    setup: ({ onEnd }) => {
      onEnd(async (result) => {
        for (const line of await esbuild.formatMessages(result.errors, { kind: 'error' })) print(line);
        if (result.errors.length > 0) return;
        const files = filesOf(result as Parameters<typeof filesOf>[0]).map(compressed);
        const hash = createHash('sha256');
        for (const { name, bytes } of files) hash.update(name).update(bytes);
        const key = hash.digest('hex').slice(0, 20);
        await replaceBuild(folder, key, files);
        await writeFile(marker, `${process.pid} ${key}\n`);
        print(`built ${key}\n`);
      });
    },
  };
  const options = esbuildOptions(root);
  const context = await esbuild.context({
    ...options,
    minify: false,
    sourcemap: 'linked',
    footer: { js: RELOAD },
    plugins: [...options.plugins!, keep],
  });
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  process.once('SIGINT', () => end());
  process.once('SIGTERM', () => end());
  await context.watch();
  await ended;
  await context.dispose();
  await rm(marker, { force: true });
}
