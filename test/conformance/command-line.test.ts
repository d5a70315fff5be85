// The command line against the real product: every family of commands, lists of any length, exit codes, streams.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { JsonClient } from '#net/http';
import { repositoryRoot } from '../../tools/pinned-process.ts';
import { runCommandLine } from '../support/command-line.ts';
import { until, within } from '../support/deadline.ts';
import { startPrivateService, type PrivateService } from '../support/private-service.ts';
import { openWorld, type World, type WorldAgent } from '../support/world.ts';

const config = mkdtempSync(join(tmpdir(), 'command-line-'));
let world: World;
let service: PrivateService | undefined;
let agent: WorldAgent;
let env: Record<string, string>;

before(async () => {
  world = await openWorld();
  service = await startPrivateService();
  agent = await world.startAgent('host');
  const { accountId, apiToken } = world.credentials;
  env = { XDG_CONFIG_HOME: config };
  const login = await run(['login', '--api', world.up.control.apiUrl], {
    ...env,
    FRONTDOOR_ACCOUNT_ID: accountId,
    FRONTDOOR_API_TOKEN: apiToken,
  });
  assert.equal(login.code, 0, login.err);
});
after(async () => {
  await service?.close();
  await world?.close();
  rmSync(config, { recursive: true, force: true });
});

const run = (args: readonly string[], environment: Record<string, string> = env) =>
  runCommandLine(args, environment);

/** The output of a command that has to succeed. */
async function text(...args: readonly string[]): Promise<string> {
  const ran = await run(args);
  assert.equal(ran.code, 0, `${args.join(' ')}: ${ran.err}`);
  return ran.out;
}

async function json<T = Record<string, unknown>>(...args: readonly string[]): Promise<T> {
  return JSON.parse(await text(...args, '--json')) as T;
}

const failed = async (...args: readonly string[]): Promise<number> => (await run(args)).code;

test('whoami shows the caller and token prints a valid token, as account and as OAuth client', async () => {
  const { accountId, clientId, clientSecret, organizationId } = world.credentials;
  const caller = await json('whoami');
  assert.deepEqual(
    [caller['kind'], caller['id'], caller['organizationId']],
    ['account', accountId, organizationId],
  );
  const client = { ...env, FRONTDOOR_CLIENT_ID: clientId, FRONTDOOR_CLIENT_SECRET: clientSecret };
  assert.equal((JSON.parse((await run(['whoami', '--json'], client)).out) as { id: string }).id, clientId);
  const token = (await run(['token', '--scope', 'frontdoor.read'], client)).out.trim();
  const answer = await fetch(`${world.up.control.apiUrl}/caller`, {
    headers: { authorization: `Bearer ${token}` },
  });
  assert.equal(answer.status, 200);
  assert.deepEqual(((await answer.json()) as { scopes: unknown }).scopes, ['frontdoor.read']);
});

test('frontdoors are created, listed, found, read and deleted', async () => {
  const { id } = await json<{ id: string }>('frontdoors', 'create', '--name', 'second');
  assert.match(await text('frontdoors', 'list'), new RegExp(`^${id} {2}second$`, 'm'));
  assert.equal((await json('frontdoors', 'get', id))['name'], 'second');
  assert.equal((await json('frontdoors', 'get'))['id'], world.credentials.frontdoorId);
  assert.equal((await json('frontdoors', 'find'))['id'], world.credentials.frontdoorId);
  assert.equal(await text('frontdoors', 'delete', id), `deleted ${id}\n`);
  assert.equal(await failed('frontdoors', 'get', id), 4);
});

test('the example of each type of auth provider in help makes one', async () => {
  const help = await text('auth-providers', 'create', '--help');
  const examples = [...help.matchAll(/^ {2}frontdoor (auth-providers create .*'\{.*\}')$/gm)];
  const types = JSON.parse(await text('auth-providers', 'types', '--json')) as { type: string }[];
  for (const { type } of types)
    assert.ok(
      examples.some(([, line]) => line!.includes(`--type ${type} `)),
      type,
    );
  for (const [, line] of examples) {
    const words = line!.match(/'[^']*'|\S+/g)!.map((word) => word.replaceAll("'", ''));
    const made = await json(...words, '--no-check');
    await text('auth-providers', 'delete', String(made['id']));
  }
});

