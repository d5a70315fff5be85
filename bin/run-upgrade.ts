/** What `frontdoor upgrade --check` reads and starts: the database, and the programs of another version. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import process from 'node:process';
import { FrontdoorError, messageOf } from '#base';
import type { UpgradeFlags } from '#cli';
import { readDatabaseState } from '#control';
import { EMBEDDED_DATABASE } from '#domain/backup';
import { databaseUrlOf } from './database-url.ts';

export function readDatabase(options: UpgradeFlags) {
  return readDatabaseState(join(resolve(options.dataDir), EMBEDDED_DATABASE), databaseUrlOf(options));
}

/**
 * `version` is an archive, or the folder that one unpacks to. The other words of the command line are passed on. Its program runs
 * with the rights of this one, so an archive that SHA256SUMS beside it has with another sum is refused.
 */
export function checkOf(version: string): number {
  const words = process.argv.slice(2);
  words.splice(words.lastIndexOf(version), 1);
  const place = resolve(version);
  if (statSync(place, { throwIfNoEntry: false })?.isDirectory() === true) return runIn(place, words);
  checkSum(place);
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-upgrade-'));
  try {
    unpack(place, folder);
    return runIn(join(folder, globSync('*', { cwd: folder })[0] ?? ''), words);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Sums are missing where the archive was copied without them. */
function checkSum(archive: string): void {
  const sums = join(dirname(archive), 'SHA256SUMS');
  if (!existsSync(archive)) throw wrongVersion(archive, 'it does not exist');
  if (!existsSync(sums)) return;
  const wanted = readFileSync(sums, 'utf8')
    .split('\n')
    .find((line) => line.endsWith(`  ${basename(archive)}`));
  const found = createHash('sha256').update(readFileSync(archive)).digest('hex');
  if (wanted !== undefined && !wanted.startsWith(found))
    throw wrongVersion(archive, 'it is damaged: its sum is not that of SHA256SUMS');
}

function unpack(archive: string, folder: string): void {
  const { status, stderr, error } = spawnSync('tar', ['-xzf', archive, '-C', folder], { encoding: 'utf8' });
  if (status === 0) return;
  const reason = error?.message ?? stderr.trim().split('\n')[0];
  throw wrongVersion(archive, `it cannot be unpacked in ${folder}: ${reason}`);
}

function runIn(folder: string, words: readonly string[]): number {
  const program = join(folder, 'bin/frontdoor');
  if (!existsSync(program)) throw wrongVersion(folder, 'it has no bin/frontdoor');
  try {
    accessSync(program, constants.X_OK);
  } catch {
    const message = `${program} cannot be executed: unpack the archive where programs may run, and name its folder`;
    throw new FrontdoorError('invalid', 'upgrade-version', message);
  }
  const { status, error } = spawnSync(program, words, { stdio: 'inherit' });
  if (error !== undefined) throw wrongVersion(folder, messageOf(error));
  return status ?? 1;
}

function wrongVersion(version: string, why: string): FrontdoorError {
  const message = `${version} is no version of Frontdoor for this machine (${why}): name an archive such as frontdoor-0.2.0-linux-x64.tar.gz, or its unpacked folder`;
  return new FrontdoorError('invalid', 'upgrade-version', message);
}
