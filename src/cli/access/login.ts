/**
 * Implementation of `frontdoor login`: takes credentials from options, the environment, standard input, a demo's
 * data directory or prompts, tries them with a real call, and saves them as a profile. Also `frontdoor logout`,
 * which deletes the profile.
 */
import { resolve } from 'node:path';
import { definedFields, FrontdoorError } from '#base';
import { printable } from '#base/terminal';
import type { Credentials, Profile } from '#domain/agent-shapes';
import { outwardDialerOf } from '#net';
import { writeJson, type CliIo } from '../cli-io.ts';
import { ManagementClient } from '../management-client.ts';
import { givenCredentials, readCa, sourceOfAddress, withReachRemedy } from './access.ts';
import { DEFAULT_API_URL, type ApiFlags } from './api-options.ts';
import { fileCredentials } from './credentials-file.ts';
import { fetchCaller, fetchFrontdoors, type ReachableFrontdoor } from './caller.ts';
import { DEMO_DIR, findDemoCredentials, type DemoCredentials } from './demo-credentials.ts';
import type { LoginQuestions } from './login-questions.ts';
import { DEFAULT_PROFILE, loadProfiles, profilePath, removeProfile, saveProfile } from './profile-store.ts';

export interface LoginFlags extends ApiFlags {
  /** A data directory, or true for the default one. */
  readonly demo?: string | true;
}

/** The state before the first call. */
interface Attempt {
  readonly apiUrl: string;
  readonly credentials: Credentials;
  readonly frontdoorId: string | undefined;
}

/** Calls `ask` only if a value is missing and the command is interactive. */
export async function login(io: CliIo, flags: LoginFlags, ask: () => Promise<LoginQuestions>): Promise<void> {
  const path = profilePath(io.env);
  if (path === undefined) {
    throw new FrontdoorError('invalid', 'profiles', 'set HOME or XDG_CONFIG_HOME: profiles are stored there');
  }
  // Checked before any prompt, so that nobody types values that cannot be saved.
  await loadProfiles(path);
  const name = flags.profile ?? io.env.FRONTDOOR_PROFILE ?? DEFAULT_PROFILE;
  const questions = io.isInteractive === true ? await ask() : undefined;
  const attempt = await attemptOf(io, flags, questions);
  const caFile = flags.ca ?? io.env.FRONTDOOR_CA_FILE;
  const ca = caFile === undefined ? undefined : { file: resolve(caFile), pem: await readCa(caFile) };
  const { apiUrl, credentials } = attempt;
  const outward = outwardDialerOf(io.env, flags.proxy);
  const client = new ManagementClient({ apiUrl, credentials, ca: ca?.pem, outward });
  try {
    const caller = await fetchCaller(client);
    const { organizationId } = caller;
    const frontdoors = await fetchFrontdoors(client, organizationId);
    const frontdoor = await choose(frontdoors, attempt.frontdoorId, questions);
    const profile: Profile = definedFields({
      apiUrl,
      credentials,
      organizationId,
      frontdoorId: frontdoor?.id,
      ca: ca?.file,
    });
    await saveProfile(path, name, profile);
    const { kind, id, scopes } = caller;
    if (flags.json === true) {
      const frontdoorId = frontdoor?.id ?? null;
      return writeJson(io, { profile: name, apiUrl, kind, id, organizationId, scopes, frontdoorId });
    }
    io.out(`signed in at ${apiUrl} as ${kind} ${id} (${scopes.join(', ')})\n`);
    if (frontdoor === undefined) io.out('no frontdoor yet: frontdoor frontdoors create --name NAME\n');
    else io.out(`frontdoor ${printable(frontdoor.name)} (${frontdoor.id})\n`);
    io.out(`profile ${name} in ${path}\n`);
  } catch (error) {
    throw withReachRemedy(error, flags.demo === undefined ? sourceOfAddress(flags, io) : 'the demo');
  } finally {
    await client.close();
  }
}

