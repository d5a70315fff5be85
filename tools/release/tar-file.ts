/** Tar files that are equal whenever their content is: files by name, without owners of this machine, and with one time. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder, without what is in it, whose owner and mode differ from those of everything else. */
export interface OwnedFolder {
  readonly path: string;
  /** As `chmod` takes it: `0700`. */
  readonly mode: string;
  /** Number of the user and the group. */
  readonly owner: number;
}

const MAX_BYTES = 1024 * 1024 * 1024;
const ROOT = 0;
/** Everyone may read, and run what its owner may run. */
const READABLE = 'u=rwX,go=rX';

/** Everything in the folder belongs to root and is readable, but for the `owned` folders. */
export function tarOf(
  folder: string,
  timeS: number,
  names: readonly string[] = readdirSync(folder).toSorted(),
  owned: readonly OwnedFolder[] = [],
): Buffer {
  const top = mkdtempSync(join(tmpdir(), 'frontdoor-tar-'));
  const file = join(top, 'file.tar');
  const pack = (mode: string, owner: number, more: readonly string[]): void => {
    const order = ['--format=ustar', '--sort=name', `--mtime=@${timeS}`];
    const owners = [`--owner=${owner}`, `--group=${owner}`, '--numeric-owner', `--mode=${mode}`];
    execFileSync('tar', [...order, ...owners, '--file', file, '--directory', folder, ...more]);
  };
  try {
    const others = owned.map(({ path }) => `--exclude=${path}`);
    pack(READABLE, ROOT, ['--create', '--anchored', ...others, ...names]);
    for (const { path, mode, owner } of owned) pack(mode, owner, ['--append', '--no-recursion', path]);
    return readFileSync(file);
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
}

export function gzipOf(tar: Buffer, level = 9): Buffer {
  return execFileSync('gzip', [`-${level}`, '-n'], { input: tar, maxBuffer: MAX_BYTES });
}
