/**
 * `frontdoor dev console`: builds the console, and prints what each file weighs and the key of the build.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '#base';
import { buildInto } from './build-into.ts';
import { sizesOf } from './build-sizes.ts';
import { watchConsole } from './build-watch.ts';
import { bundleStylePage } from './console-bundle.ts';
import { builtFolders, PACKAGE_ROOT } from './console-source.ts';

const USAGE = `usage: frontdoor dev console [--watch | --style-page] [--folder FOLDER]
  --watch          builds again whenever a file changes; a control plane of this clone serves it, and open pages reload
  --style-page     writes dist/style-page/index.html, which shows every component with made-up data
  --folder FOLDER  builds into this folder
`;

/** Returns the exit status. */
async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      folder: { type: 'string' },
      root: { type: 'string', default: PACKAGE_ROOT },
      watch: { type: 'boolean', default: false },
      'style-page': { type: 'boolean', default: false },
      quiet: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const { root, watch, quiet, help } = values;
  const folder = values.folder ?? builtFolders(root)[0]!;
  const print = (text: string): void => void process.stdout.write(text);
  if (help) print(USAGE);
  else if (values['style-page']) print(`${await writeStylePage(root)}\n`);
  else if (watch) await watchConsole({ folder, root, print });
  else {
    const { key, files } = await buildInto(folder, root);
    if (!quiet) print(`${sizesOf(files)}${key}\n`);
  }
  return 0;
}

/** Returns the path of the file. */
async function writeStylePage(root: string): Promise<string> {
  const path = join(root, 'dist/style-page/index.html');
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, await bundleStylePage(root));
  return path;
}

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
}
