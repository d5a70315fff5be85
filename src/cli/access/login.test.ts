// Logging in: asked or given, tried with a real call, kept as a profile only when it works.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import { Secret } from '#base';
import { noteRunningProgram } from '#net/files';
import { fakeApi, keptIo, runCli, type FakeApi } from '../cli-fixture.ts';
import { login, type LoginFlags } from './login.ts';
import type { LoginQuestions } from './login-questions.ts';
import { loadProfiles, profilePath } from './profile-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'login-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const apis: FakeApi[] = [];
afterEach(() => {
  for (const api of apis.splice(0)) api.close();
});

let count = 0;
const newEnv = () => ({ XDG_CONFIG_HOME: join(folder, String((count += 1))) });

/** Takes account `acc` with token `tok`, and the client `cli` with secret `sec`. */
async function openApi(frontdoors: readonly string[]): Promise<FakeApi> {
  const api = await fakeApi(({ url, body }) => {
    const last = api.seen.at(-1)!.request.headers.authorization;
    if (url === '/oauth/token') {
      const isKnown = (JSON.parse(body) as { client_secret?: string }).client_secret === 'sec';
      return isKnown ? { status: 200, json: { access_token: 'JWT' } } : refusal;
    }
    if (last !== 'Basic acc:tok' && last !== 'Bearer JWT') return refusal;
    if (url === '/caller')
      return {
        status: 200,
        json: { kind: 'account', id: 'acc', organizationId: 'org', scopes: ['frontdoor.read'] },
      };
    return { status: 200, json: { content: frontdoors.map((id) => ({ id, name: `name of ${id}` })) } };
  });
  apis.push(api);
  return api;
}
const refusal = {
  status: 401,
  json: { error: 'unauthorized', message: 'Bearer token is missing or invalid' },
};

/** Answers in order; what was asked is kept. */
function answering(answers: readonly (string | boolean)[]): { asked: string[]; questions: LoginQuestions } {
  const asked: string[] = [];
  const left = [...answers];
  const next = async (message: string): Promise<never> => {
    asked.push(message);
    return left.shift() as never;
  };
  return { asked, questions: { text: next, secret: next, confirm: next, choose: next } };
}

const noQuestions = (): Promise<never> => Promise.reject(new Error('nothing should be asked'));

async function logIn(flags: LoginFlags, env: Record<string, string>, questions?: LoginQuestions) {
  const io = keptIo(env, { isInteractive: questions !== undefined });
  await login(io, flags, questions === undefined ? noQuestions : () => Promise.resolve(questions));
  return { ...io.ran(), profiles: (await loadProfiles(profilePath(env))).profiles };
}

test('an account is tried, its only frontdoor taken, and a profile kept that commands use', async () => {
  const api = await openApi(['f1']);
  const env = newEnv();
  const secrets = { FRONTDOOR_ACCOUNT_ID: 'acc', FRONTDOOR_API_TOKEN: 'tok' };
  const ran = await runCli(['login', '--api', api.url], { ...env, ...secrets });
  assert.equal(ran.code, 0, ran.err);
  assert.match(
    ran.out,
    /signed in at .* as account acc \(frontdoor\.read\)\nfrontdoor name of f1 \(f1\)\nprofile default in /,
  );
  assert.doesNotMatch(ran.out, /tok/);
  assert.deepEqual((await loadProfiles(profilePath(env))).profiles, {
    default: {
      apiUrl: api.url,
      credentials: { kind: 'account', id: 'acc', secret: 'tok' },
      organizationId: 'org',
      frontdoorId: 'f1',
    },
  });
  assert.match((await runCli(['whoami'], env)).out, /^id +acc$/m);
  assert.deepEqual(await runCli(['logout'], env), {
    out: 'profile default was deleted\n',
    err: '',
    code: 0,
  });
  assert.equal((await runCli(['logout'], env)).code, 5);
  assert.equal((await runCli(['whoami'], env)).code, 3);
});

test('a secret may come from standard input, under a name of its own', async () => {
  const api = await openApi(['f1']);
  const env = newEnv();
  const args = [
    'login',
    '--api',
    api.url,
    '--client',
    'cli',
    '--client-secret',
    '-',
    '--profile',
    'staging',
    '--json',
  ];
  const ran = await runCli(args, env, { input: () => Promise.resolve('sec\n') });
  assert.equal(ran.code, 0, ran.err);
  assert.equal((JSON.parse(ran.out) as { profile: string }).profile, 'staging');
  assert.equal((await runCli(['whoami', '--profile', 'staging'], env)).code, 0);
  assert.match((await runCli(['whoami'], env)).err, /no profile "default", but there is staging/);
});

