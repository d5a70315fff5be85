/**
 * The library that Node needs and that bare systems lack: libatomic of GCC, whose licence permits it beside any program. An archive
 * carries it; a package of Debian depends on Debian's.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unpackDebian } from './debian-packages.ts';

const FILE = 'libatomic.so.1';
/** The package has the licence of all libraries of GCC. */
const LICENCE = 'gcc-12-base/usr/share/doc/gcc-12-base/copyright';

/** Puts it beside the program `bin/node` of the folder `node`, which then finds it there. */
export function carryLibrary(
  { architecture, triplet }: { readonly architecture: string; readonly triplet: string },
  node: string,
): void {
  const top = mkdtempSync(join(tmpdir(), 'frontdoor-library-'));
  try {
    const packages = join(top, 'packages');
    unpackDebian(architecture, packages);
    mkdirSync(join(node, 'lib'));
    copyFileSync(join(packages, 'libatomic1/usr/lib', triplet, FILE), join(node, 'lib', FILE));
    copyFileSync(join(packages, LICENCE), join(node, 'lib/copyright'));
    setRunPath(join(node, 'bin/node'));
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
}

function setRunPath(program: string): void {
  try {
    execFileSync('patchelf', ['--set-rpath', '$ORIGIN/../lib', program], { stdio: 'pipe' });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
    throw new Error('patchelf is missing, which lets Node find its library: apt-get install patchelf', {
      cause,
    });
  }
}
