/**
 * How a command reaches the Management API: address, credentials and frontdoor, taken from options, then from the
 * environment, then from the profile. Credentials of a profile are sent only to the address of that profile.
 */
import { readFile } from 'node:fs/promises';
import { FrontdoorError, messageOf } from '#base';
import { outwardDialerOf } from '#net';
import type { Credentials, Profile } from '#domain/agent-shapes';
import type { CliIo } from '../cli-io.ts';
import { ManagementClient, type ManagementAccess } from '../management-client.ts';
import { DEFAULT_API_URL, type ApiFlags } from './api-options.ts';
import { fileCredentials } from './credentials-file.ts';
import { damagedProfile, DEFAULT_PROFILE, loadProfiles, profilePath } from './profile-store.ts';

/** Codes of a server that does not answer. */
const UNREACHED: ReadonlySet<string> = new Set(['unreachable', 'server-silent']);

export interface ResolvedAccess extends ManagementAccess {
  readonly frontdoorId?: string | undefined;
  readonly organizationId?: string | undefined;
  /** Name of the profile in use. */
  readonly profileName?: string | undefined;
}

export async function resolveAccess(flags: ApiFlags, io: CliIo): Promise<ResolvedAccess> {
  const { env } = io;
  const file = await fileCredentials(flags, io);
  const given = file?.credentials ?? (await givenCredentials(flags, io));
  const name = flags.profile ?? env.FRONTDOOR_PROFILE;
  const { profiles, damaged } = await loadProfiles(profilePath(env));
  const problem = damaged.get(name ?? DEFAULT_PROFILE);
  if (problem !== undefined) throw damagedProfile(name ?? DEFAULT_PROFILE, problem);
  const profile = profiles[name ?? DEFAULT_PROFILE];
  if (profile === undefined && name !== undefined) {
    const known = Object.keys(profiles);
    const remedy = known.length === 0 ? 'there are none' : `existing profiles: ${known.join(', ')}`;
    const message = `there is no profile ${name}: ${remedy}; "frontdoor login --profile ${name}" creates it`;
    throw new FrontdoorError('invalid', 'no-profile', message);
  }
  const apiUrl = flags.api ?? env.FRONTDOOR_API_URL ?? profile?.apiUrl ?? DEFAULT_API_URL;
  const used = profile !== undefined && isSameApi(profile.apiUrl, apiUrl) ? profile : undefined;
  const credentials = given ?? used?.credentials;
  const ca = flags.ca ?? env.FRONTDOOR_CA_FILE ?? used?.ca;
  const frontdoorId = flags.frontdoor ?? env.FRONTDOOR_ID ?? file?.frontdoorId ?? used?.frontdoorId;
  return {
    apiUrl,
    credentials,
    ...(credentials === undefined ? { missing: missingText(profiles, profile, apiUrl) } : {}),
    ...(ca === undefined ? {} : { ca: await readCa(ca) }),
    frontdoorId,
    outward: outwardDialerOf(env, flags.proxy),
    // Only a profile records the organization of its credentials.
    ...(used === undefined || given !== undefined ? {} : { organizationId: used.organizationId }),
    ...(used === undefined ? {} : { profileName: name ?? DEFAULT_PROFILE }),
  };
}

/** Runs the calls of one command over one client. */
export async function withManagement(
  flags: ApiFlags,
  io: CliIo,
  work: (client: ManagementClient, access: ResolvedAccess) => Promise<void>,
): Promise<void> {
  const access = await resolveAccess(flags, io);
  const client = new ManagementClient(access);
  try {
    await work(client, access);
  } catch (error) {
    throw withReachRemedy(error, sourceOfAddress(flags, io, access.profileName));
  } finally {
    await client.close();
  }
}

