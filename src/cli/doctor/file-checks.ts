/** Checks of files with secrets: the profiles, and keys below the data directories. */
import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '#base';
import { isOpenToOthers } from '#net/files';
import { damagedProfile, loadProfiles } from '../access/profile-store.ts';
import { failure, ok, skipped, warning, type Check, type CheckResult } from './finding.ts';

/** File names of keys, identities, tokens and credentials. */
const SECRET_NAME = /(?:\.key|\.jwt|^key\.pem|^identity\.json|credentials\.json)$/;
const MAX_DEPTH = 3;
const MAX_ENTRIES = 5_000;

export function fileChecks(profileFile: string | undefined, folders: readonly string[]): Check[] {
  return [
    { name: 'profiles', run: () => profilesVerdict(profileFile) },
    { name: 'key files', run: () => keysVerdict(folders) },
  ];
}

async function profilesVerdict(path: string | undefined): Promise<CheckResult> {
  if (path === undefined)
    return warning('no directory for profiles is configured', 'set HOME or XDG_CONFIG_HOME');
  try {
    const { profiles, damaged } = await loadProfiles(path);
    const [first] = damaged;
    if (first !== undefined) throw damagedProfile(...first);
    const names = Object.keys(profiles);
    if (names.length > 0) return ok(`${names.join(', ')} in ${path}`);
    return warning('not signed in', 'run "frontdoor login" (or "frontdoor login --demo" for a demo)');
  } catch (error) {
    return failure(messageOf(error), 'follow the message, or remove the file and sign in again');
  }
}

async function keysVerdict(folders: readonly string[]): Promise<CheckResult> {
  const found = await filesBelow(folders, SECRET_NAME);
  const open: string[] = [];
  for (const path of found) {
    const info = await stat(path).catch(() => undefined);
    if (info !== undefined && isOpenToOthers(info)) open.push(path);
  }
  if (open.length > 0) {
    const listed = open.slice(0, 5).join(' ');
    const more = open.length > 5 ? ` and ${open.length - 5} more` : '';
    return failure(
      `other users may read or write ${listed}${more}`,
      `chmod 600 ${listed}; replace the keys if another user could have read them`,
    );
  }
  if (found.length === 0) return skipped(`none in ${folders.join(' or ')}`);
  return ok(`${found.length} accessible to their owner only`);
}

/** Returns the paths of files whose name matches, without repeats. */
export async function filesBelow(folders: readonly string[], name: RegExp): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const folder of folders) await collect(folder, 1, name, found);
  return [...found];
}

async function collect(folder: string, depth: number, name: RegExp, found: Set<string>): Promise<void> {
  let directory;
  try {
    directory = await opendir(folder);
  } catch {
    return;
  }
  let count = 0;
  for await (const entry of directory) {
    if ((count += 1) > MAX_ENTRIES) return;
    const path = join(folder, entry.name);
    if (entry.isFile() && name.test(entry.name)) found.add(path);
    else if (entry.isDirectory() && depth < MAX_DEPTH) await collect(path, depth + 1, name, found);
  }
}
