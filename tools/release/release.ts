/**
 * `npm run dist [-- KIND… --twice]`: everything that a release consists of, in `dist/release/`, the same bytes each time for one commit:
 * nothing in it depends on the time, the machine's names or the order in which a folder is read (ADR 0104).
 */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { repositoryRoot } from '../pinned-process.ts';
import { DEBIAN_PLATFORMS, makeArchive, PLATFORMS } from './archive.ts';
import { billOfMaterials } from './bill-of-materials.ts';
import { makeDebianPackages } from './debian-package.ts';
import { makeImage } from './image.ts';
import { packChart } from './chart.ts';
import { buildSite } from '../site/build-site.ts';
import type { Release } from './release-facts.ts';
import { sumOfFile } from './sha256.ts';

const RELEASE_FOLDER = 'dist/release';
const SUMS = 'SHA256SUMS';

/** What makes the files of one kind; each name is an argument of the command. */
const KINDS: Readonly<Record<string, (release: Release) => void>> = {
  npm: packPackage,
  archives: (release) => {
    for (const platform of Object.keys(PLATFORMS))
      for (const edition of ['all', 'agent'] as const) makeArchive(release, platform, edition);
    copyFileSync(join(repositoryRoot, 'tools/release/install.sh'), join(release.folder, 'install.sh'));
  },
  deb: makeDebianPackages,
  image: (release) => {
    for (const platform of DEBIAN_PLATFORMS) makeImage(release, platform);
  },
  chart: packChart,
  sbom: ({ folder, bill }) => writeFileSync(join(folder, 'sbom.json'), bill),
  site: ({ folder, version }) => buildSite(join(folder, 'site'), version),
};

/** The option that makes everything twice. */
const TWICE = '--twice';
/** Holds the files of the first time. */
const FIRST_FOLDER = '.cache/release-first';
/** Kinds that need no compiled program. */
const FROM_SOURCES: ReadonlySet<string> = new Set(['chart', 'sbom', 'site']);

/** Returns the exit status. `buildPackage` makes what `npm pack` packs, and returns its own. */
export async function makeRelease(
  words: readonly string[],
  buildPackage: () => Promise<number>,
): Promise<number> {
  const kinds = words.filter((word) => word !== TWICE);
  const status = await makeOnce(kinds, buildPackage);
  if (status !== 0 || kinds.length === words.length) return status;
  const first = join(repositoryRoot, FIRST_FOLDER);
  rmSync(first, { recursive: true, force: true });
  mkdirSync(dirname(first), { recursive: true });
  renameSync(join(repositoryRoot, RELEASE_FOLDER), first);
  const again = await makeOnce(kinds, buildPackage);
  if (again !== 0) return again;
  const different = differentFiles(first, join(repositoryRoot, RELEASE_FOLDER));
  if (different.length > 0) {
    process.stderr.write(
      `not the same the second time: ${different.join(', ')}; the first are in ${first}\n`,
    );
    return 1;
  }
  rmSync(first, { recursive: true });
  process.stdout.write('the same bytes the second time\n');
  return 0;
}

/** The names of files that only one of the folders has, or whose bytes differ. */
export function differentFiles(one: string, other: string): string[] {
  const sums = [one, other].map(
    (folder) => new Map(filesBelow(folder).map((name) => [name, sumOfFile(join(folder, name))])),
  );
  const names = new Set(sums.flatMap((each) => [...each.keys()]));
  return [...names].filter((name) => sums[0]!.get(name) !== sums[1]!.get(name)).toSorted();
}

async function makeOnce(kinds: readonly string[], buildPackage: () => Promise<number>): Promise<number> {
  const unknown = kinds.find((kind) => KINDS[kind] === undefined);
  if (unknown !== undefined) {
    process.stderr.write(
      `"${unknown}" is no part of a release; the parts are ${Object.keys(KINDS).join(', ')}\n`,
    );
    return 2;
  }
  const isCompiled = kinds.length === 0 || kinds.some((kind) => !FROM_SOURCES.has(kind));
  const status = isCompiled ? await buildPackage() : 0;
  if (status !== 0) return status;
  const folder = join(repositoryRoot, RELEASE_FOLDER);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { version } = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8')) as {
    version: string;
  };
  const timeS = Number(gitText('log', '-1', '--format=%ct'));
  const release = { folder, version, commit: gitText('rev-parse', 'HEAD'), timeS, bill: billOfMaterials() };
  for (const [kind, make] of Object.entries(KINDS))
    if (kinds.length === 0 || kinds.includes(kind)) make(release);
  writeSums(folder);
  for (const line of readFileSync(join(folder, SUMS), 'utf8').trim().split('\n'))
    // The site has a hundred files.
    if (!line.includes('/')) process.stdout.write(`${line}\n`);
  return 0;
}

function packPackage({ folder, version }: Release): void {
  const file = execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], {
    cwd: repositoryRoot,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // npm puts the scope of the name before it.
  renameSync(join(folder, file.trim()), join(folder, `frontdoor-${version}.tgz`));
}

function gitText(...words: readonly string[]): string {
  return execFileSync('git', words, { cwd: repositoryRoot, encoding: 'utf8' }).trim();
}

function writeSums(folder: string): void {
  const lines = filesBelow(folder).map((name) => `${sumOfFile(join(folder, name))}  ${name}\n`);
  writeFileSync(join(folder, SUMS), lines.join(''));
}

function filesBelow(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => statSync(join(folder, name)).isFile()).toSorted();
}
