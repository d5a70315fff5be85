import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { definedFields } from '#base';
import { targetForms } from '#domain';
import { ERROR_PAGE_RULE, TLS_CA_RULE, TLS_PIN_RULE, TLS_SERVER_NAME_RULE } from '#domain/upstream';
import { makeTestAuthority } from '../../../../test/support/certificates.ts';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { openApiWorld, type ApiWorld } from './api-fixture.ts';

const DEFAULTS = {
  hostHeader: 'preserve',
  lenient: false,
  requestHeaders: [],
  responseHeaders: [],
  compression: [],
  connectTimeoutSeconds: 5,
  idleTimeoutSeconds: 3_600,
  proxyProtocol: 'off',
  routes: [],
  answers: [],
  maintenance: false,
  maintenanceText: '',
  maintenanceRetrySeconds: 300,
  errorPage: null,
  tlsPin: null,
  tlsCa: null,
  tlsServerName: null,
  tlsClient: null,
  tlsInsecure: false,
};

/** The form of a certificate, around something else. */
const NO_CERTIFICATE = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';

describeEachStore('upstream settings of shares', (open) => {
  let world: ApiWorld;
  let path: string;
  let shareId: string;
  before(async () => {
    world = await openApiWorld({ open });
    const root = `/frontdoor/${world.first.frontdoorId}`;
    const environmentId = await world.addEnvironment('host');
    const body = {
      name: 'app',
      environmentId,
      shareMode: 'public',
      backendMode: 'proxy',
      target: 'http://127.0.0.1:5173',
    };
    assert.equal((await world.call('POST', `${root}/shares`, { body })).status, 201);
    path = `${root}/shares/app/upstream`;
    shareId = [...world.catalog.all()].find(({ token }) => token === 'app')!.id;
  });
  after(() => world.close());

  const call = async (method: string, body?: object, headers?: Record<string, string>) =>
    world.call(method, path, definedFields({ body, headers }));
  const inEffect = () => world.catalog.get(shareId)!.upstream;

  it('are the defaults until they are set, and after they are reset', async () => {
    assert.deepEqual((await call('GET')).body, DEFAULTS);
    assert.deepEqual((await call('PUT', { hostHeader: 'target' })).body, {
      ...DEFAULTS,
      hostHeader: 'target',
    });
    assert.deepEqual((await call('GET')).body, { ...DEFAULTS, hostHeader: 'target' });
    assert.equal((await call('DELETE')).status, 204);
    assert.deepEqual((await call('GET')).body, DEFAULTS);
  });

  it('are in effect when they are acknowledged, in one form', async () => {
    assert.deepEqual((await call('PATCH', { hostHeader: 'LocalHost:3000' })).body, {
      ...DEFAULTS,
      hostHeader: 'localhost:3000',
    });
    assert.deepEqual(inEffect(), { ...DEFAULTS, hostHeader: 'localhost:3000' });
    assert.deepEqual((await call('PATCH', { lenient: true })).body, {
      ...DEFAULTS,
      hostHeader: 'localhost:3000',
      lenient: true,
    });
    const times = { compression: ['zstd', 'gzip'], connectTimeoutSeconds: 1, idleTimeoutSeconds: 600 };
    assert.deepEqual((await call('PUT', times)).body, { ...DEFAULTS, ...times });
    assert.deepEqual((await call('PUT', {})).body, DEFAULTS);
    assert.deepEqual(inEffect(), DEFAULTS);
  });

  it('have the certificate of the target in one form, and null removes it', async () => {
    const { ca } = await makeTestAuthority();
    const pin = Array<string>(32).fill('C3').join(':');
    const set = await call('PATCH', { tlsPin: pin, tlsCa: `\r\n${ca}`, tlsServerName: 'Pve.Test' });
    const stored = { tlsPin: 'c3'.repeat(32), tlsCa: `${ca.trim()}\n`, tlsServerName: 'pve.test' };
    assert.deepEqual(set.body, { ...DEFAULTS, ...stored });
    assert.deepEqual(inEffect(), { ...DEFAULTS, ...stored });
    const none = { tlsPin: null, tlsCa: null, tlsServerName: null };
    assert.deepEqual((await call('PATCH', none)).body, DEFAULTS);
  });

  it('that only a gateway applies are refused for a private share', async () => {
    const body = { shareMode: 'private', grants: [] };
    assert.equal((await world.call('PATCH', path.replace('/upstream', ''), { body })).status, 200);
    for (const settings of [
      { answers: [{ path: '/a', text: 'b' }] },
      { maintenance: true },
      { errorPage: '<p>' },
    ])
      assert.match(
        ((await call('PATCH', settings)).body as { readonly message: string }).message,
        /^Value for (answers|maintenance|errorPage) must be of setting of a public share/,
      );
    const open = { shareMode: 'public' };
    assert.equal((await world.call('PATCH', path.replace('/upstream', ''), { body: open })).status, 200);
  });

  it('are refused by the field that is wrong', async () => {
    const wrong: readonly (readonly [object, string])[] = [
      [
        { hostHeader: 'http://localhost' },
        'Value for hostHeader must be of preserve, target or a host name such as localhost:3000',
      ],
      [{ hostHeader: 7 }, 'Value for hostHeader must be of string'],
      [
        { requestHeaders: [{ action: 'set', name: 'X-Forwarded-For', value: '192.0.2.1' }] },
        'Value for requestHeaders.0.name must be of name of another header (X-Forwarded-For: only gateways set it)',
      ],
      [
        { answers: [{ path: '/a/*/b', text: '' }] },
        'Value for answers.0.path must be of path such as /robots.txt or /old/*',
      ],
      [
        { maintenanceText: 'a\u001b[2J' },
        'Value for maintenanceText must be of text without control characters',
      ],
      [{ errorPage: 'down' }, `Value for errorPage must be of ${ERROR_PAGE_RULE}`],
      [
        { routes: [{ path: '/api', target: 'tcp://127.0.0.1:1' }] },
        `Value for routes.0.target must be of ${targetForms(['proxy', 'web'])}`,
      ],
      [{ tlsPin: 'c3' }, `Value for tlsPin must be of ${TLS_PIN_RULE}`],
      [{ tlsServerName: '10.0.0.1' }, `Value for tlsServerName must be of ${TLS_SERVER_NAME_RULE}`],
      [{ tlsCa: 'no certificate' }, `Value for tlsCa must be of ${TLS_CA_RULE}`],
      [{ tlsCa: NO_CERTIFICATE }, `Value for tlsCa must be of ${TLS_CA_RULE}`],
    ];
    for (const [body, message] of wrong) {
      const answer = await call('PUT', body);
      assert.deepEqual(answer.body, { error: 'invalid_request', message });
      assert.equal(answer.status, 400);
    }
    assert.equal((await call('PATCH', { host: 'localhost' })).status, 400);
    const twice = await call('PATCH', { compression: ['gzip', 'gzip'] });
    assert.match(JSON.stringify(twice.body), /Value for compression must be .*without repeated codings/);
    assert.equal((await call('PATCH', { compression: ['deflate'] })).status, 400);
    for (const body of [
      { connectTimeoutSeconds: 6 },
      { idleTimeoutSeconds: 0 },
      { idleTimeoutSeconds: 86_401 },
    ])
      assert.equal((await call('PATCH', body)).status, 400);
  });

  it('change only for a caller that knows them, when it names their entity tag', async () => {
    const read = await call('GET');
    const match = { 'if-match': String(read.headers['etag']) };
    const set = await call('PATCH', { hostHeader: 'target' }, match);
    assert.equal(set.status, 200);
    assert.equal((await call('PATCH', { hostHeader: 'localhost' }, match)).status, 412);
    assert.equal((await call('DELETE', undefined, match)).status, 412);
    assert.equal((await call('DELETE', undefined, { 'if-match': String(set.headers['etag']) })).status, 204);
  });

  it('that cannot be read close their share, until they are set again', async () => {
    await call('PUT', { hostHeader: 'target' });
    await world.store.db.updateTable('share_upstream').set({ data: '{"hostHeader":' }).execute();
    await world.store.transaction(async (_trx, touch) => touch('share', shareId));
    assert.equal(world.catalog.get(shareId)!.rules?.expiresAtMs, 0);
    await call('PUT', {});
    assert.equal(world.catalog.get(shareId)!.rules, null);
  });

  it('of a share that does not exist are not found', async () => {
    const answer = await world.call('GET', path.replace('/app/', '/none/'));
    assert.equal(answer.status, 404);
  });
});