/** For people: where the address comes from. */
export function sourceOfAddress(flags: ApiFlags, { env }: CliIo, profileName?: string): string {
  if (flags.api !== undefined) return '--api';
  if (env.FRONTDOOR_API_URL !== undefined) return 'FRONTDOOR_API_URL';
  return profileName === undefined ? 'the default' : `profile ${profileName}`;
}

/** Adds to the error of an API that does not answer where its address comes from, and the remedies. */
export function withReachRemedy(error: unknown, source: string): unknown {
  if (!(error instanceof FrontdoorError) || !UNREACHED.has(error.code)) return error;
  const remedy =
    `the address is from ${source}. Check that the control plane runs there ("frontdoor status" on its machine), ` +
    'or give its address with --api or "frontdoor login"';
  return new FrontdoorError(error.kind, error.code, `${error.message}; ${remedy}`, { cause: error });
}

/** Returns the credentials from options and the environment, or undefined if neither has any. */
export async function givenCredentials(flags: ApiFlags, io: CliIo): Promise<Credentials | undefined> {
  const { env } = io;
  if (flags.account !== undefined && flags.client !== undefined) {
    throw new FrontdoorError('invalid', 'two-callers', 'give either --account or --client, not both');
  }
  const [token, clientSecret] = [flags.token?.reveal(), flags.clientSecret?.reveal()];
  if (token === '-' && clientSecret === '-') {
    throw new FrontdoorError('invalid', 'input', 'only one value can be read from standard input');
  }
  const isClient =
    flags.client !== undefined ||
    (flags.account === undefined &&
      env.FRONTDOOR_ACCOUNT_ID === undefined &&
      env.FRONTDOOR_CLIENT_ID !== undefined);
  const id = isClient
    ? (flags.client ?? env.FRONTDOOR_CLIENT_ID)
    : (flags.account ?? env.FRONTDOOR_ACCOUNT_ID);
  const secret = isClient
    ? await secretText(clientSecret ?? env.FRONTDOOR_CLIENT_SECRET, io)
    : await secretText(token ?? env.FRONTDOOR_API_TOKEN, io);
  if (id === undefined && secret === undefined) return undefined;
  if (id === undefined || secret === undefined) {
    const [what, remedy] = isClient
      ? ['an OAuth client needs an ID and a secret', 'FRONTDOOR_CLIENT_ID and FRONTDOOR_CLIENT_SECRET']
      : ['an API account needs an ID and a token', 'FRONTDOOR_ACCOUNT_ID and FRONTDOOR_API_TOKEN'];
    throw new FrontdoorError('unauthenticated', 'no-credentials', `${what}: give both, or set ${remedy}`);
  }
  return { kind: isClient ? 'client' : 'account', id, secret };
}

/** `-` stands for standard input. */
async function secretText(value: string | undefined, io: CliIo): Promise<string | undefined> {
  if (value !== '-') return value;
  const text = (await io.input?.())?.trim() ?? '';
  if (text !== '') return text;
  throw new FrontdoorError('invalid', 'input', 'standard input is empty');
}

export async function readCa(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new FrontdoorError('invalid', 'ca-file', `--ca ${path}: ${messageOf(cause)}`, { cause });
  }
}

function isSameApi(one: string, other: string): boolean {
  const plain = (text: string): string => (URL.parse(text)?.href ?? text).replace(/\/$/, '');
  return plain(one) === plain(other);
}

function missingText(
  profiles: Readonly<Record<string, Profile>>,
  profile: Profile | undefined,
  apiUrl: string,
): string {
  const remedy = 'run "frontdoor login", or set FRONTDOOR_ACCOUNT_ID and FRONTDOOR_API_TOKEN';
  if (profile !== undefined) return `the profile is for ${profile.apiUrl}, not for ${apiUrl}: ${remedy}`;
  const names = Object.keys(profiles);
  if (names.length === 0) return `not signed in: ${remedy}`;
  return `there is no profile "${DEFAULT_PROFILE}", but there is ${names.join(', ')}: select one with --profile or FRONTDOOR_PROFILE`;
}
