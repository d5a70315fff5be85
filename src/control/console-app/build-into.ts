/** Builds the console into a folder that keeps builds, unless the build is there. */
import { mkdir, rm } from 'node:fs/promises';
import { FrontdoorError } from '#base';
import {
  loadBuiltConsole,
  writeBuiltConsole,
  writeFiles,
  type BuiltConsole,
  type ConsoleFile,
} from './built-console.ts';
import { bundleConsole, compressed, filesOf } from './console-bundle.ts';
import { cacheFolder, sourceKey } from './console-source.ts';

/** Sources that change under a build: it begins again. */
const MAX_ATTEMPTS = 3;

/** Builds into `pack` itself, which is replaced: the build that a package comes with. */
export async function packInto(pack: string, root: string): Promise<BuiltConsole> {
  const built = await buildInto(cacheFolder(root), root);
  await rm(pack, { recursive: true, force: true });
  await mkdir(pack, { recursive: true });
  await writeFiles(pack, built.key, [...built.files.values()]);
  return built;
}

/** @throws FrontdoorError if a source is wrong, and what the disk says. */
export async function buildInto(folder: string, root: string): Promise<BuiltConsole> {
  let key = await sourceKey(root);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    if (key === undefined) throw new FrontdoorError('invalid', 'console-build', `${root} has no src/console`);
    const there = await loadBuiltConsole(folder, key);
    if (there !== undefined) return there;
    const files: readonly ConsoleFile[] = filesOf(await bundleConsole(root)).map(compressed);
    const keyAfter = await sourceKey(root);
    if (keyAfter === key) {
      await writeBuiltConsole(folder, key, files);
      return { key, files: new Map(files.map((file) => [file.name, file])) };
    }
    key = keyAfter;
  }
  throw new FrontdoorError('invalid', 'console-build', 'the sources of the console change all the time');
}
