/**
 * The profiles of `frontdoor login`: the API address and credentials by profile name. They are kept in one file
 * with mode 0600, which is replaced atomically; a file that other users may read is refused.
 */
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FrontdoorError } from '#base';
import { profilesShape, type Profile, type ProfileFile, type Profiles } from '#domain';
import { readPrivateFile, writeFileDurably } from '#net';

export const DEFAULT_PROFILE = 'default';

/** Returns undefined if neither XDG_CONFIG_HOME nor HOME is set. */
export function profilePath(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const { XDG_CONFIG_HOME: config, HOME: home } = env;
  if (config !== undefined && config !== '') return join(config, 'frontdoor', 'profiles.json');
  return home === undefined || home === '' ? undefined : join(home, '.config', 'frontdoor', 'profiles.json');
}

/** Throws `invalid` with a remedy if the file is damaged or others may read it. A missing file means no profiles. */
export async function loadProfiles(path: string | undefined): Promise<Profiles> {
  return path === undefined ? {} : (await loadFile(path)).profiles;
}

async function loadFile(path: string): Promise<ProfileFile> {
  const read = await readPrivateFile(path);
  if (!('text' in read)) {
    if (read.isMissing) return { profiles: {} };
    throw refused(path, read.problem, read.cause);
  }
  const file = profilesShape.readText(read.text);
  if ('value' in file) return file.value;
  if (file.isNewer) throw refused(path, `it has another version; ${file.problem}`);
  throw refused(path, `it has another version; ${file.problem}; remove it and log in again`);
}

export async function saveProfile(path: string, name: string, profile: Profile): Promise<void> {
  const file = await loadFile(path);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeProfiles(path, { ...file, profiles: { ...file.profiles, [name]: profile } });
}

/** Returns false if there was no profile of this name. */
export async function removeProfile(path: string, name: string): Promise<boolean> {
  const file = await loadFile(path);
  const { [name]: removed, ...others } = file.profiles;
  if (removed === undefined) return false;
  if (Object.keys(others).length === 0) await rm(path);
  else await writeProfiles(path, { ...file, profiles: others });
  return true;
}

async function writeProfiles(path: string, file: ProfileFile): Promise<void> {
  await writeFileDurably(path, `${JSON.stringify(profilesShape.numbered(file), null, 2)}\n`, 0o600);
}

function refused(path: string, why: string, cause?: unknown): FrontdoorError {
  return new FrontdoorError('invalid', 'profiles', `profile file ${path} is refused: ${why}`, { cause });
}
