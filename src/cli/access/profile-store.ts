/**
 * The profiles of `frontdoor login`: the API address and credentials by profile name. They are kept in one file
 * with mode 0600, which is replaced atomically; a file that other users may read is refused.
 */
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FrontdoorError } from '#base';
import { readPrivateFile, writeFileDurably } from '#net';

export interface Credentials {
  /** An API account with its token, or an OAuth client with its secret. */
  readonly kind: 'account' | 'client';
  readonly id: string;
  readonly secret: string;
}

export interface Profile {
  /** {base_url}, without `/frontdoor`. */
  readonly apiUrl: string;
  readonly credentials: Credentials;
  readonly organizationId: string;
  /** The frontdoor that commands use unless they name another one. */
  readonly frontdoorId?: string;
  /** File of CA certificates (PEM) for the Management API. */
  readonly ca?: string;
}

export type Profiles = Readonly<Record<string, Profile>>;

export const DEFAULT_PROFILE = 'default';
const VERSION = 1;

/** Returns undefined if neither XDG_CONFIG_HOME nor HOME is set. */
export function profilePath(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const { XDG_CONFIG_HOME: config, HOME: home } = env;
  if (config !== undefined && config !== '') return join(config, 'frontdoor', 'profiles.json');
  return home === undefined || home === '' ? undefined : join(home, '.config', 'frontdoor', 'profiles.json');
}

/** Throws `invalid` with a remedy if the file is damaged or others may read it. A missing file means no profiles. */
export async function loadProfiles(path: string | undefined): Promise<Profiles> {
  if (path === undefined) return {};
  const read = await readPrivateFile(path);
  if (!('text' in read)) {
    if (read.isMissing) return {};
    throw refused(path, read.problem, read.cause);
  }
  const file = jsonOf(read.text) as { version?: unknown; profiles?: unknown } | undefined;
  if (file?.version !== VERSION || !isRecord(file.profiles)) {
    throw refused(path, 'it has another version; remove it and log in again');
  }
  const wrong = Object.entries(file.profiles).find(([, profile]) => !isProfile(profile));
  if (wrong !== undefined) throw refused(path, `profile ${wrong[0]} is damaged; log in again`);
  return file.profiles as Profiles;
}

export async function saveProfile(path: string, name: string, profile: Profile): Promise<void> {
  const profiles = await loadProfiles(path);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeProfiles(path, { ...profiles, [name]: profile });
}

/** Returns false if there was no profile of this name. */
export async function removeProfile(path: string, name: string): Promise<boolean> {
  const { [name]: removed, ...others } = await loadProfiles(path);
  if (removed === undefined) return false;
  if (Object.keys(others).length === 0) await rm(path);
  else await writeProfiles(path, others);
  return true;
}

async function writeProfiles(path: string, profiles: Profiles): Promise<void> {
  await writeFileDurably(path, `${JSON.stringify({ version: VERSION, profiles }, null, 2)}\n`, 0o600);
}

function isProfile(value: unknown): value is Profile {
  if (!isRecord(value)) return false;
  const { apiUrl, credentials, organizationId, frontdoorId, ca } = value;
  if (!isRecord(credentials)) return false;
  const { kind, id, secret } = credentials;
  return (
    [apiUrl, organizationId, id, secret].every(isText) &&
    (kind === 'account' || kind === 'client') &&
    [frontdoorId, ca].every((text) => text === undefined || isText(text))
  );
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refused(path: string, why: string, cause?: unknown): FrontdoorError {
  return new FrontdoorError('invalid', 'profiles', `profile file ${path} is refused: ${why}`, { cause });
}
