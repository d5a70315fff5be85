// OpenZiti's command line as administrators use it: `ziti edge` makes a network at our edge management API, and
// `ziti tunnel` hosts and dials in it through our router. ZITI_BIN names the binary (1.7.2); without it: skipped.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { until } from '../../support/deadline.ts';
import { digestOf } from '../../support/private-service.ts';
import { httpGet, type HttpAnswer } from '../../support/world.ts';
import { runZiti, zitiBinary } from '../../support/ziti-command.ts';
import { startEventStream } from './event-stream.ts';
import { enrollArgs } from './tunneler.ts';
import { CREDENTIALS } from '../../support/edge-installation.ts';
import { openZitiEdgeWorld, type ZitiEdgeWorld } from './ziti-edge-world.ts';

const BINARY = zitiBinary() ?? '';
const skip = BINARY === '' ? 'ZITI_BIN is not set' : false;
const { username, password } = CREDENTIALS;
const BODY_BYTES = 4 * 1024 * 1024;
/** Time within which a change of policies ends what it forbids. */
const CUT_MS = 5_000;
/** Routers report each minute. */
const METRICS_MS = 90_000;

/** Lists that the journey fills with nothing. */
const LISTED_ONLY = [
  'auth-policies',
  'posture-checks',
  'sessions',
  'enrollments',
  'authenticators',
  'cas',
  'ext-jwt-signers',
  'network-jwts',
];

let world: ZitiEdgeWorld;
const edge = (...args: string[]): Promise<string> => world.edge(...args);

before(async () => {
  if (skip === false) world = await openZitiEdgeWorld(BINARY);
});
after(() => world?.close());

/** Expects that `ziti fabric validate` finds one router, with a service hosted and a circuit held there, and nothing wrong. */
async function validates(folder: string): Promise<void> {
  const validate = async (...args: string[]): Promise<string> =>
    (await runZiti(BINARY, folder, ['fabric', 'validate', ...args])).output;
  for (const [what, count] of [
    ['router-links', 1],
    ['router-sdk-terminators', 1],
    ['router-ert-terminators', 1],
    ['identity-connection-statuses', 1],
    ['circuits', 1],
    // With that of the control plane.
    ['router-data-model', 2],
  ] as const) {
    const isRight = (text: string): boolean =>
      text.includes(`started validation of ${count} `) && /\b0 errors found/.test(text);
    await until(`validate ${what}`, () => validate(what), isRight);
  }
  const circuits = await validate('circuits', '--include-valid');
  assert.match(
    circuits,
    /in ctrl: false, missing in forwarder: false, missing in edge: false, missing in sdk: false/,
  );
  const hosted = await validate('router-sdk-terminators', '--include-valid-terminators');
  assert.match(hosted, /ctrlState: Valid, routerState: established/);
  const terminators = await validate('terminators', '--include-valid', '--filter', 'service.name="web"');
  assert.match(terminators, /started validation of 1 terminators\n.*binding: edge, .*state: Valid/);
  const refused = await validate('router-links', 'color = "red"');
  assert.match(refused, /unknown symbol 'color'/);
}