test('auth providers follow their type, keep their secret, and change by field or whole', async () => {
  assert.match(await text('auth-providers', 'types'), /^OIDC +/m);
  assert.equal((await json('auth-providers', 'type', 'OIDC'))['type'], 'OIDC');
  assert.ok('properties' in (await json('auth-providers', 'schema', 'OIDC')));
  const file = join(config, 'oidc.json');
  writeFileSync(file, '{"issuer":"https://id.example.com","client_id":"c","client_secret":"hidden-secret"}');
  const created = await run([
    'auth-providers',
    'create',
    '--name',
    'staff',
    '--type',
    'OIDC',
    '--data',
    `@${file}`,
  ]);
  assert.match(created.err, /not shown again/);
  assert.match(created.err, /Register this callback address .*\n {2}https:\/\/oauth\.\S+\/auth\/callback\n/);
  assert.match(created.err, /The control plane cannot use the issuer: /);
  const id = /^id +(\S+)$/m.exec(created.out)![1]!;
  assert.doesNotMatch(await text('auth-providers', 'get', id), /hidden-secret/);
  const changed = await run(['auth-providers', 'change', id, '--no-enabled']);
  assert.match(changed.out, /^enabled +false$/m);
  assert.equal(changed.err, '');
  const whole = join(config, 'provider.json');
  writeFileSync(whole, await text('auth-providers', 'get', id, '--json'));
  const replaced = await json(
    'auth-providers',
    'replace',
    id,
    '--body',
    `@${whole}`,
    '--enabled',
    '--name',
    'people',
  );
  assert.deepEqual([replaced['name'], replaced['enabled']], ['people', true]);
  await text('auth-providers', 'delete', id);
  assert.equal(await failed('auth-providers', 'get', id), 5);
});

/** Creates `provider 000`, `provider 001`, … through the API. */
async function createProviders(frontdoorId: string, count: number): Promise<void> {
  const { accountId, apiToken } = world.credentials;
  const client = new JsonClient({ origin: world.up.control.apiUrl, timeoutMs: 60_000 });
  const create = async (at: number): Promise<void> => {
    const { status, json: created } = await client.request({
      method: 'POST',
      path: `/frontdoor/${frontdoorId}/auth-providers`,
      headers: { authorization: `Basic ${accountId}:${apiToken}` },
      body: {
        name: `provider ${String(at).padStart(3, '0')}`,
        type: 'API_KEY',
        data: { placement: 'bearer', keys: [{ name: 'k' }] },
      },
    });
    assert.equal(status, 201, JSON.stringify(created));
  };
  await Promise.all(Array.from({ length: count }, (_, at) => create(at)));
  await client.close();
}

test('a list of more than 250 entries is read whole, in part, or by the page', async () => {
  const { id } = await json<{ id: string }>('frontdoors', 'create', '--name', 'long list');
  await createProviders(id, 260);
  const list = ['auth-providers', 'list', '--frontdoor', id, '--sort', 'name,asc'];
  const names = async (...args: readonly string[]): Promise<unknown[]> =>
    (await json<{ name: string }[]>(...list, ...args)).map(({ name }) => name);
  const all = await names();
  assert.equal(all.length, 260);
  assert.equal(new Set(all).size, 260);
  assert.deepEqual([all[0], all[259]], ['provider 000', 'provider 259']);
  assert.deepEqual(await names('--limit', '205'), all.slice(0, 205));
  assert.equal((await text(...list)).split('\n').length, 1 + 260 + 1);
  assert.equal((await text(...list, '--json-lines')).split('\n').length, 261);
  const page = await json<{ content: unknown[]; totalElements: number }>(
    ...list,
    '--page',
    '5',
    '--size',
    '50',
  );
  assert.deepEqual([page.content.length, page.totalElements], [10, 260]);
  await text('frontdoors', 'delete', id);
});

