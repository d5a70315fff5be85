/** From which commit the programs are: a package names it in the manifest of its programs, a clone in `.git`. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import process from 'node:process';
import { isJsonObject } from '#base';
import type { BuildFacts } from '#cli';
import { versionText, type ProgramVersion } from '#domain/versions';
import { currentBundle, PACKAGE_ROOT, packedBundle } from './program-bundle.ts';

const COMMIT = /^[0-9a-f]{40,64}$/;

const DAY = /^\d{4}-\d{2}-\d{2}$/;

export function buildFacts(root = PACKAGE_ROOT): BuildFacts {
  const { commit, date } = programVersion(root);
  if (existsSync(packedBundle(root))) return { commit, date, programs: 'package' };
  const isBundled = currentBundle(root) !== undefined;
  return {
    commit,
    date: commit === undefined ? undefined : commitDay(root, commit),
    programs: isBundled ? 'bundle of this clone' : 'sources of this clone',
  };
}

/** The version of these programs as parts report it. */
export function programVersionText(root = PACKAGE_ROOT): string {
  return versionText(programVersion(root));
}

/** The day of the commit is in packages only: in a clone, git alone has it at hand. */
function programVersion(root: string): ProgramVersion {
  const read: unknown = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const manifest = isJsonObject(read) ? read : {};
  const textIn = (name: string, form: RegExp): string | undefined => {
    const value = manifest[name];
    return typeof value === 'string' && form.test(value) ? value : undefined;
  };
  return {
    version: textIn('version', /./) ?? '0.0.0',
    commit: textIn('commit', COMMIT) ?? cloneCommit(root),
    date: textIn('commitDate', DAY),
  };
}

/** The day of a commit of a clone in UTC; undefined where git is not installed. */
export function commitDay(root: string, commit: string): string | undefined {
  const words = ['show', '--no-patch', '--date=format-local:%Y-%m-%d', '--format=%cd', commit];
  try {
    const options = {
      cwd: root,
      encoding: 'utf8',
      stdio: 'pipe',
      env: { ...process.env, TZ: 'UTC' },
    } as const;
    return execFileSync('git', words, options).trim();
  } catch {
    return undefined;
  }
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