async function attemptOf(
  io: CliIo,
  flags: LoginFlags,
  questions: LoginQuestions | undefined,
): Promise<Attempt> {
  const api = flags.api ?? io.env.FRONTDOOR_API_URL;
  const frontdoorId = flags.frontdoor ?? io.env.FRONTDOOR_ID;
  const fromDemo = (demo: DemoCredentials, dataDir: string): Attempt => {
    const apiUrl = api ?? demo.apiUrl;
    if (apiUrl === undefined) throw demoStopped(dataDir);
    return { apiUrl, credentials: demo.credentials, frontdoorId: frontdoorId ?? demo.frontdoorId };
  };
  if (flags.demo !== undefined) {
    const dataDir = flags.demo === true ? DEMO_DIR : flags.demo;
    const demo = await findDemoCredentials(dataDir);
    if (demo !== undefined) return fromDemo(demo, dataDir);
    const message = `no demo was started in ${resolve(dataDir)}: run "frontdoor up --demo" there, or give the data directory of the demo: "frontdoor login --demo DIR"`;
    throw new FrontdoorError('notFound', 'demo-credentials', message);
  }
  const file = await fileCredentials(flags, io);
  const given = file?.credentials ?? (await givenCredentials(flags, io));
  if (given !== undefined)
    return {
      apiUrl: api ?? DEFAULT_API_URL,
      credentials: given,
      frontdoorId: frontdoorId ?? file?.frontdoorId,
    };
  if (questions === undefined) {
    const message =
      'not a terminal, so login cannot prompt: give --account and --token -, or FRONTDOOR_ACCOUNT_ID and FRONTDOOR_API_TOKEN';
    throw new FrontdoorError('invalid', 'no-credentials', message);
  }
  const demo = await findDemoCredentials(DEMO_DIR);
  if (demo !== undefined && (await questions.confirm(`Use the credentials of the demo in ${DEMO_DIR}?`)))
    return fromDemo(demo, DEMO_DIR);
  const apiUrl = api ?? (await questions.text('Management API', DEFAULT_API_URL));
  const kind = await questions.choose('Sign in as', [
    { value: 'account', label: 'API account, with its token' },
    { value: 'client', label: 'OAuth client, with its secret' },
  ]);
  const isClient = kind === 'client';
  const id = await questions.text(isClient ? 'client_id' : 'Account id');
  const secret = await questions.secret(isClient ? 'client_secret' : 'API token');
  return {
    apiUrl,
    credentials: { kind: isClient ? 'client' : 'account', id, secret },
    frontdoorId,
  };
}

/** Its credentials are sent nowhere: another program may listen at its former address by now. */
function demoStopped(dataDir: string): FrontdoorError {
  const option = dataDir === DEMO_DIR ? '' : ` --data-dir ${dataDir}`;
  const message = `the demo in ${resolve(dataDir)} is not running: start it with "frontdoor up --demo${option}", or give its address with --api`;
  return new FrontdoorError('unavailable', 'demo-stopped', message);
}

async function choose(
  frontdoors: readonly ReachableFrontdoor[],
  wanted: string | undefined,
  questions: LoginQuestions | undefined,
): Promise<ReachableFrontdoor | undefined> {
  const shown = (): string => frontdoors.map(({ id, name }) => `${id} (${printable(name)})`).join(', ');
  if (wanted !== undefined) {
    const found = frontdoors.find(({ id }) => id === wanted);
    if (found !== undefined) return found;
    const called = frontdoors.filter(({ name }) => name === wanted);
    if (called.length === 1) return called[0];
    if (called.length > 1) {
      const ids = called.map(({ id }) => id).join(', ');
      const message = `several frontdoors are called ${printable(wanted)}: give the ID of one of them (${ids})`;
      throw new FrontdoorError('invalid', 'name', message);
    }
    throw new FrontdoorError(
      'notFound',
      'no-frontdoor',
      `there is no frontdoor ${wanted}; there are: ${shown()}`,
    );
  }
  if (frontdoors.length <= 1) return frontdoors[0];
  if (questions === undefined) {
    throw new FrontdoorError('invalid', 'no-frontdoor', `choose a frontdoor with --frontdoor: ${shown()}`);
  }
  const id = await questions.choose(
    'Which frontdoor should commands use?',
    frontdoors.map((each) => ({ value: each.id, label: `${printable(each.name)} (${each.id})` })),
  );
  return frontdoors.find((each) => each.id === id);
}

export async function logout(io: CliIo, flags: ApiFlags): Promise<void> {
  const name = flags.profile ?? io.env.FRONTDOOR_PROFILE ?? DEFAULT_PROFILE;
  const path = profilePath(io.env);
  if (path === undefined || !(await removeProfile(path, name)))
    throw new FrontdoorError('notFound', 'no-profile', `there is no profile ${name}`);
  if (flags.json === true) writeJson(io, { profile: name });
  else io.out(`profile ${name} was deleted\n`);
}
