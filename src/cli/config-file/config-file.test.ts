import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { ProgramRunners } from '../program.ts';
import { runCli, type Ran } from '../cli-fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'config-file-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function fileOf(text: string, mode = 0o600): string {
  const path = join(folder, 'frontdoor.yaml');
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

type Options = Readonly<Record<string, unknown>>;

/** Runs a program with a file; `options` are those that it was started with. */
async function start(
  program: string,
  text: string,
  {
    args = [],
    env = {},
    mode,
  }: { args?: readonly string[]; env?: Record<string, string>; mode?: number } = {},
): Promise<Ran & { readonly options: Options | undefined }> {
  const started: { options?: Options } = {};
  const take = async (options: object): Promise<void> => void (started.options = options as Options);
  const runners: Partial<ProgramRunners> = {
    up: take,
    control: take,
    gateway: take,
    tunnelProxy: take,
    tunnelHost: take,
    agentStart: take,
  };
  const words = [...program.split(' '), '--config', fileOf(text, mode), ...args];
  return { ...(await runCli(words, env, {}, runners)), options: started.options };
}

async function problemsOf(program: string, text: string): Promise<string[]> {
  const { err, code, options } = await start(program, text);
  assert.deepEqual([code, options], [2, undefined], err);
  return err
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.trim().replace(`${folder}/frontdoor.yaml:`, ''));
}

test('a program takes the values of its section in their types, and ignores other sections', async () => {
  const { options, err } = await start(
    'up',
    `
up:
  zone: share.example.com
  advertise: [a.example.com, b.example.com]
  httpPort: 80
  onePort: true
  httpsRedirect: off
  console: false
  trustedProxies: [10.0.0.5, 10.1.0.0/16]
  limitWrites: 10/20
  acmeDnsSetting: { server: ns1.example.com, zone-id: 5, token-file: dns.token }
  tlsCert: tls/front.pem
  accessLog: '-'
gateway: { anything: [1] }
shares: not looked at
`,
  );
  assert.equal(err, '');
  const { trustedProxies, acmeDnsSetting, advertise, limitWrites, givenPorts } = options!;
  assert.deepEqual(
    [options!['zone'], options!['httpPort'], options!['onePort']],
    ['share.example.com', 80, true],
  );
  assert.deepEqual([options!['httpsRedirect'], options!['console']], ['off', 'off']);
  assert.deepEqual(advertise, ['a.example.com', 'b.example.com']);
  assert.equal(trustedProxies, '10.0.0.5,10.1.0.0/16');
  assert.deepEqual(limitWrites, { perSecond: 10, burst: 20 });
  assert.deepEqual(acmeDnsSetting, ['server=ns1.example.com', 'zone-id=5', `token-file=${folder}/dns.token`]);
  assert.deepEqual([options!['tlsCert'], options!['accessLog']], [`${folder}/tls/front.pem`, '-']);
  assert.deepEqual(givenPorts, { httpPort: 80 });
  assert.equal(options!['httpsPort'], 8_443, 'the default of what the file does not have');
});

test('the command line has precedence over the environment, which has precedence over the file', async () => {
  const file =
    'agent: { api: http://file, dataDir: state, name: of-the-file, maxCircuits: 7, allowTarget: ["10.0.0.1:80"] }';
  const env = { FRONTDOOR_API_URL: 'http://env', FRONTDOOR_AGENT_DIR: '/env' };
  const args = ['--data-dir', '/cli', '--allow-target', '10.0.0.2:80', '--allow-target', '10.0.0.3:80'];
  const { options } = await start('agent start', file, { env, args });
  assert.deepEqual(
    [
      options!['api'],
      options!['dataDir'],
      options!['name'],
      options!['maxCircuits'],
      options!['allowTarget'],
    ],
    ['http://env', '/cli', 'of-the-file', 7, ['10.0.0.2:80', '10.0.0.3:80']],
  );
  const other = await start('control', 'control: { databaseFile: url }', {
    args: ['--database', 'postgres://h/d'],
  });
  assert.equal(other.options?.['databaseFile'], undefined, 'the file names another place of the same value');
});

