/**
 * The profiles of `frontdoor login`: the API address and credentials by profile name. They are kept in one file
 * with mode 0600, which is replaced atomically; a file that other users may read is refused.
 */
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FrontdoorError } from '#base';
import { profilesShape, type Profile, type ProfileFile, type Profiles } from '#domain/agent-shapes';
import { readPrivateFile, writeFileDurably } from '#net/files';

export const DEFAULT_PROFILE = 'default';

/** Returns undefined if neither XDG_CONFIG_HOME nor HOME is set. */
export function profilePath(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const { XDG_CONFIG_HOME: config, HOME: home } = env;
  if (config !== undefined && config !== '') return join(config, 'frontdoor', 'profiles.json');
  return home === undefined || home === '' ? undefined : join(home, '.config', 'frontdoor', 'profiles.json');
}

export interface StoredProfiles {
  readonly profiles: Profiles;
  /** Why a profile cannot be read, by its name. */
  readonly damaged: ReadonlyMap<string, string>;
}

interface LoadedFile extends StoredProfiles {
  readonly file: ProfileFile;
  /** The profiles that cannot be read, as they stand in the file. They are kept there. */
  readonly unread: Readonly<Record<string, unknown>>;
}

/**
 * Throws `invalid` with a remedy if the file is damaged or others may read it. A missing file means no profiles. One
 * profile that is damaged leaves the others usable.
 */
export async function loadProfiles(path: string | undefined): Promise<StoredProfiles> {
  return path === undefined ? { profiles: {}, damaged: new Map() } : loadFile(path);
}

async function loadFile(path: string): Promise<LoadedFile> {
  const read = await readPrivateFile(path);
  if (!('text' in read)) {
    if (read.isMissing) return { file: { profiles: {} }, profiles: {}, damaged: new Map(), unread: {} };
    throw refused(path, read.problem, read.cause);
  }
  const file = profilesShape.readText(read.text);
  if ('value' in file) {
    const { value, lost } = file;
    const damaged = lost.map(
      ({ name = '', field, rule }) => [name, `${field === '' ? 'it' : field} ${rule}`] as const,
    );
    const unread = Object.fromEntries(lost.map(({ name = '', entry }) => [name, entry]));
    return { file: value, profiles: value.profiles, damaged: new Map(damaged), unread };
  }
  if (file.isNewer) throw refused(path, `it has another version; ${file.problem}`);
  throw refused(path, `it has another version; ${file.problem}; remove it and sign in again`);
}

export async function saveProfile(path: string, name: string, profile: Profile): Promise<void> {
  const { file, profiles, unread } = await loadFile(path);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeProfiles(path, file, { ...unread, ...profiles, [name]: profile });
}

/** Returns false if there was no profile of this name. */
export async function removeProfile(path: string, name: string): Promise<boolean> {
  const { file, profiles, unread } = await loadFile(path);
  const { [name]: removed, ...others } = { ...unread, ...profiles };
  if (removed === undefined) return false;
  if (Object.keys(others).length === 0) await rm(path);
  else await writeProfiles(path, file, others);
  return true;
}

async function writeProfiles(
  path: string,
  file: ProfileFile,
  profiles: Readonly<Record<string, unknown>>,
): Promise<void> {
  const text = JSON.stringify({ ...profilesShape.numbered(file), profiles }, null, 2);
  await writeFileDurably(path, `${text}\n`, 0o600);
}

/** The refusal of a profile that cannot be read. */
export function damagedProfile(name: string, problem: string): FrontdoorError {
  const message = `profile ${name} is damaged: ${problem}; "frontdoor login --profile ${name}" replaces it`;
  return new FrontdoorError('invalid', 'profiles', message);
}

function refused(path: string, why: string, cause?: unknown): FrontdoorError {
  return new FrontdoorError('invalid', 'profiles', `profile file ${path} is refused: ${why}`, { cause });
}
