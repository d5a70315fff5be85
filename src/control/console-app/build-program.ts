/**
 * The program that builds the console, in a process of its own with low priority:
 * `build-program.ts FOLDER ROOT`, where FOLDER keeps builds and ROOT is the top folder of the package. It prints the key of the build. `frontdoor dev console` runs it, too.
 */
import { constants, setPriority } from 'node:os';
import { messageOf } from '#base';
import { buildInto } from './build-into.ts';
import { sizesOf } from './build-sizes.ts';
import { cacheFolder, PACKAGE_ROOT } from './console-source.ts';

setPriority(constants.priority.PRIORITY_LOW);
const given = process.argv.slice(2);
const isForReader = given.includes('--sizes');
const [folder = cacheFolder(PACKAGE_ROOT), root = PACKAGE_ROOT] = given.filter((each) => each !== '--sizes');
try {
  const { key, files } = await buildInto(folder, root);
  process.stdout.write(`${isForReader ? sizesOf(files) : ''}${key}\n`);
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
}