test('refused credentials are not stored, and none are asked for when they cannot be stored', async () => {
  const api = await openApi(['f1']);
  const env = newEnv();
  const wrong = await runCli(['login', '--api', api.url, '--account', 'acc', '--token', 'bad'], env);
  assert.deepEqual(wrong, { out: '', err: 'frontdoor: Bearer token is missing or invalid\n', code: 3 });
  assert.equal(existsSync(profilePath(env)!), false);
  assert.match((await runCli(['login'], {})).err, /set HOME or XDG_CONFIG_HOME/);
  assert.match((await runCli(['login'], newEnv())).err, /login cannot prompt/);
  await logIn({ api: api.url, account: 'acc', token: new Secret('tok') }, env);
  chmodSync(profilePath(env)!, 0o644);
  await assert.rejects(logIn({ api: api.url }, env, answering([]).questions), /chmod 600/);
});

test('a person is asked for what is not given, and for the frontdoor when there are several', async (t) => {
  // Away from the data of a demo that was started in this folder.
  const started = process.cwd();
  process.chdir(tmpdir());
  t.after(() => process.chdir(started));
  const api = await openApi(['f1', 'f2']);
  const { asked, questions } = answering([api.url, 'account', 'acc', 'tok', 'f2']);
  const { profiles } = await logIn({}, newEnv(), questions);
  assert.equal(profiles['default']?.frontdoorId, 'f2');
  assert.deepEqual(asked, [
    'Management API',
    'Sign in as',
    'Account id',
    'API token',
    'Which frontdoor should commands use?',
  ]);
  const client = answering(['client', 'cli', 'sec', 'f1']);
  const kept = await logIn({ api: api.url }, newEnv(), client.questions);
  assert.deepEqual(kept.profiles['default']?.credentials, { kind: 'client', id: 'cli', secret: 'sec' });
});

test('without a terminal the frontdoor must be given when there are several, and be one of them', async () => {
  const api = await openApi(['f1', 'f2']);
  const flags = { api: api.url, account: 'acc', token: new Secret('tok') };
  await assert.rejects(logIn(flags, newEnv()), /choose a frontdoor with --frontdoor: f1 \(name of f1\), f2/);
  await assert.rejects(logIn({ ...flags, frontdoor: 'f3' }, newEnv()), { kind: 'notFound' });
  assert.equal((await logIn({ ...flags, frontdoor: 'f2' }, newEnv())).profiles['default']?.frontdoorId, 'f2');
  const empty = await openApi([]);
  const { out, profiles } = await logIn({ ...flags, api: empty.url }, newEnv());
  assert.match(out, /frontdoors create/);
  assert.equal(profiles['default']?.frontdoorId, undefined);
});

test("a demo's credentials are sent to the program that runs on its directory, and nowhere else", async () => {
  const api = await openApi(['f1']);
  const demo = join(folder, 'demo');
  mkdirSync(demo);
  await assert.rejects(logIn({ demo }, newEnv()), /no demo was started in .*demo: run "frontdoor up --demo"/);
  const first = { accountId: 'acc', apiToken: 'tok', frontdoorId: 'f1', organizationId: 'org' };
  writeFileSync(join(demo, 'demo-credentials.json'), JSON.stringify(first), { mode: 0o600 });
  const stopped = { code: 'demo-stopped', message: /demo is not running: start it with .* --data-dir / };
  await assert.rejects(logIn({ demo }, newEnv()), stopped);
  const running = {
    program: 'up --demo',
    version: '0',
    apiUrl: api.url,
    baseUrl: '',
    edgeApiUrl: '',
    consoleUrl: null,
    gatewayUrl: null,
  };
  const note = await noteRunningProgram(demo, running);
  assert.equal((await logIn({ demo }, newEnv())).profiles['default']?.apiUrl, api.url);
  note.remove();
  await assert.rejects(logIn({ demo }, newEnv()), stopped);
  assert.equal((await logIn({ demo, api: api.url }, newEnv())).profiles['default']?.apiUrl, api.url);
  chmodSync(join(demo, 'demo-credentials.json'), 0o644);
  await assert.rejects(logIn({ demo }, newEnv()), /run: chmod 600/);
});
