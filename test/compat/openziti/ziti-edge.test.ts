// OpenZiti's command line as administrators use it: `ziti edge` makes a network at our edge management API, and
// `ziti tunnel` hosts and dials in it through our router. ZITI_BIN names the binary (1.7.2); without it: skipped.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { silentLog } from '#base';
import { startUp, type Up } from '../../../bin/up.ts';
import { callCommand } from '../../support/command-line.ts';
import { until } from '../../support/deadline.ts';
import { freePort } from '../../support/free-port.ts';
import { digestOf, startPrivateService, type PrivateService } from '../../support/private-service.ts';
import { provideServerKey } from '../../support/server-key.ts';
import { httpGet, type HttpAnswer } from '../../support/world.ts';
import { runZiti, zitiBinary } from '../../support/ziti-command.ts';
import { enrollArgs, startTunneler, type Tunneler } from './tunneler.ts';

const BINARY = zitiBinary() ?? '';
const skip = BINARY === '' ? 'ZITI_BIN is not set' : false;
const PASSWORD = 'a password of an administrator';
const BODY_BYTES = 4 * 1024 * 1024;
const READY_MS = 30_000;
/** Time within which a change of policies ends what it forbids. */
const CUT_MS = 5_000;

/** Lists that the journey fills with nothing. */
const LISTED_ONLY = [
  ...[
    'auth-policies',
    'posture-checks',
    'sessions',
    'enrollments',
    'authenticators',
    'cas',
    'ext-jwt-signers',
  ],
];

let folder: string;
let service: PrivateService;
let up: Up;
const tunnelers: Tunneler[] = [];

const start = (): Promise<Up> =>
  startUp({
    dataDir: join(folder, 'data'),
    listenHost: '127.0.0.1',
    advertiseHost: 'localhost',
    ports: { http: 0, https: 0, api: 0, edgeApi: 0, ctrl: 0, edge: 0 },
    anyPort: true,
    zone: 'share.localhost',
    access: { edgeManagement: true },
    version: '0.0.0-test',
    log: silentLog,
  });

before(async () => {
  if (skip !== false) return;
  folder = mkdtempSync(join(tmpdir(), 'frontdoor-ziti-edge-'));
  provideServerKey(join(folder, 'data'));
  service = await startPrivateService();
  await (await start()).close(0);
  writeFileSync(join(folder, 'password'), `${PASSWORD}\n`);
  await callCommand([
    ...['admins', 'create', '--data-dir', join(folder, 'data'), '--username', 'root'],
    ...['--password-file', join(folder, 'password'), '--out', join(folder, 'admin.json')],
  ]);
  up = await start();
});
after(async () => {
  for (const tunneler of tunnelers) await tunneler.stop();
  await up?.close(0);
  await service?.close();
  if (folder !== undefined) rmSync(folder, { recursive: true });
});

async function edge(...args: string[]): Promise<string> {
  const { status, output } = await runZiti(BINARY, folder, ['edge', ...args]);
  assert.equal(status, 0, `ziti edge ${args.join(' ')}: ${output}`);
  return output;
}

