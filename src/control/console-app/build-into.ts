/** Builds the console into a folder that keeps builds, unless the build is there. */
import { FrontdoorError } from '#base';
import {
  compressed,
  loadBuiltConsole,
  writeBuiltConsole,
  type BuiltConsole,
  type ConsoleFile,
} from './built-console.ts';
import { bundleConsole } from './console-bundle.ts';
import { sourceKey } from './console-source.ts';

/** Sources that change under a build: it begins again. */
const MAX_ATTEMPTS = 3;

/** @throws FrontdoorError if a source is wrong, and what the disk says. */
export async function buildInto(folder: string, root: string): Promise<BuiltConsole> {
  let key = await sourceKey(root);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    if (key === undefined) throw new FrontdoorError('invalid', 'console-build', `${root} has no src/console`);
    const there = await loadBuiltConsole(folder, key);
    if (there !== undefined) return there;
    const files: readonly ConsoleFile[] = (await bundleConsole(root)).map(compressed);
    const keyAfter = await sourceKey(root);
    if (keyAfter === key) {
      await writeBuiltConsole(folder, key, files);
      return { key, files: new Map(files.map((file) => [file.name, file])) };
    }
    key = keyAfter;
  }
  throw new FrontdoorError('invalid', 'console-build', 'the sources of the console change all the time');
}
