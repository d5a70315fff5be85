/** From which commit the programs are: a package names it in the manifest of its programs, a clone in `.git`. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isJsonObject } from '#base';
import type { BuildFacts } from '#cli';
import { currentBundle, PACKAGE_ROOT, packedBundle } from './program-bundle.ts';

const COMMIT = /^[0-9a-f]{40,64}$/;

export function buildFacts(root = PACKAGE_ROOT): BuildFacts {
  if (existsSync(packedBundle(root))) return { commit: packedCommit(root), programs: 'package' };
  const isBundled = currentBundle(root) !== undefined;
  return {
    commit: cloneCommit(root),
    programs: isBundled ? 'bundle of this clone' : 'sources of this clone',
  };
}

function packedCommit(root: string): string | undefined {
  const manifest: unknown = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const commit = isJsonObject(manifest) ? manifest['commit'] : undefined;
  return typeof commit === 'string' && COMMIT.test(commit) ? commit : undefined;
}

/** Returns undefined outside a clone. */
export function cloneCommit(root: string): string | undefined {
  try {
    const folder = gitFolder(root);
    const head = readFileSync(join(folder, 'HEAD'), 'utf8').trim();
    if (COMMIT.test(head)) return head;
    const ref = head.replace(/^ref: /, '');
    // The references of a worktree stand in the folder of its repository.
    const common = join(folder, 'commondir');
    const shared = existsSync(common) ? resolve(folder, readFileSync(common, 'utf8').trim()) : folder;
    const loose = join(shared, ref);
    if (existsSync(loose)) return readFileSync(loose, 'utf8').trim();
    const packed = readFileSync(join(shared, 'packed-refs'), 'utf8').split('\n');
    return packed.find((line) => line.endsWith(` ${ref}`))?.split(' ')[0];
  } catch {
    return undefined;
  }
}

function gitFolder(root: string): string {
  const path = join(root, '.git');
  if (statSync(path).isDirectory()) return path;
  return resolve(
    dirname(path),
    readFileSync(path, 'utf8')
      .trim()
      .replace(/^gitdir: /, ''),
  );
}
