/** The pinned Node of a platform: the program alone, without symbols, from the package that the lock file names. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../pinned-process.ts';
import { lockRows } from './production-packages.ts';

/** The files of its package that a release has: no headers, documents or npm. */
const KEPT = ['package.json', 'LICENSE', 'bin/node'];
/** So that two editions of a platform load it once. */
const CACHE = '.cache/release-nodes';

/** Copies it to the folder `to`. */
export function copyNode(
  name: string,
  strip: readonly [command: string, debianPackage: string] | undefined,
  to: string,
): void {
  const installed = join(repositoryRoot, 'node_modules', name);
  const from = existsSync(join(installed, 'bin/node')) ? installed : loadPackage(name);
  for (const path of KEPT) if (existsSync(join(from, path))) cpSync(join(from, path), join(to, path));
  const program = join(to, 'bin/node');
  chmodSync(program, 0o755);
  if (strip === undefined) return;
  const [command, debianPackage] = strip;
  try {
    execFileSync(command, [program], { stdio: 'pipe' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Error(
      `${command} is missing, which makes Node a quarter smaller: apt-get install ${debianPackage}`,
    );
  }
}

/** Loads the package of another platform from the registry, and checks it against the lock file. */
function loadPackage(name: string): string {
  const { version, integrity } = lockRows()[`node_modules/${name}`]!;
  const folder = join(repositoryRoot, CACHE, `${name}-${version}`);
  if (existsSync(folder)) return folder;
  mkdirSync(join(repositoryRoot, CACHE), { recursive: true });
  const temporary = mkdtempSync(`${folder}-`);
  try {
    const words = ['pack', `${name}@${version}`, '--silent', '--pack-destination', temporary];
    const file = execFileSync('npm', words, { encoding: 'utf8', cwd: temporary }).trim();
    const sum = createHash('sha512')
      .update(readFileSync(join(temporary, file)))
      .digest('base64');
    if (integrity !== `sha512-${sum}`)
      throw new Error(`${name} ${version} from the registry is not the package that package-lock.json names`);
    // The folder is there once it is whole.
    const whole = join(temporary, 'whole');
    mkdirSync(whole);
    execFileSync('tar', ['-xzf', join(temporary, file), '--strip-components=1', '-C', whole]);
    renameSync(whole, folder);
    return folder;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}