test('agents, environments and shares: enroll, list, publish, change, measure, delete', async () => {
  const enrolled = await run(['agents', 'enroll']);
  const code = /^enrollmentCode +(\S+)$/m.exec(enrolled.out)![1]!;
  assert.ok(enrolled.err.includes(`FRONTDOOR_ENROLLMENT_TOKEN=${code} frontdoor agent start`), enrolled.err);
  assert.equal((await json('agents', 'jwt', code))['frontdoorId'], world.credentials.frontdoorId);
  const id = agent.environmentId;
  assert.match(await text('agents', 'list'), new RegExp(`^${id} +host +ACTIVE +0\\.0\\.0-test$`, 'm'));
  assert.match(await text('environments', 'list'), new RegExp(`^${id} +host +ACTIVE$`, 'm'));
  assert.equal((await json('environments', 'get', id))['name'], 'host');
  assert.equal((await json('agents', 'version', id))['version'], '0.0.0-test');
  assert.match(await text('frontends', 'list'), /\{token\}\.share\.localhost/);
  await agent.share(`http://127.0.0.1:${service!.port}`, { name: 'app' });
  await until(
    'the share',
    () => text('shares', 'get', 'app'),
    (output) => /^status +DEPLOYED$/m.test(output),
  );
  assert.match(await text('shares', 'list'), /^app +DEPLOYED +Everyone +http:/m);
  assert.equal((await json<{ shares: unknown[] }>('agents', 'status', id)).shares.length, 1);
  const place = [
    '--environment-id',
    id,
    '--share-mode',
    'private',
    '--backend-mode',
    'proxy',
    '--target',
    'http://a:1',
  ];
  const made = await json('shares', 'create', '--name', 'extra', ...place);
  assert.equal(made['token'], 'extra');
  assert.equal(await failed('shares', 'create', '--name', 'extra', ...place), 6);
  const changed = await json('shares', 'change', 'extra', '--target', 'http://b:2', '--grant', id);
  assert.deepEqual([changed['target'], changed['grants']], ['http://b:2', [id]]);
  assert.deepEqual((await json('shares', 'change', 'extra', '--no-grant'))['grants'], []);
  await text('shares', 'delete', 'extra');
  assert.equal(await failed('shares', 'get', 'extra'), 5);
});

test('a key makes one account of two commands, and an ETag that is no longer there stops a change', async () => {
  const create = ['api-accounts', 'create', '--name', 'keyed', '--idempotency-key', randomUUID()];
  const made = await json(...create);
  assert.deepEqual(await json(...create), made);
  assert.equal(await failed(...create, '--scope', 'frontdoor.read'), 6);
  const accounts = await json<{ name: string }[]>('api-accounts', 'list');
  assert.equal(accounts.filter(({ name }) => name === 'keyed').length, 1);
  const account = String(made['id']);
  const rotate = ['api-accounts', 'rotate', account, '--idempotency-key', randomUUID()];
  assert.deepEqual(await json(...rotate), await json(...rotate));
  await text('api-accounts', 'delete', account);
  const settings = ['organizations', 'settings', '--etag'];
  const change = ['organizations', 'change-settings', '--if-match'];
  const before = (await text(...settings)).trim();
  await text(...change, before, '--token-exchange');
  assert.equal(await failed(...change, before, '--no-token-exchange'), 6);
  assert.equal(await failed(...change, 'no-tag', '--no-token-exchange'), 2);
  await text(...change, (await text(...settings)).trim(), '--no-token-exchange');
  assert.equal((await text(...settings)).trim(), before);
});

