/**
 * `npm run release -- VERSION [--dry-run]`: makes a version of a clean tree. It closes the section of the changelog, sets the
 * version everywhere, commits, tags, and makes the files of the release. `--tagged` makes the files of a version that is tagged already, as
 * CI does for a tag that was pushed. Nothing is pushed or published (ADR 0106).
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { versionedFiles, withNewVersion } from './version-places.ts';

export interface VersionRun {
  /** The top folder of the repository. */
  readonly root: string;
  /** Makes the files of the release from the commit that is checked out. Resolves to an exit status. */
  readonly makeFiles: () => Promise<number>;
  /** The day that the changelog names. */
  readonly day: string;
  readonly print: (line: string) => void;
}

interface Arguments {
  readonly version: string | undefined;
  readonly isDryRun: boolean;
  readonly isTagged: boolean;
}

const USAGE = 'usage: npm run release -- VERSION [--dry-run]\n       npm run release -- --tagged';
const VERSION = /^\d{1,9}\.\d{1,9}\.\d{1,9}(?:-[0-9A-Za-z.-]+)?$/;
const UNRELEASED = '## Unreleased';
const CHANGELOG = 'CHANGELOG.md';
const MANIFESTS = ['package.json', 'package-lock.json'];
/** Beside the files of the release. */
export const NOTES = 'dist/release/NOTES.md';

/** What stops a release before anything was changed. */
class NoRelease extends Error {}

/** Resolves to the exit status: 2 if nothing was done, 1 if the version exists and its files do not. */
export async function makeVersion(args: readonly string[], run: VersionRun): Promise<number> {
  try {
    const { version, isDryRun, isTagged } = parsedArguments(args);
    if (isTagged) return await makeTagged(run);
    return await makeNew(version!, isDryRun, run);
  } catch (error) {
    if (!(error instanceof NoRelease)) throw error;
    run.print(`release: ${error.message}`);
    return 2;
  }
}

function parsedArguments(args: readonly string[]): Arguments {
  const [isDryRun, isTagged] = [args.includes('--dry-run'), args.includes('--tagged')];
  const words = args.filter((word) => word !== '--dry-run' && word !== '--tagged');
  const [version, ...more] = words;
  if (more.length > 0 || (version === undefined) !== isTagged || (isTagged && isDryRun))
    throw new NoRelease(USAGE);
  if (version !== undefined && !VERSION.test(version))
    throw new NoRelease(`"${version}" is no version such as 0.1.0\n${USAGE}`);
  return { version, isDryRun, isTagged };
}

async function makeNew(version: string, isDryRun: boolean, run: VersionRun): Promise<number> {
  const { root, day, print } = run;
  const tag = `v${version}`;
  checkTree(root);
  checkTag(root, tag, version);
  const changelog = closedChangelog(read(root, CHANGELOG), version, day);
  const notes = notesOf(changelog, version);
  const isSigned = gitText(root, 'config', '--default', '', '--get', 'user.signingkey') !== '';
  const tagging = isSigned ? 'a signed tag' : 'an annotated tag (git has no user.signingkey)';
  if (isDryRun) {
    print(
      `Would set the version ${version} in ${MANIFESTS.join(' and ')}, manifests, compose files and guides, close the section of ${CHANGELOG},`,
    );
    print(`commit it, make ${tagging} ${tag}, and make the files of the release. The notes would be:\n`);
    print(notes);
    return 0;
  }
  const before = gitText(root, 'rev-parse', 'HEAD');
  const former = versionOf(root);
  try {
    writeFileSync(join(root, CHANGELOG), changelog);
    for (const path of MANIFESTS) writeFileSync(join(root, path), withVersion(read(root, path), version));
    for (const path of versionedFiles(root))
      writeFileSync(join(root, path), withNewVersion(read(root, path), former, version));
    git(root, 'commit', '--quiet', '--all', '--message', `release: set the version ${version}`);
    git(root, 'tag', isSigned ? '--sign' : '--annotate', tag, '--cleanup=verbatim', '--message', notes);
  } catch (error) {
    // The tree was clean, so nothing else is lost.
    git(root, 'reset', '--quiet', '--hard', before);
    throw new NoRelease(`git refused it, and the tree is as it was: ${(error as Error).message}`);
  }
  print(`${tag} is ${tagging} of ${gitText(root, 'rev-parse', 'HEAD')}.`);
  const status = await makeFilesWithNotes(run, notes);
  if (status === 0) print(`To publish it: git push --atomic origin HEAD ${tag}`);
  else print(`To take it back instead: git tag --delete ${tag} && git reset --hard ${before}`);
  return status;
}

