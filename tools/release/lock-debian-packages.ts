/**
 * `node bin/frontdoor.js dev node tools/release/lock-debian-packages.ts [--check]`: writes the versions that Debian offers now, with its
 * security updates, into the file by which images are built. With `--check` it prints what is newer, and fails if anything is.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { repositoryRoot } from '../pinned-process.ts';
import { Apt, LOCK_FILE, lockedPackages, type LockedPackage } from './debian-packages.ts';
import { DEBIAN_PLATFORMS } from './archive.ts';

const former = lockedPackages();
const apts = DEBIAN_PLATFORMS.map(({ debian: { architecture: name } }) => [name, new Apt(name)] as const);
const present = former.map(({ name }): LockedPackage => {
  const offered = apts.map(([architecture, apt]) => ({ architecture, ...apt.offered(name) }));
  const versions = new Set(offered.map(({ version }) => version));
  if (versions.size > 1)
    throw new Error(`${name} has another version for each architecture: try again later`);
  const sums = Object.fromEntries(offered.map(({ architecture, sum }) => [architecture, sum]));
  return { name, version: [...versions][0]!, sums };
});
const newer = present.filter(({ version }, at) => version !== former[at]!.version);
for (const { name, version } of newer) process.stdout.write(`${name}: Debian has ${version}\n`);
if (process.argv.includes('--check')) process.exitCode = newer.length > 0 ? 1 : 0;
else writeFileSync(join(repositoryRoot, LOCK_FILE), `${JSON.stringify(present, null, 2)}\n`);
