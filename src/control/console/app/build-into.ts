/** Builds the console into a folder, unless the build of these sources is there. */
import { FrontdoorError } from '#base';
import { readBuild, replaceBuild, type BuiltConsole, type ConsoleFile } from './built-console.ts';
import { bundleConsole, compressed, filesOf } from './console-bundle.ts';
import { sourceKey } from './console-source.ts';

/** Sources that change under a build: it begins again. */
const MAX_ATTEMPTS = 3;

/** @throws FrontdoorError if a source is wrong, and what the disk says. */
export async function buildInto(folder: string, root: string): Promise<BuiltConsole> {
  let key = await sourceKey(root);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    if (key === undefined) throw new FrontdoorError('invalid', 'console-build', `${root} has no src/console`);
    const there = await readBuild(folder, key);
    if (there !== undefined) return there;
    const files: readonly ConsoleFile[] = filesOf(await bundleConsole(root)).map(compressed);
    const keyAfter = await sourceKey(root);
    if (keyAfter === key) {
      await replaceBuild(folder, key, files);
      return { key, files: new Map(files.map((file) => [file.name, file])) };
    }
    key = keyAfter;
  }
  throw new FrontdoorError('invalid', 'console-build', 'the sources of the console change all the time');
}