async function makeTagged(run: VersionRun): Promise<number> {
  const { root } = run;
  const version = versionOf(root);
  checkTree(root);
  const tags = gitText(root, 'tag', '--points-at', 'HEAD').split('\n');
  if (!tags.includes(`v${version}`))
    throw new NoRelease(`the commit has no tag v${version}: check out the tag of a version`);
  return makeFilesWithNotes(run, notesOf(read(root, CHANGELOG), version));
}

async function makeFilesWithNotes({ root, makeFiles, print }: VersionRun, notes: string): Promise<number> {
  const status = await makeFiles().catch((error: unknown) => {
    print(`release: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  });
  if (status !== 0) {
    print('release: the version is tagged, but its files were not made. Correct the cause, then run:');
    print('  npm run release -- --tagged');
    return 1;
  }
  writeFileSync(join(root, NOTES), notes);
  print(`The notes are in ${NOTES}.`);
  return 0;
}

function checkTree(root: string): void {
  const changed = gitText(root, 'status', '--porcelain');
  if (changed !== '')
    throw new NoRelease(`the tree is not clean: commit these files, or remove them\n${changed}`);
}

function checkTag(root: string, tag: string, version: string): void {
  const tags = gitText(root, 'tag', '--list', 'v*', '--sort=-version:refname').split('\n').filter(Boolean);
  if (tags.includes(tag)) throw new NoRelease(`there is a tag ${tag} already: choose the next version`);
  const newer = tags.find((other) => compared(other.slice(1), version) > 0);
  if (newer !== undefined && !version.includes('-'))
    throw new NoRelease(`${newer} is newer than ${version}: choose the next version`);
}

/** By the three numbers; the rest of a version has no order here. */
function compared(one: string, other: string): number {
  const [a, b] = [one, other].map((version) => version.split(/[-.]/).slice(0, 3).map(Number));
  return a!.map((number, at) => number - b![at]!).find((difference) => difference !== 0) ?? 0;
}

/** Gives the unreleased section the version and the day, and begins an empty one above it. */
function closedChangelog(text: string, version: string, day: string): string {
  const [head = '', body] = text.split(`${UNRELEASED}\n`, 2);
  const section = body?.split(/^## /m, 1)[0]!.trim() ?? '';
  if (section === '')
    throw new NoRelease(`${CHANGELOG} has nothing below "${UNRELEASED}": say there what users can do now`);
  return `${head}${UNRELEASED}\n\n## ${version} (${day})\n${body}`;
}

/** The section of the changelog, and how to check what was loaded. */
function notesOf(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m);
  const section = sections.find((text) => text.startsWith(`${version} (`));
  if (section === undefined) throw new NoRelease(`${CHANGELOG} has no section "## ${version} (DAY)"`);
  return (
    `Frontdoor ${version}\n\n${section.slice(section.indexOf('\n')).trim()}\n\n` +
    'Check what you have loaded: sha256sum --check --ignore-missing SHA256SUMS\n'
  );
}

/** A manifest of npm, or its lock file, which names the version twice. */
function withVersion(text: string, version: string): string {
  const manifest = JSON.parse(text) as { version: string; packages?: Record<string, { version?: string }> };
  manifest.version = version;
  const own = manifest.packages?.[''];
  if (own !== undefined) own.version = version;
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

function versionOf(root: string): string {
  return (JSON.parse(read(root, 'package.json')) as { readonly version: string }).version;
}

function read(root: string, path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

function git(root: string, ...args: string[]): void {
  execFileSync('git', args, { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] });
}

function gitText(root: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
}
