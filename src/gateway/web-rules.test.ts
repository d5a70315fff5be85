// What a share's policy decides for browsers: the redirect to HTTPS, HSTS, and CORS.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { parseTrustedProxies } from '#domain/proxies';
import type { AccessRules } from '#domain/access';
import { systemTime } from './gateway-time.ts';
import { AccessWorld, providerOf, rulesOf, type ParsedAnswer } from './testing/access-world.ts';

const PAGE = 'https://www.example.com';
const CHALLENGE = `/.well-known/acme-challenge/${'t'.repeat(43)}`;
const CORS: NonNullable<AccessRules['cors']> = {
  origins: [PAGE],
  methods: ['GET', 'PUT'],
  headers: ['X-Token'],
  exposedHeaders: ['X-Total'],
  credentials: true,
  maxAgeS: 600,
};
const HSTS = { maxAgeS: 3_600, includeSubdomains: true, preload: false };

describe('the rules of a share about browsers', () => {
  let world: AccessWorld;
  let version = 1;
  const certified = new Set<string>();
  before(async () => {
    world = await AccessWorld.start(
      { publicHttpsPort: () => 8443, isCertified: (host) => certified.has(host) },
      {},
      systemTime,
      { proxies: parseTrustedProxies('127.0.0.1') },
    );
    world.setProviders(providerOf('idp'));
    await world.serve('app');
    await world.world.serve('own', (_request, response) => {
      response.setHeader('Strict-Transport-Security', 'max-age=1');
      response.setHeader('Access-Control-Allow-Origin', 'https://own.example');
      response.end('own');
    });
  });
  after(() => world.close());
  beforeEach(() => {
    certified.clear();
    set({});
  });

  function set(rules: Partial<AccessRules>, authProviderIds: readonly string[] = [], name = 'app'): void {
    version += 1;
    const isOpen = Object.keys(rules).length === 0;
    world.publish(name, { authProviderIds, rules: isOpen ? null : rulesOf(rules), updatedAtMs: version });
  }
  const plain = (path = '/', method = 'GET', ...lines: readonly string[]): Promise<ParsedAnswer> =>
    world.ask('app', { isPlain: true, path, method, lines: ['X-Forwarded-Proto: http', ...lines] });
  const ask = (method: string, ...lines: readonly string[]): Promise<ParsedAnswer> =>
    world.ask('app', { method, lines });
  const preflight = (origin: string): Promise<ParsedAnswer> =>
    ask(
      'OPTIONS',
      `Origin: ${origin}`,
      'Access-Control-Request-Method: PUT',
      'Access-Control-Request-Headers: x-token',
    );

  it('redirect to HTTPS where the name has a certificate, with method and query, and before anything is judged', async () => {
    assert.equal((await plain()).status, 200);
    certified.add('app.share.localhost');
    for (const authProviderIds of [[], ['idp']]) {
      set({}, authProviderIds);
      for (const method of ['GET', 'POST']) {
        const { status, headers } = await plain('/a?b=1', method);
        assert.deepEqual([status, headers.get('location')], [308, 'https://app.share.localhost:8443/a?b=1']);
      }
    }
    assert.equal((await ask('GET')).status, 401, 'over HTTPS');
  });

  it('redirect always or never, where the policy decides so', async () => {
    set({ httpsRedirect: 'always' });
    assert.equal((await plain()).status, 308);
    certified.add('app.share.localhost');
    set({ httpsRedirect: 'never' });
    assert.equal((await plain()).status, 200);
  });

  it('redirect no challenge of a certificate authority, and no client that a proxy hides', async () => {
    certified.add('app.share.localhost');
    assert.equal((await plain(CHALLENGE)).status, 200);
    assert.equal((await plain('*', 'OPTIONS')).status, 200);
    const silent = await world.ask('app', { isPlain: true });
    assert.equal(silent.status, 502);
    const secure = await world.ask('app', { isPlain: true, lines: ['X-Forwarded-Proto: https'] });
    assert.equal(secure.status, 200);
  });

  it('add HSTS over HTTPS to answers of the service and of the gateway, and never over HTTP', async () => {
    const line = 'max-age=3600; includeSubDomains';
    set({ hsts: HSTS });
    assert.equal((await ask('GET')).headers.get('strict-transport-security'), line);
    assert.equal((await plain()).headers.get('strict-transport-security'), undefined);
    set({ hsts: HSTS, ip: { allow: ['10.0.0.0/8'], deny: [] } });
    const refused = await ask('GET');
    assert.deepEqual([refused.status, refused.headers.get('strict-transport-security')], [403, line]);
    set({ hsts: HSTS }, ['idp']);
    assert.equal((await ask('GET')).headers.get('strict-transport-security'), line);
    set({ hsts: { maxAgeS: 0, includeSubdomains: false, preload: false } });
    assert.equal((await ask('GET')).headers.get('strict-transport-security'), 'max-age=0');
  });

  it('answer the preflight of a named origin without a credential, and refuse others', async () => {
    set({ cors: CORS }, ['idp']);
    const hits = world.hits('app');
    const { status, headers, body } = await preflight(PAGE);
    assert.deepEqual([status, body, headers.get('content-length')], [204, '', undefined]);
    for (const [name, value] of [
      ['access-control-allow-origin', PAGE],
      ['access-control-allow-methods', 'GET, PUT'],
      ['access-control-allow-headers', 'X-Token'],
      ['access-control-allow-credentials', 'true'],
      ['access-control-max-age', '600'],
    ] as const)
      assert.equal(headers.get(name), value, name);
    for (const origin of ['https://evil.example', 'null', 'http://www.example.com', `${PAGE}.evil.example`]) {
      const refused = await preflight(origin);
      assert.deepEqual(
        [refused.status, refused.headers.get('access-control-allow-origin')],
        [403, undefined],
        origin,
      );
    }
    assert.equal(world.hits('app'), hits);
    set({ cors: CORS, ip: { allow: ['10.0.0.0/8'], deny: [] } }, ['idp']);
    assert.equal((await preflight(PAGE)).status, 403, 'rules on addresses come first');
    set({ cors: CORS, allowPreflights: true }, ['idp']);
    assert.equal((await preflight('https://evil.example')).status, 200, 'the service answers other origins');
  });

  it('let pages of named origins read answers, also refusals of the gateway', async () => {
    set({ cors: CORS }, ['idp']);
    const refused = await ask('GET', `Origin: ${PAGE}`);
    assert.equal(refused.status, 401);
    assert.equal(refused.headers.get('access-control-allow-origin'), PAGE);
    assert.equal(refused.headers.get('access-control-expose-headers'), 'X-Total');
    assert.equal(refused.headers.get('vary'), 'Accept, X-Requested-With, Sec-Fetch-Dest, Origin');
    assert.equal(
      (await ask('GET', 'Origin: https://evil.example')).headers.get('access-control-allow-origin'),
      undefined,
    );
    set({ cors: { ...CORS, origins: ['*'], credentials: false } });
    const open = await ask('GET', `Origin: ${PAGE}`);
    assert.deepEqual([open.status, open.headers.get('access-control-allow-origin')], [200, '*']);
    assert.equal(open.headers.get('access-control-allow-credentials'), undefined);
    assert.equal((await ask('GET')).headers.get('access-control-allow-origin'), undefined);
  });

  it('let these pages act for a person only if credentials are allowed', async () => {
    const session = world.sessionLine('app', 'idp');
    for (const [credentials, status] of [
      [true, 200],
      [false, 403],
    ] as const) {
      set({ cors: { ...CORS, credentials } }, ['idp']);
      assert.equal(
        (await ask('POST', session, `Origin: ${PAGE}`, 'Sec-Fetch-Site: cross-site')).status,
        status,
      );
    }
  });

  it('leave headers as they are that the service sets itself', async () => {
    set({ cors: CORS, hsts: HSTS }, [], 'own');
    const { headers } = await world.ask('own', { lines: [`Origin: ${PAGE}`] });
    assert.equal(headers.get('strict-transport-security'), 'max-age=1');
    assert.equal(headers.get('access-control-allow-origin'), 'https://own.example');
  });
});
