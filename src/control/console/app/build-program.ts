/**
 * `frontdoor dev console`: builds the console, and prints what each file weighs and the key of the build.
 */
import { parseArgs } from 'node:util';
import { messageOf } from '#base';
import { buildInto } from './build-into.ts';
import { sizesOf } from './build-sizes.ts';
import { watchConsole } from './build-watch.ts';
import { builtFolders, PACKAGE_ROOT } from './console-source.ts';

const USAGE = `usage: frontdoor dev console [--watch] [--folder FOLDER]
  --watch          builds again whenever a file changes; a control plane of this clone serves it, and open pages reload
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
      quiet: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const { root, watch, quiet, help } = values;
  const folder = values.folder ?? builtFolders(root)[0]!;
  const print = (text: string): void => void process.stdout.write(text);
  if (help) print(USAGE);
  else if (watch) await watchConsole({ folder, root, print });
  else {
    const { key, files } = await buildInto(folder, root);
    if (!quiet) print(`${sizesOf(files)}${key}\n`);
  }
  return 0;
}

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
}