test('lists are narrowed and sorted by options', async () => {
  const { id } = await json<{ id: string }>('environments', 'get', 'host');
  const place = ['--environment-id', id, '--share-mode', 'private', '--backend-mode', 'proxy'];
  for (const name of ['list-a', 'list-b'])
    await text('shares', 'create', '--name', name, ...place, '--target', 'http://127.0.0.1:9');
  const names = async (...args: readonly string[]): Promise<string[]> =>
    (await json<{ token: string }[]>('shares', 'list', '--name', 'LIST-', ...args)).map(({ token }) => token);
  assert.deepEqual(await names('--environment-id', 'host', '--sort', 'createdAt'), ['list-a', 'list-b']);
  assert.deepEqual(await names('--sort=-createdAt', '--limit', '1'), ['list-b']);
  assert.deepEqual(await names('--to', '2020-01-01T00:00:00Z'), []);
  const all = new Set<string>();
  for (const status of ['PENDING', 'DEPLOYED', 'FAILED'])
    for (const name of await names('--status', status)) all.add(name);
  assert.deepEqual([...all].sort(), ['list-a', 'list-b']);
  assert.equal(await failed('shares', 'list', '--status', 'ODD'), 2);
  assert.equal(await failed('shares', 'list', '--from', 'yesterday'), 2);
  for (const name of ['list-a', 'list-b']) await text('shares', 'delete', name);
});

test('metrics and sparklines show the traffic of a share', async () => {
  assert.equal((await world.get('app.share.localhost', '/')).status, 200);
  await until(
    'the request',
    () => text('metrics', 'show'),
    (output) => /^requests +[1-9]/m.test(output),
    30_000,
  );
  assert.match(
    await text('metrics', 'environment', agent.environmentId, '--duration', 'PT5M'),
    /^requests +[1-9]/m,
  );
  assert.match(await text('metrics', 'sparklines'), /^environment host +[▁▂▃▄▅▆▇█]{30} [1-9]\d* requests/m);
  assert.equal(
    (await json<{ samples: unknown[] }>('metrics', 'show', '--duration', 'PT1H', '--step', 'PT10M')).samples
      .length,
    6,
  );
  assert.equal(await failed('metrics', 'show', '--duration', 'P1Y'), 2);
});

test('organizations, accounts, clients and keys: made, rotated, revoked; a secret ends with its rotation', async () => {
  const { id: organization } = await json<{ id: string }>('organizations', 'create', '--name', 'partners');
  assert.match(await text('organizations', 'list'), /partners/);
  assert.equal((await json('organizations', 'change', organization, '--name', 'friends'))['name'], 'friends');
  assert.equal(
    (await json('organizations', 'change-settings', organization, '--token-exchange'))['tokenExchange'],
    true,
  );
  assert.equal((await json('organizations', 'settings'))['tokenExchange'], false);
  const make = ['create', '--name', 'build', '--scope', 'frontdoor.read', '--organization', organization];
  for (const [noun, secret, kind] of [
    ['api-accounts', 'token', 'ACCOUNT_ID'],
    ['oauth-clients', 'secret', 'CLIENT_ID'],
  ] as const) {
    const made = await json<Record<string, string>>(noun, ...make);
    const as = async (value: string): Promise<number> => {
      const name = kind === 'ACCOUNT_ID' ? 'FRONTDOOR_API_TOKEN' : 'FRONTDOOR_CLIENT_SECRET';
      const own = { [`FRONTDOOR_${kind}`]: made['id']!, [name]: value };
      return (await run(['whoami', '--api', world.up.control.apiUrl], own)).code;
    };
    assert.equal(await as(made[secret]!), 0);
    const rotated = await json<Record<string, string>>(noun, 'rotate', made['id']!);
    assert.deepEqual([await as(made[secret]!), await as(rotated[secret]!)], [3, 0]);
    const newer = await json<Record<string, string>>(noun, 'rotate', made['id']!, '--overlap', '24h');
    assert.deepEqual([await as(rotated[secret]!), await as(newer[secret]!)], [0, 0]);
    assert.match(await text(noun, 'end-previous', made['id']!), /^ended /);
    assert.deepEqual([await as(rotated[secret]!), await as(newer[secret]!)], [3, 0]);
    assert.match(await text(noun, 'list', '--organization', organization), /build/);
    assert.doesNotMatch(await text(noun, 'get', made['id']!), /token|secret/);
    await text(noun, 'delete', made['id']!);
    assert.equal(await as(newer[secret]!), 3);
  }
  await text('organizations', 'delete', organization);
  const { id: key } = await json<{ id: string }>('signing-keys', 'rotate');
  assert.ok((await text('signing-keys', 'list')).includes(key));
});