test(
  'ziti edge makes a network, and ziti tunnel hosts and dials in it until a policy goes',
  { skip },
  async () => {
    const { edgeApiUrl } = up.control;
    const wrong = await runZiti(BINARY, folder, ['edge', 'login', edgeApiUrl, '-u', 'root', '-p', 'x', '-y']);
    assert.notEqual(wrong.status, 0);
    await edge('login', edgeApiUrl, '-u', 'root', '-p', PASSWORD, '-y');
    const address = { protocol: 'tcp', address: '127.0.0.1', port: service.port };
    await edge('create', 'config', 'backend', 'host.v1', JSON.stringify(address));
    await edge('create', 'service', 'web', '--configs', 'backend', '--role-attributes', 'web');
    for (const name of ['host', 'dialer']) {
      const jwt = join(folder, `${name}.jwt`);
      await edge('create', 'identity', name, '--role-attributes', `${name}s`, '--jwt-output-file', jwt);
      const { status, output } = await runZiti(
        BINARY,
        folder,
        enrollArgs(jwt, join(folder, `${name}.json`), '--keyAlg', 'EC'),
      );
      assert.equal(status, 0, output);
    }
    const roles = (services: string, identities: string): string[] => [
      ...['--semantic', 'AnyOf', '--service-roles', services, '--identity-roles', identities],
    ];
    await edge('create', 'service-policy', 'hosting', 'Bind', ...roles('#web', '#hosts'));
    await edge('create', 'service-policy', 'dialing', 'Dial', ...roles('@web', '@dialer'));
    const everyRouter = ['--semantic', 'AnyOf', '--edge-router-roles', '#all'];
    await edge('create', 'edge-router-policy', 'all', ...everyRouter, '--identity-roles', '#all');
    await edge('create', 'service-edge-router-policy', 'all', ...everyRouter, '--service-roles', '#all');

    const port = await freePort();
    tunnelers.push(startTunneler(BINARY, folder, join(folder, 'host.json'), 'host'));
    tunnelers.push(startTunneler(BINARY, folder, join(folder, 'dialer.json'), 'proxy', `web:${port}`));
    const get = (path: string): Promise<HttpAnswer> => httpGet(port, 'web', path);
    await until(
      'an answer through ziti tunnel proxy',
      () => get('/'),
      ({ status }) => status === 200,
      READY_MS,
    );
    const { body } = await get(`/bytes/${BODY_BYTES}`);
    assert.equal(digestOf([body]), digestOf(service.bytes(BODY_BYTES)));
    assert.match(await edge('list', 'terminators'), /web/);

    await edge('delete', 'service-policy', 'dialing');
    const answered = () =>
      get('/').then(
        () => true,
        () => false,
      );
    await until('the end of dialing', answered, (isAnswered) => !isAnswered, CUT_MS);
    await edge('delete', 'service-policy', 'hosting');
    await until(
      'the end of hosting',
      () => edge('list', 'terminators'),
      (list) => !list.includes('web'),
      CUT_MS,
    );
  },
);

test(
  'ziti edge enrolls a password, with which the identity logs in, and adds a signer of tokens',
  { skip },
  async () => {
    const { edgeApiUrl } = up.control;
    const jwt = join(folder, 'person.jwt');
    await edge('create', 'identity', 'person', '--updb', 'person', '--admin', '--jwt-output-file', jwt);
    await edge('enroll', '--jwt', jwt, '--username', 'person', '--password', 'of a person');
    await edge('login', edgeApiUrl, '-u', 'person', '-p', 'of a person', '-y');
    await edge('login', edgeApiUrl, '-u', 'root', '-p', PASSWORD, '-y');
    const keys = 'https://idp.example/keys';
    await edge(
      'create',
      'ext-jwt-signer',
      'idp',
      'https://idp.example',
      '-u',
      keys,
      '-a',
      'app',
      '-c',
      'email',
    );
    assert.match(await edge('list', 'ext-jwt-signers'), /idp\.example/);
    await edge('delete', 'ext-jwt-signer', 'idp');
    await edge('delete', 'identity', 'person');
  },
);

test('ziti edge lists, changes and deletes what it made', { skip }, async () => {
  const lists = ['identities', 'services', 'configs', 'config-types', 'service-policies', 'edge-routers'];
  const more = [
    'edge-router-policies',
    'service-edge-router-policies',
    'terminators',
    'api-sessions',
    'summary',
  ];
  for (const list of [...lists, ...more, ...LISTED_ONLY]) await edge('list', list);
  await edge('update', 'identity', 'host', '--role-attributes', 'others');
  await edge('update', 'service', 'web', '--name', 'site');
  await edge('create', 'edge-router', 'east', '--jwt-output-file', join(folder, 'east.jwt'));
  for (const [kind, name] of [
    ['edge-router', 'east'],
    ['edge-router-policy', 'all'],
    ['service-edge-router-policy', 'all'],
    ['service', 'site'],
    ['config', 'backend'],
    ['identity', 'host'],
  ] as const)
    await edge('delete', kind, name);
  assert.doesNotMatch(await edge('list', 'services'), /site/);
});