test(
  'ziti edge makes a network, and ziti tunnel hosts and dials in it until a policy goes',
  { skip },
  async () => {
    const { folder, up, service } = world;
    const { edgeApiUrl } = up.control;
    const wrong = await runZiti(BINARY, folder, ['edge', 'login', edgeApiUrl, '-u', 'root', '-p', 'x', '-y']);
    assert.notEqual(wrong.status, 0);
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
      '--semantic',
      'AnyOf',
      '--service-roles',
      services,
      '--identity-roles',
      identities,
    ];
    await edge('create', 'service-policy', 'hosting', 'Bind', ...roles('#web', '#hosts'));
    await edge('create', 'service-policy', 'dialing', 'Dial', ...roles('@web', '@dialer'));
    const everyRouter = ['--semantic', 'AnyOf', '--edge-router-roles', '#all'];
    await edge('create', 'edge-router-policy', 'all', ...everyRouter, '--identity-roles', '#all');
    await edge('create', 'service-edge-router-policy', 'all', ...everyRouter, '--service-roles', '#all');

    world.tunnel(join(folder, 'host.json'), 'host');
    const port = await world.proxy(join(folder, 'dialer.json'), 'web');
    const get = (path: string): Promise<HttpAnswer> => httpGet(port, 'web', path);
    const { body } = await get(`/bytes/${BODY_BYTES}`);
    assert.equal(digestOf([body]), digestOf(service.bytes(BODY_BYTES)));
    assert.match(await edge('list', 'terminators'), /web/);
    const inspected = await runZiti(BINARY, folder, ['fabric', 'inspect', 'sdk-terminators']);
    assert.match(inspected.output, /state: established\n(.*\n)*\s+v2: true/);
    // A connection that stands has two ends, each at an SDK.
    const held = connect(port, '127.0.0.1');
    const circuits = async (): Promise<string> =>
      (await runZiti(BINARY, folder, ['fabric', 'inspect', 'router-sdk-circuits'])).output;
    await until(
      'both ends of the circuit',
      circuits,
      (text) => /originator: Initiator/.test(text) && /originator: Terminator/.test(text),
    );
    await validates(folder);
    held.destroy();

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
  'ziti edge makes, changes and deletes a terminator, which our router dials for ziti tunnel',
  { skip },
  async () => {
    const { folder, service } = world;
    const address = `tcp:127.0.0.1:${service.port}`;
    const routers = JSON.parse(await edge('list', 'edge-routers', '-j')) as { data: { name: string }[] };
    const [router] = routers.data;
    await edge('create', 'service', 'direct', '--encryption', 'OFF');
    await edge('create', 'service', 'sealed');
    const roles = [
      '--semantic',
      'AnyOf',
      '--service-roles',
      '@direct,@sealed',
      '--identity-roles',
      '@dialer',
    ];
    await edge('create', 'service-policy', 'direct', 'Dial', ...roles);
    const make = ['create', 'terminator', 'direct', router!.name];
    for (const [place, more] of [
      [address, ['--binding', 'edge']],
      ['127.0.0.1', ['--binding', 'transport']],
    ] as const) {
      const { status } = await runZiti(BINARY, folder, ['edge', ...make, place, ...more]);
      assert.notEqual(status, 0, more.join(' '));
    }
    const unused = await edge(...make, 'tcp:127.0.0.1:1', '--binding', 'transport');
    await edge(...make, address, '--binding', 'transport', '--cost', '7');
    const [, id = ''] = /id: (\S+)/.exec(unused) ?? [];
    await edge('update', 'terminator', id, '--cost', '9', '--precedence', 'failed');
    const list = await edge('list', 'service', 'terminators', 'direct');
    assert.match(list, /transport.*tcp:127\.0\.0\.1:1 .*9 .*failed/);
    // By default the binding is edge_transport, with end-to-end encryption.
    await edge('create', 'terminator', 'sealed', router!.name, address);
    for (const name of ['direct', 'sealed']) {
      const port = await world.proxy(join(folder, 'dialer.json'), name);
      const { body } = await httpGet(port, name, `/bytes/${BODY_BYTES}`);
      assert.equal(digestOf([body]), digestOf(service.bytes(BODY_BYTES)), name);
    }
    await edge('delete', 'terminator', id);
    assert.doesNotMatch(await edge('list', 'terminators'), /127\.0\.0\.1:1 /);
    for (const name of ['direct', 'sealed']) await edge('delete', 'service', name);
    assert.doesNotMatch(await edge('list', 'terminators'), /transport/);
    await edge('delete', 'service-policy', 'direct');
  },
);

test(
  'ziti edge enrolls a password, with which the identity logs in, and adds a signer of tokens',
  { skip },
  async () => {
    const { folder, up } = world;
    const { edgeApiUrl } = up.control;
    const jwt = join(folder, 'person.jwt');
    await edge('create', 'identity', 'person', '--updb', 'person', '--admin', '--jwt-output-file', jwt);
    await edge('enroll', '--jwt', jwt, '--username', 'person', '--password', 'of a person');
    await edge('login', edgeApiUrl, '-u', 'person', '-p', 'of a person', '-y');
    await edge('login', edgeApiUrl, '-u', username, '-p', password, '-y');
    await edge('create', 'auth-policy', 'machines', '--primary-cert-allowed');
    await edge('update', 'identity', 'person', '--auth-policy', 'machines');
    const logIn = ['edge', 'login', edgeApiUrl, '-u', 'person', '-p', 'of a person', '-y'];
    assert.notEqual((await runZiti(BINARY, folder, logIn)).status, 0, 'a policy of certificates alone');
    await edge('login', edgeApiUrl, '-u', username, '-p', password, '-y');
    await edge('update', 'auth-policy', 'machines', '--primary-updb-allowed');
    await edge('update', 'identity', 'person', '--auth-policy', 'default');
    await edge('delete', 'auth-policy', 'machines');
    await edge('update', 'auth-policy', 'default', '--primary-updb-min-length', '6');
    assert.match(await edge('list', 'auth-policies', '-j'), /"minPasswordLength":\s*6/);
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
    const { data: signers } = JSON.parse(await edge('list', 'ext-jwt-signers', '-j')) as {
      data: readonly { id: string }[];
    };
    const second = ['--secondary-req-ext-jwt-signer', signers[0]!.id];
    await edge('create', 'auth-policy', 'both', '--primary-updb-allowed', ...second);
    await edge('update', 'identity', 'person', '--auth-policy', 'both');
    assert.notEqual((await runZiti(BINARY, folder, logIn)).status, 0, 'the token of the signer is missing');
    await edge('update', 'auth-policy', 'both', '--secondary-req-ext-jwt-signer', '');
    await edge('update', 'auth-policy', 'both', '--primary-cert-expired-allowed');
    await edge(...logIn.slice(1));
    await edge('login', edgeApiUrl, '-u', username, '-p', password, '-y');
    await edge('update', 'identity', 'person', '--auth-policy', 'default');
    await edge('delete', 'auth-policy', 'both');
    await edge('delete', 'ext-jwt-signer', 'idp');
    await edge('delete', 'identity', 'person');
  },
);