test(
  'the audit trail is listed, filtered, verified, and followed as it happens',
  { timeout: 60_000 },
  async () => {
    assert.match(await text('audit', 'list', '--limit', '5'), /^\S+Z +account \S+ +\w+ +.* ok/m);
    const events = await json<{ action: string }[]>('audit', 'list', '--action', 'createFrontdoor');
    assert.deepEqual(new Set(events.map(({ action }) => action)), new Set(['createFrontdoor']));
    assert.equal((await json('audit', 'verify'))['valid'], true);
    const follow = start(['audit', 'follow', '--action', 'createFrontdoor', '--after', '0', '--json-lines']);
    const { id } = await json<{ id: string }>('frontdoors', 'create', '--name', 'followed');
    await until('the event', follow.out, (output) => output.includes(id) && output.endsWith('\n'));
    for (const line of follow.out().trim().split('\n'))
      assert.equal((JSON.parse(line) as { action: string }).action, 'createFrontdoor');
    follow.child.kill('SIGINT');
    await text('frontdoors', 'delete', id);
  },
);

test('a failed command ends with the status of its kind', async () => {
  const { id, token } = await json<{ id: string; token: string }>(
    ...['api-accounts', 'create', '--name', 'reader', '--scope', 'frontdoor.read'],
  );
  const reader = { FRONTDOOR_ACCOUNT_ID: id, FRONTDOOR_API_TOKEN: token, ...env };
  assert.equal((await run(['frontdoors', 'create', '--name', 'x'], reader)).code, 4);
  assert.equal(await failed('shares', 'get', 'nothing'), 5);
  assert.equal(await failed('environments', 'list', '--sort', 'odd'), 2);
  assert.equal(await failed('no-such-command'), 2);
  assert.equal(await failed('shares', 'list', '--no-such-option'), 2);
  assert.equal((await run(['shares', 'list'], { ...env, FRONTDOOR_ID: crypto.randomUUID() })).code, 4);
  assert.equal((await run(['whoami'], { ...reader, FRONTDOOR_API_TOKEN: 'wrong' })).code, 3);
  const away = { ...reader, FRONTDOOR_ID: id, FRONTDOOR_API_URL: 'http://127.0.0.1:9' };
  assert.equal((await run(['shares', 'list'], away)).code, 8);
  await text('api-accounts', 'delete', id);
});

test('the description and the keys of the API need no log-in', async () => {
  const { apiUrl } = world.up.control;
  for (const [verb, field] of [
    ['openapi', 'openapi'],
    ['token-keys', 'keys'],
    ['origin-keys', 'keys'],
    ['issuer', 'issuer'],
  ] as const) {
    const ran = await run(['api', verb, '--api', apiUrl], {});
    assert.ok(field in (JSON.parse(ran.out) as object), ran.err);
  }
});

test('the doctor finds nothing wrong with a healthy installation', async () => {
  const { control, httpPort, router } = world.up;
  const args = ['doctor', '--data-dir', world.dataDir, '--agent-dir', agent.dataDir];
  const places = ['--gateway', `http://127.0.0.1:${httpPort}`, '--router', `localhost:${router.edgePort}`];
  const ran = await run([...args, ...places, '--json']);
  const { findings } = JSON.parse(ran.out) as {
    findings: { check: string; state: string; message: string }[];
  };
  assert.equal(ran.code, 0, ran.out);
  for (const check of [
    'Management API',
    'credentials',
    'frontdoor',
    'agent',
    'TLS of edge API',
    'key files',
    'clock',
  ])
    assert.equal(findings.find((finding) => finding.check === check)?.state, 'ok', `${check}: ${ran.out}`);
  assert.match(findings.find(({ check }) => check === 'TLS of edge API')!.message, /trusted/);
  assert.ok(control.apiUrl.startsWith('http'));
  chmodSync(join(agent.dataDir, 'identity.json'), 0o644);
  const open = await run([...args, ...places]);
  assert.equal(open.code, 1);
  assert.match(open.out, /FAIL {2}key files .*identity\.json\n +-> chmod 600/);
  chmodSync(join(agent.dataDir, 'identity.json'), 0o600);
});

