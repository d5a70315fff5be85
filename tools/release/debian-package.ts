/**
 * The Debian package of an architecture: the tree of the archive in the places of Debian, with units for systemd (ADR 0101).
 * Needs `dpkg-deb`. Two packages of one commit are equal.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { writeTextFile } from '../build-programs.ts';
import { repositoryRoot } from '../pinned-process.ts';
import { DEBIAN_PLATFORMS, makeTree } from './archive.ts';
import type { Release } from './release-facts.ts';

const SCRIPTS = ['postinst', 'prerm', 'postrm'];
const UNITS = 'deploy/systemd';
const DEBIAN = 'deploy/debian';
const DOCUMENTS = 'usr/share/doc/frontdoor';
/** Debian's place for completions that packages bring, beside the one of the archive. */
const ZSH = ['usr/share/zsh/site-functions', 'usr/share/zsh/vendor-completions'] as const;
const MANUALS = 'usr/share/man/*/*';
/** Folders with programs. Packages of npm bring scripts for other programs, which nothing here runs. */
const PROGRAMS = /^usr\/bin\/|\/node_modules\/node-[^/]+\/bin\//;

export function makeDebianPackages(release: Release): void {
  for (const platform of DEBIAN_PLATFORMS) {
    const root = mkdtempSync(join(tmpdir(), 'frontdoor-deb-'));
    try {
      makeTree(join(root, 'usr'), release, platform, 'all');
      packDebianPackage(root, platform.debian.architecture, release);
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  }
}

/** Packs what lies in `root` and adds what only a package has. */
export function packDebianPackage(
  root: string,
  architecture: string,
  { folder, version, timeS }: Pick<Release, 'folder' | 'version' | 'timeS'>,
): void {
  const debianVersion = debianVersionOf(version);
  addUnits(root);
  moveDocuments(root, debianVersion, timeS);
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const isOpened = entry.isDirectory() || PROGRAMS.test(path.slice(root.length + 1));
    chmodSync(path, isOpened ? 0o755 : 0o644);
  }
  chmodSync(root, 0o755);
  writeControl(root, architecture, debianVersion);
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true }))
    utimesSync(join(entry.parentPath, entry.name), timeS, timeS);
  utimesSync(root, timeS, timeS);
  const file = join(folder, `frontdoor_${debianVersion}_${architecture}.deb`);
  // With more threads, the bytes depend on their number.
  const options = ['--root-owner-group', '-Zxz', '--threads-max=1'];
  execFileSync('dpkg-deb', [...options, '--build', root, file], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(timeS) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** A version before another one has a hyphen for npm, and a tilde for Debian. */
export function debianVersionOf(version: string): string {
  return version.replace('-', '~');
}

function addUnits(root: string): void {
  const copy = (from: string, to: string): void =>
    copyFileSync(join(repositoryRoot, UNITS, from), placeOf(root, to));
  for (const unit of globSync('*.service', { cwd: join(repositoryRoot, UNITS) }))
    copy(unit, `usr/lib/systemd/system/${unit}`);
  copy('frontdoor.sysusers', 'usr/lib/sysusers.d/frontdoor.conf');
  copy('frontdoor.tmpfiles', 'usr/lib/tmpfiles.d/frontdoor.conf');
}

function moveDocuments(root: string, version: string, timeS: number): void {
  const [from, to] = ZSH;
  renameSync(join(root, from), placeOf(root, to));
  const documents = join(root, DOCUMENTS);
  // Debian has the text of this licence once for all packages.
  rmSync(join(documents, 'LICENSE'));
  copyFileSync(join(repositoryRoot, DEBIAN, 'copyright'), join(documents, 'copyright'));
  copyFileSync(
    join(repositoryRoot, DEBIAN, 'lintian-overrides'),
    placeOf(root, 'usr/share/lintian/overrides/frontdoor'),
  );
  compress(join(documents, 'CHANGELOG.md'));
  compress(join(documents, 'LICENSES-OF-PACKAGES.txt'));
  for (const page of globSync(MANUALS, { cwd: root })) compress(join(root, page));
  const changes = join(documents, 'changelog');
  writeFileSync(changes, changelogOf(version, timeS));
  compress(changes);
}

function placeOf(root: string, path: string): string {
  const place = join(root, path);
  mkdirSync(dirname(place), { recursive: true });
  return place;
}

function compress(path: string): void {
  execFileSync('gzip', ['-9', '-n', path]);
}

/** What Debian's tools read; the changes themselves are in CHANGELOG.md. */
function changelogOf(version: string, timeS: number): string {
  const date = new Date(timeS * 1_000).toUTCString().replace('GMT', '+0000');
  return `frontdoor (${version}) unstable; urgency=medium\n\n  * See CHANGELOG.md.gz.\n\n -- ${maintainer()}  ${date}\n`;
}

function controlText(): string {
  return readFileSync(join(repositoryRoot, DEBIAN, 'control'), 'utf8');
}

function maintainer(): string {
  return /^Maintainer: (.+)$/m.exec(controlText())![1]!;
}

function writeControl(root: string, architecture: string, version: string): void {
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .toSorted();
  const sums = files.map((path) => [path, readFileSync(join(root, path))] as const);
  const kilobytes = sums.reduce((sum, [, content]) => sum + Math.ceil(content.length / 1_024), 0);
  const control = join(root, 'DEBIAN');
  const fields = `Version: ${version}\nArchitecture: ${architecture}\nInstalled-Size: ${kilobytes}\n`;
  writeTextFile(join(control, 'control'), controlText().replace('\n', `\n${fields}`));
  const md5 = (content: Buffer): string => createHash('md5').update(content).digest('hex');
  writeTextFile(
    join(control, 'md5sums'),
    sums.map(([path, content]) => `${md5(content)}  ${path}\n`).join(''),
  );
  for (const script of SCRIPTS) {
    copyFileSync(join(repositoryRoot, DEBIAN, script), join(control, script));
    chmodSync(join(control, script), 0o755);
  }
}
