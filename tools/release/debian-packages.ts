/**
 * The Debian packages whose files an image has, in the versions of `deploy/image/debian-packages.json`. `apt-get` loads them from the
 * archives that this machine is configured for, and verifies the signatures of those; the sums in the file make two builds equal.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '#base';
import { repositoryRoot } from '../pinned-process.ts';
import { sumOfFile } from './sha256.ts';

export interface LockedPackage {
  readonly name: string;
  readonly version: string;
  /** SHA-256 of the package by architecture. */
  readonly sums: Readonly<Record<string, string>>;
}

export interface UnpackedPackage {
  readonly name: string;
  readonly version: string;
  /** What Debian's database of installed packages has about it. */
  readonly control: string;
  /** Where its files are. */
  readonly folder: string;
}

export const LOCK_FILE = 'deploy/image/debian-packages.json';
const LOCK_COMMAND = 'node bin/frontdoor.js dev node tools/release/lock-debian-packages.ts';
const CACHE = '.cache/release-debian';

export function lockedPackages(): readonly LockedPackage[] {
  return JSON.parse(readFileSync(join(repositoryRoot, LOCK_FILE), 'utf8')) as LockedPackage[];
}

/** Unpacks them below `top`. */
export function unpackDebian(architecture: string, top: string): UnpackedPackage[] {
  mkdirSync(top);
  const apt = new Apt(architecture);
  return lockedPackages().map((each) => {
    const file = apt.load(each);
    const folder = join(top, each.name);
    execFileSync('dpkg-deb', ['--extract', file, folder]);
    const control = execFileSync('dpkg-deb', ['--field', file], { encoding: 'utf8' });
    return { name: each.name, version: each.version, control, folder };
  });
}

/** `apt-get` for an architecture, apart from the packages of this machine. */
export class Apt {
  readonly #architecture: string;
  readonly #folder: string;
  readonly #options: readonly string[];
  #isCurrent = false;

  constructor(architecture: string) {
    this.#architecture = architecture;
    this.#folder = join(repositoryRoot, CACHE, architecture);
    for (const path of ['state/lists/partial', 'cache/archives/partial', 'packages'])
      mkdirSync(join(this.#folder, path), { recursive: true });
    const status = join(this.#folder, 'state/status');
    writeFileSync(status, '');
    const settings = {
      'APT::Architecture': architecture,
      'APT::Architectures': architecture,
      'APT::Sandbox::User': 'root',
      'Acquire::Languages': 'none',
      'Dir::State': join(this.#folder, 'state'),
      'Dir::State::status': status,
      'Dir::Cache': join(this.#folder, 'cache'),
    };
    this.#options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  }

  /** Version and sum of what Debian offers now. */
  offered(name: string): { readonly version: string; readonly sum: string } {
    this.#update();
    const words = [...this.#options, 'show', '--no-all-versions', name];
    const text = execFileSync('apt-cache', words, { encoding: 'utf8' });
    const field = (key: string): string => new RegExp(`^${key}: (.+)$`, 'm').exec(text)?.[1] ?? '';
    return { version: field('Version'), sum: field('SHA256') };
  }

  /** Returns the file of the package. */
  load({ name, version, sums }: LockedPackage): string {
    const sum = sums[this.#architecture];
    const file = join(this.#folder, 'packages', `${sum}.deb`);
    if (existsSync(file) && sumOfFile(file) === sum) return file;
    this.#update();
    const cwd = join(this.#folder, 'cache');
    const found = this.#download(`${name}=${version}`, cwd);
    if (sumOfFile(join(cwd, found)) !== sum)
      throw new Error(`${name} ${version} is not the package that ${LOCK_FILE} names`);
    renameSync(join(cwd, found), file);
    return file;
  }

  /** Returns the name of the file. */
  #download(what: string, cwd: string): string {
    const words = [...this.#options, 'download', what];
    try {
      const uri = execFileSync('apt-get', [...words, '--print-uris'], { encoding: 'utf8', cwd });
      execFileSync('apt-get', words, { stdio: 'pipe', cwd });
      return uri.split(' ')[1]!;
    } catch (error) {
      const hint = `Debian replaces packages by corrected ones: "${LOCK_COMMAND}" takes the present ones`;
      throw new Error(`${what} cannot be loaded. ${hint}. ${messageOf(error)}`, { cause: error });
    }
  }

  #update(): void {
    if (this.#isCurrent) return;
    this.#isCurrent = true;
    execFileSync('apt-get', [...this.#options, 'update'], { stdio: 'pipe' });
  }
}