test(
  'ziti edge sets cost, traversal and use of routers; ours is cut off while it is disabled',
  { skip },
  async () => {
    interface ListedRouter {
      readonly name: string;
      readonly cost: number;
      readonly noTraversal: boolean;
      readonly disabled: boolean;
      readonly isOnline: boolean;
    }
    const listed = async (name?: string): Promise<ListedRouter> => {
      const { data } = JSON.parse(await edge('list', 'edge-routers', '-j')) as { data: ListedRouter[] };
      return data.find((one) => name === undefined || one.name === name)!;
    };
    const own = await listed();
    assert.equal(own.isOnline, true);
    const update = (...args: string[]): Promise<string> => edge('update', 'edge-router', own.name, ...args);
    await edge('create', 'edge-router', 'west', '--cost', '7', '--no-traversal');
    const { cost, noTraversal, disabled } = await listed('west');
    assert.deepEqual([cost, noTraversal, disabled], [7, true, false]);
    await update('--cost', '9', '--disabled');
    const router = () => listed(own.name);
    await until('the end of its channel', router, ({ isOnline }) => !isOnline, CUT_MS);
    assert.deepEqual([(await router()).cost, (await router()).disabled], [9, true]);
    await update('--cost', '0', '--disabled=false');
    await until('the router to come back', router, ({ isOnline }) => isOnline);
    await edge('delete', 'edge-router', 'west');
  },
);

test(
  'ziti edge makes, lists and deletes a transit router, which OpenZiti’s router enrolls as',
  { skip },
  async () => {
    const { folder } = world;
    const at = (ending: string): string => join(folder, `middle.${ending}`);
    const file = world.write(
      'middle.yml',
      `v: 3
identity: { cert: ${at('cert')}, server_cert: ${at('server.cert')}, key: ${at('key')}, ca: ${at('ca')} }
ctrl: { endpoint: "${world.up.control.ctrlAddress}" }
csr: { sans: { dns: [localhost], ip: ["127.0.0.1"] } }
`,
    );
    await edge('create', 'transit-router', 'middle', '--cost', '4', '--jwt-output-file', at('jwt'));
    const listed = async () => {
      const { data } = JSON.parse(await edge('list', 'transit-routers', '-j')) as {
        data: { name: string; isVerified: boolean; cost: number }[];
      };
      return data.find(({ name }) => name === 'middle');
    };
    assert.deepEqual([(await listed())?.isVerified, (await listed())?.cost], [false, 4]);
    const enrolled = await runZiti(BINARY, folder, ['router', 'enroll', file, '--jwt', at('jwt')]);
    assert.equal(enrolled.status, 0, enrolled.output);
    assert.equal((await listed())?.isVerified, true);
    assert.match(await edge('list', 'transit-routers', 'name = "middle"'), /middle/);
    await edge('delete', 'transit-router', 'middle');
    assert.equal(await listed(), undefined);
  },
);

test('ziti fabric streams all events', { skip }, async () => {
  const stream = startEventStream(BINARY, world.folder);
  const kinds = () => new Set(stream.all().map(({ namespace }) => namespace));
  await until('the subscription', kinds, (found) => found.has('entityCount'));
  await edge('create', 'identity', 'streamed');
  await edge('delete', 'identity', 'streamed');
  await until('the change', kinds, (found) => found.has('entityChange') && found.has('metrics'), METRICS_MS);
  assert.equal(stream.output(), '');
  await stream.stop();
});

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
  await edge('create', 'edge-router', 'east', '--jwt-output-file', join(world.folder, 'east.jwt'));
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
