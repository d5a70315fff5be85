/**
 * The program that builds the console, in a process of its own. It prints the key of the build. A control plane runs it with
 * a low priority; `frontdoor dev console`, whose user waits for it, without.
 */
import { constants, setPriority } from 'node:os';
import { parseArgs } from 'node:util';
import { messageOf } from '#base';
import { buildInto, packInto } from './build-into.ts';
import { sizesOf } from './build-sizes.ts';
import { watchConsole } from './build-watch.ts';
import { cacheFolder, PACKAGE_ROOT } from './console-source.ts';

const USAGE = `usage: frontdoor dev console [--watch] [--folder FOLDER]
  --watch          builds again whenever a file changes; a control plane of this clone serves it, and open pages reload
  --folder FOLDER  keeps the builds there
`;

/** Returns the exit status. */
async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      folder: { type: 'string' },
      root: { type: 'string', default: PACKAGE_ROOT },
      pack: { type: 'string' },
      sizes: { type: 'boolean', default: false },
      'low-priority': { type: 'boolean', default: false },
      watch: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const { root, pack, sizes, watch, help } = values;
  // The lowest one would wait for minutes on a machine that has enough to do.
  if (values['low-priority']) setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  const folder = values.folder ?? cacheFolder(root);
  const print = (text: string): void => void process.stdout.write(text);
  if (help) print(USAGE);
  else if (watch) await watchConsole({ folder, root, print });
  else {
    const { key, files } = pack === undefined ? await buildInto(folder, root) : await packInto(pack, root);
    print(`${sizes ? sizesOf(files) : ''}${key}\n`);
  }
  return 0;
}

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
}