test('all problems are reported at once, each with its place, its rule and its value', async () => {
  const text = `
up:
  httpPort: 70000
  apiPort: '80'
  zon: example.com
  console: maybe
  proxyProtocol: ftp
  trustedProxies: [10.0.0.5, nowhere]
  allowEgress: []
  acmeDnsSetting: [server=ns1]
  demo: yes
  acmeDirectory: http://u:hunter2@ca.example
gatewya: {}
`;
  assert.deepEqual(await problemsOf('up', text), [
    '3:3 error up.httpPort: must be a whole number from 0 to 65535 (given 70000)',
    '4:3 error up.apiPort: must be a whole number from 0 to 65535 (given "80")',
    '5:3 error up.zon: is not known here; the nearest known name is zone',
    '6:3 error up.console: must be on or off (given "maybe")',
    '7:3 error up.proxyProtocol: must be one of http, https, both (given "ftp")',
    '8:3 error up.trustedProxies: must be addresses and networks, separated by commas',
    '9:3 error up.allowEgress: must be a list of texts, or one text',
    '10:3 error up.acmeDnsSetting: must be a mapping of names to values',
    '11:3 error up.demo: must be true or false (given "yes")',
    '12:3 error up.acmeDirectory: must be an https URL (given "http://(hidden)@ca.example")',
    '13:1 error gatewya: is not known here; the nearest known name is gateway',
  ]);
  assert.deepEqual(
    await problemsOf('tunnel proxy', 'tunnel: { prxy: {}, proxy: { service: ["db:5432", "db"] } }'),
    [
      '1:11 error tunnel.prxy: is not known here; the nearest known name is proxy',
      '1:51 error tunnel.proxy.service[1]: must be NAME:PORT or NAME:PORT:udp, such as db:5432 (given "db")',
    ],
  );
  assert.deepEqual(await problemsOf('control', 'control: [1]'), [
    '1:1 error control: must be a mapping of names to values',
  ]);
  assert.deepEqual(await problemsOf('control', 'control: { database: postgres://h/d, databaseFile: url }'), [
    '1:12 error control.database: cannot be used together with databaseFile',
    '1:38 error control.databaseFile: cannot be used together with database',
  ]);
});

test('a secret in the file is shown in no message, and needs a file of its owner', async () => {
  const text = 'control: { database: "postgres://u:hunter2@h/d" }';
  const { options } = await start('control', text);
  assert.equal((options!['database'] as { reveal(): string }).reveal(), 'postgres://u:hunter2@h/d');
  const { err, code } = await start('control', text, { mode: 0o644 });
  assert.match(
    err,
    /control\.database: has a secret, and other users can read this file: .*use databaseFile/,
  );
  assert.deepEqual([err.includes('hunter2'), code], [false, 2]);
  const open = await start('control', 'control: { database: postgres://h/d }', { mode: 0o644 });
  assert.equal(open.err, '');
  const wrong = await start('agent start', 'agent: { enrollmentToken: [hunter2], enrolmentToken: hunter2 }');
  assert.deepEqual([wrong.err.includes('hunter2'), wrong.code], [false, 2], wrong.err);
});

test('a file that others may write, that is missing or that is no file is refused', async () => {
  const open = await start('up', 'up: {}', { mode: 0o666 });
  assert.match(open.err, /other users can write to .* chmod go-w/);
  assert.deepEqual([open.code, open.options], [4, undefined]);
  const missing = await runCli(['up', '--config', join(folder, 'none.yaml')]);
  assert.match(missing.err, /cannot read .*none\.yaml/);
  assert.equal((await runCli(['up', '--config', folder])).code, 2);
  assert.deepEqual(await problemsOf('up', 'up: {zone: a'), [
    '1:13 error: Flow map in block collection must be sufficiently indented and end with a }',
  ]);
});

test('a section whose lines are all comments is empty, and options that are needed are asked for', async () => {
  assert.equal((await start('up', 'up:\n  #zone: a\n')).options?.['zone'], 'share.localhost');
  assert.equal((await start('gateway', '# nothing\n')).err, '');
  const { err, code } = await start('tunnel host', 'tunnel:\n  host:\n');
  assert.match(err, /--identity <file>.*tunnel\.host\.identity/);
  assert.equal(code, 2);
  const proxy = await start('tunnel proxy', 'tunnel: { proxy: { identity: me.json, service: "db:5432" } }');
  assert.deepEqual(
    [proxy.options?.['identity'], proxy.options?.['service']],
    [join(folder, 'me.json'), [{ service: 'db', port: 5_432, protocol: 'tcp' }]],
  );
});