const ENTRY = join(repositoryRoot, 'bin/frontdoor.ts');
/** A command that runs from the sources, with the compile cache that the launcher provides. */
const PROCESS_ENV = {
  PATH: process.env['PATH'],
  FRONTDOOR_FROM_SOURCES: '1',
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
};
/** Prints each file that is loaded. */
const TRACE =
  'data:text/javascript,import{registerHooks}from"node:module";' +
  'registerHooks({load(url,context,next){process._rawDebug(url);return next(url,context)}})';

function start(args: readonly string[], nodeArgs: readonly string[] = []) {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', ...nodeArgs, ENTRY, ...args],
    {
      env: { ...PROCESS_ENV, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (err += chunk));
  return { child, out: () => out, err: () => err, end: within('the end', once(child, 'close')) };
}

test('help loads neither the network nor the API, and no command loads a program', async () => {
  const help = start(['--help'], ['--import', TRACE]);
  await help.end;
  assert.match(help.out(), /shares +published services/);
  assert.doesNotMatch(help.err(), /src\/(?:net|contract|sdk|wire|control|gateway|router|agent)\//);
  const list = start(['shares', 'list'], ['--import', TRACE]);
  await list.end;
  assert.match(list.out(), /^app /m);
  assert.doesNotMatch(list.err(), /src\/(?:sdk|control|gateway|router|agent)\//);
});

test('a reader that closes the pipe early ends the command without an error', async () => {
  const script = `"${process.execPath}" --disable-warning=ExperimentalWarning "${ENTRY}" audit list --json | head -n 1; echo "\${PIPESTATUS[0]}"`;
  const child = spawn('bash', ['--norc', '-c', script], {
    env: { ...PROCESS_ENV, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (err += chunk));
  await within('the end', once(child, 'close'));
  assert.deepEqual([out, err], ['[\n0\n', '']);
});

test('a pipe gets all of a long output, however late its reader takes it', async () => {
  const launcher = join(repositoryRoot, 'bin/frontdoor.js');
  const child = spawn(process.execPath, [launcher, 'completion', 'fish'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'readable');
  const chunks: Buffer[] = [];
  for await (const chunk of child.stdout) chunks.push(chunk as Buffer);
  const output = Buffer.concat(chunks);
  assert.ok(output.length > 2 * 65_536, 'more than a pipe holds');
  assert.ok(output.equals(Buffer.from(await text('completion', 'fish'))), `${output.length} bytes`);
});

test('a Node that lacks a library ends with the package to install', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'launcher-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const node = join(folder, 'node_modules', `node-${process.platform}-${process.arch}`);
  mkdirSync(join(node, 'bin'), { recursive: true });
  for (const file of ['package.json', 'bin/frontdoor.js', 'bin/node-flags.js'])
    cpSync(join(repositoryRoot, file), join(folder, file), { recursive: true });
  writeFileSync(join(folder, 'bin/frontdoor.ts'), '');
  writeFileSync(join(node, 'package.json'), '{"version":"26.10.0"}');
  // What the loader of glibc does.
  const loader = '#!/bin/sh\necho "$0: error while loading shared libraries: libatomic.so.1" >&2\nexit 127\n';
  writeFileSync(join(node, 'bin/node'), loader, { mode: 0o755 });
  const child = spawn(process.execPath, [join(folder, 'bin/frontdoor.js'), 'up'], {
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  let err = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (err += chunk));
  assert.deepEqual(await within('the end', once(child, 'close')), [69, null]);
  assert.match(err, /libatomic\.so\.1\nfrontdoor: .*apt-get install libatomic1/);
});
