/** What `frontdoor upgrade --check` reads and starts: the database, and the programs of another version. */
import { execFileSync, spawnSync } from 'node:child_process';
import { accessSync, constants, globSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { FrontdoorError, messageOf } from '#base';
import type { UpgradeFlags } from '#cli';
import { readDatabaseState } from '#control';
import { databaseUrlOf } from './database-url.ts';

export function readDatabase(options: UpgradeFlags) {
  return readDatabaseState(join(resolve(options.dataDir), 'control.db'), databaseUrlOf(options));
}

/** `version` is an archive, or the folder that one unpacks to. The other words of the command line are passed on. */
export function checkOf(version: string): number {
  const words = process.argv.slice(2);
  words.splice(words.lastIndexOf(version), 1);
  const place = resolve(version);
  if (statSync(place, { throwIfNoEntry: false })?.isDirectory() === true) return runIn(place, words);
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-upgrade-'));
  try {
    execFileSync('tar', ['-xzf', place, '-C', folder], { stdio: ['ignore', 'ignore', 'pipe'] });
    return runIn(join(folder, globSync('*', { cwd: folder })[0] ?? ''), words);
  } catch (error) {
    if (error instanceof FrontdoorError) throw error;
    throw wrongVersion(version, 'it cannot be unpacked', error);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Resolves to the exit status of its check. */
function runIn(folder: string, words: readonly string[]): number {
  const program = join(folder, 'bin/frontdoor');
  try {
    accessSync(program, constants.X_OK);
  } catch {
    throw wrongVersion(folder, 'it has no bin/frontdoor');
  }
  const { status, error } = spawnSync(program, words, { stdio: 'inherit' });
  if (error !== undefined) throw wrongVersion(folder, messageOf(error));
  return status ?? 1;
}

function wrongVersion(version: string, why: string, cause?: unknown): FrontdoorError {
  const message = `${version} is no version of Frontdoor for this machine (${why}): name an archive such as frontdoor-0.2.0-linux-x64.tar.gz, or its unpacked folder`;
  return new FrontdoorError('invalid', 'upgrade-version', message, { cause });
}
