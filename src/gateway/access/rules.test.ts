import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createRemoteJWKSet, customFetch, jwtVerify } from 'jose';
import type { AccessRules } from '#domain/access';
import type { GatewayShare } from '#domain/gateway-shapes';
import { makeTestAuthority } from '../../../test/support/certificates.ts';
import {
  AccessWorld,
  BROWSER_LINE,
  deltaOf,
  keyProviderOf,
  keyRecord,
  KEYS,
  providerOf,
  rulesOf,
} from '../testing/access-world.ts';
import { basicLine, cheapHashOf } from '../testing/basic-credentials.ts';
import { callerAddress, RateLimits } from './rate-limits.ts';

const KEY = 'X-Api-Key: a-key';

describe('the rules of a share', () => {
  let world: AccessWorld;
  let version = 1;
  before(async () => {
    world = await AccessWorld.start({ limits: { wrongRate: { requests: 100_000, perMs: 1_000 } } });
    world.setProviders(
      keyProviderOf('keys', { keys: [keyRecord('k', 'a-key'), keyRecord('l', 'b-key')] }),
      providerOf('idp'),
    );
    await world.serve('app');
  });
  after(() => world.close());

  function publish(rules: Partial<AccessRules>, more: Partial<GatewayShare> = {}): void {
    version += 1;
    world.publish('app', { rules: rulesOf(rules), updatedAtMs: version, ...more });
  }
  const keyed = { authProviderIds: ['keys'] };
  const status = async (path = '/', lines: readonly string[] = []): Promise<number> =>
    (await world.ask('app', { path, lines })).status;

  it('on time and network hold for everyone, also on public paths and with the right credential', async () => {
    const cases: readonly (readonly [Partial<AccessRules>, number])[] = [
      [{}, 200],
      [{ expiresAtMs: world.clock.nowMs() + 1_000 }, 200],
      [{ expiresAtMs: world.clock.nowMs() }, 403],
      [{ ip: { allow: ['127.0.0.0/8'], deny: [] } }, 200],
      [{ ip: { allow: ['10.0.0.0/8', '::1'], deny: [] } }, 403],
      [{ ip: { allow: ['127.0.0.1'], deny: ['127.0.0.0/8'] } }, 403],
      [{ ip: { allow: [], deny: ['what is this'] } }, 403],
    ];
    for (const [rules, wanted] of cases) {
      publish(rules);
      assert.equal(await status(), wanted, JSON.stringify(rules));
      publish({ ...rules, publicPaths: ['/'] }, keyed);
      assert.equal(await status('/'), wanted, JSON.stringify(rules));
      assert.equal(await status('/x', [KEY]), wanted, JSON.stringify(rules));
    }
    publish({ ip: { allow: ['127.0.0.1'], deny: [] } });
    for (const name of ['X-Forwarded-For', 'X-Real-IP', 'Forwarded', 'CF-Connecting-IP'])
      assert.equal(await status('/', [`${name}: 8.8.8.8`]), 200, name);
  });

  it('open exactly their public paths, by the path alone', async () => {
    publish({ publicPaths: ['/public/*', '/health'] }, keyed);
    for (const path of ['/public/', '/public/a/b?x=/../', '/health', '/health?x=1', '/p%75blic/a'])
      assert.equal(await status(path), 200, path);
    const hits = world.hits('app');
    const guarded = [
      '/',
      '/admin?x=/public/',
      '/admin?/public/',
      '/healthy',
      '/health/',
      '/PUBLIC/a',
      '/publicx',
      '/.well-known/acme-challenge/x',
      '/a/public/',
    ];
    for (const path of guarded) assert.equal(await status(path), 401, path);
    const ambiguous = [
      '/public/../admin',
      '/public/%2e%2e/admin',
      '/public/..%2fadmin',
      '/public/%2e%2E%5cadmin',
      '/public%2f..%2fadmin',
      '/public/a;b',
      '/public/./a',
      '/public//a',
      '/public/%00',
      '/public/%',
      '/public/%zz',
    ];
    for (const path of ambiguous) assert.equal(await status(path), 400, path);
    assert.equal(world.hits('app'), hits);
    const headers = [
      'X-Forwarded-Uri: /public/',
      'X-Original-URL: /public/',
      'X-Rewrite-URL: /public/',
      'X-Original-URI: /public/',
      'X-Middleware-Subrequest: middleware',
      'Frontdoor-Decision: public-path',
    ];
    for (const line of headers) assert.equal(await status('/admin', [line]), 401, line);
    assert.equal(world.hits('app'), hits);
  });

  it('leave /.frontdoor/ to the gateway where browsers log in, for any public paths', async () => {
    publish({ publicPaths: ['/*'] }, { authProviderIds: ['idp'] });
    assert.equal(await status('/anything'), 200);
    const hits = world.hits('app');
    assert.equal(await status('/.frontdoor/logout', ['Sec-Fetch-Site: cross-site']), 403);
    assert.equal(await status('/.frontdoor/other'), 404);
    assert.equal(world.hits('app'), hits);
  });

  it('forward credentials for the service itself at a share without providers', async () => {
    publish({ ip: { allow: ['127.0.0.1'], deny: [] } });
    assert.equal(await status('/', ['Authorization: Basic eDp5', 'Cookie: a=b', KEY]), 200);
    const { headers } = world.last('app');
    assert.deepEqual(
      [headers.authorization, headers.cookie, headers['x-api-key']],
      ['Basic eDp5', 'a=b', 'a-key'],
    );
    assert.equal(headers['frontdoor-identity'], undefined);
  });

  it('on people admit nobody where no provider proves who a person is, also when the provider is taken away', async () => {
    const basicAuth = [{ name: 'basil', passwordHash: cheapHashOf('a password') }];
    const cases: readonly (readonly [ids: readonly string[], lines: readonly string[], status: number])[] = [
      [[], [], 403],
      [[], [basicLine('basil', 'a password')], 403],
      [['keys'], [KEY], 403],
      [['idp'], [], 401],
      [['idp', 'keys'], [KEY], 200],
      [['idp'], [basicLine('basil', 'a password')], 200],
    ];
    const claims = [{ claim: 'groups', anyOf: ['ops'] }];
    for (const rules of [{ emails: ['ann@example.com'] }, { claims }])
      for (const [authProviderIds, lines, wanted] of cases) {
        publish({ ...rules, basicAuth, publicPaths: ['/health'] }, { authProviderIds });
        const said = JSON.stringify([rules, authProviderIds, lines]);
        const hits = world.hits('app');
        assert.equal(await status('/', lines), wanted, said);
        assert.equal(world.hits('app') - hits, wanted === 200 ? 1 : 0, said);
        assert.equal(await status('/health'), 200, said);
      }
    publish({ emails: ['ann@example.com'] });
    const page = await world.ask('app', { lines: [BROWSER_LINE] });
    assert.deepEqual([page.status, page.body.includes('nobody can sign in here')], [403, true]);
  });

  it('on rates count each caller separately, and give a Retry-After', async () => {
    publish({ rateLimit: { requests: 3, perMs: 3_000 } }, keyed);
    const ask = (key: string) => world.ask('app', { lines: [`X-Api-Key: ${key}`] });
    for (let i = 0; i < 3; i += 1) assert.equal((await ask('a-key')).status, 200);
    const refused = await ask('a-key');
    assert.equal(refused.status, 429);
    assert.equal(refused.headers.get('retry-after'), '1');
    assert.equal((await ask('b-key')).status, 200);
    world.advance(1_000);
    assert.deepEqual([(await ask('a-key')).status, (await ask('a-key')).status], [200, 429]);
    world.advance(60_000);
    for (const wanted of [200, 200, 200, 429]) assert.equal((await ask('a-key')).status, wanted);
    publish({ rateLimit: { requests: 2, perMs: 1_000 } });
    const anonymous: number[] = [];
    for (let i = 0; i < 3; i += 1) anonymous.push(await status('/', [`X-Forwarded-For: 10.0.0.${i}`]));
    assert.deepEqual(anonymous, [200, 200, 429]);
  });

  it('send browsers Strict-Transport-Security, but not for names of this machine', async () => {
    await world.serve('named', {
      hosts: ['named.apps.example', 'named.share.localhost'],
      authProviderIds: ['keys'],
    });
    const named = await world.ask('', { host: 'named.apps.example' });
    assert.match(named.headers.get('strict-transport-security') ?? '', /^max-age=\d+$/);
    assert.equal((await world.ask('named')).headers.get('strict-transport-security'), undefined);
    const plain = await world.ask('', { host: 'named.apps.example', isPlain: true });
    assert.equal(plain.headers.get('strict-transport-security'), undefined);
  });
});

describe('the identity headers for an origin', () => {
  let world: AccessWorld;
  before(async () => {
    world = await AccessWorld.start();
    world.setProviders(
      providerOf('idp', { name: 'Größe 社' }),
      keyProviderOf('keys', { keys: [keyRecord('reports', 'a-key')] }),
    );
    await world.serve('app', { authProviderIds: ['idp', 'keys'] });
    await world.serve('open');
  });
  after(() => world.close());

  const FORGED = [
    'zrok-auth-email: evil@example.com',
    'ZROK-AUTH-PROVIDER: evil.example',
    'zrok_auth_email: evil@example.com',
    'Zrok-Auth_Expires: 2099-01-01T00:00:00Z',
    'zrok-auth-anything: evil.example',
    'Frontdoor-Identity: evil.example',
    'frontdoor_identity: evil.example',
    'FRONTDOOR-anything: evil.example',
    'X_Forwarded_User: evil.example',
    'X-Forwarded-Email: evil.example',
  ];

  it('is ours alone: what clients send under these names never arrives, in any spelling', async () => {
    const connection = ['Connection: close, zrok-auth-email, Frontdoor-Identity, ZROK-AUTH-EXPIRES'];
    const session = world.sessionLine('app', 'idp');
    for (const http10 of [false, true]) {
      for (const more of [[], connection]) {
        assert.equal((await world.ask('app', { lines: [...FORGED, session, ...more], http10 })).status, 200);
        const { rawHeaders } = world.last('app');
        // Four letters alone may stand in any signature.
        assert.doesNotMatch(rawHeaders.join('\n'), /evil[.@]example|2099-01-01/);
        for (const name of [
          'zrok-auth-email',
          'zrok-auth-provider',
          'zrok-auth-expires',
          'frontdoor-identity',
        ]) {
          const count = rawHeaders.filter(
            (each, i) => i % 2 === 0 && each.toLowerCase().replaceAll('_', '-') === name,
          ).length;
          assert.equal(count, 1, name);
        }
      }
    }
    assert.equal((await world.ask('open', { lines: FORGED })).status, 200);
    assert.doesNotMatch(world.last('open').rawHeaders.join('\n'), /evil|zrok|identity/i);
  });

  it('contain provider, e-mail and end of a log-in', async () => {
    await world.ask('app', { lines: [world.sessionLine('app', 'idp')] });
    const { headers } = world.last('app');
    assert.equal(Buffer.from(headers['zrok-auth-provider'] as string, 'latin1').toString(), 'Größe 社');
    assert.equal(headers['zrok-auth-email'], 'ann@example.com');
    const end = new Date(world.clock.nowMs() + 7 * 86_400_000).toISOString().slice(0, 19);
    assert.equal(headers['zrok-auth-expires'], `${end}Z`);
  });

  it('is a token that verifies with the published keys, for this address and five minutes only', async () => {
    const url = new URL('https://oauth.share.localhost/.well-known/jwks.json');
    const keys = createRemoteJWKSet(url, {
      [customFetch]: async () => {
        const answer = await world.ask('', { host: url.host, path: url.pathname });
        assert.equal(answer.headers.get('content-type'), 'application/json');
        return new Response(answer.body, { status: answer.status });
      },
    });
    const verify = async () => {
      const text = world.last('app').headers['frontdoor-identity'] as string;
      const issuer = 'https://oauth.share.localhost';
      const audience = 'https://app.share.localhost';
      const options = {
        issuer,
        audience,
        algorithms: ['ES256'],
        typ: 'JWT',
        currentDate: new Date(world.clock.nowMs()),
      };
      return { text, ...(await jwtVerify(text, keys, options)) };
    };
    const lines = [world.sessionLine('app', 'idp')];
    await world.ask('app', { lines });
    const { text, payload, protectedHeader } = await verify();
    const { iat = 0, exp = 0, ...rest } = payload;
    assert.deepEqual(
      {
        sub: rest.sub,
        email: rest['email'],
        name: rest['name'],
        groups: rest['groups'],
        provider: rest['provider'],
        kind: rest['kind'],
        kid: protectedHeader.kid,
      },
      {
        sub: 'ann',
        email: 'ann@example.com',
        name: 'Ann',
        groups: ['staff'],
        provider: 'Größe 社',
        kind: 'session',
        kid: 'identity-1',
      },
    );
    assert.equal(exp - iat, 300);
    assert.doesNotMatch(JSON.stringify(world.access.kept()), /PRIVATE|privateKey/);
    world.advance(149_000);
    await world.ask('app', { lines });
    assert.equal((await verify()).text, text, 'the same for half of its life');
    world.advance(1_000);
    await world.ask('app', { lines });
    assert.notEqual((await verify()).text, text);
    await world.ask('app', { lines: ['X-Api-Key: a-key'] });
    const machine = (await verify()).payload;
    assert.deepEqual([machine.sub, machine['kind'], machine['email']], ['reports', 'api-key', undefined]);
  });

  it('is signed by the newest key, and the ones before stay published', async () => {
    const [old] = KEYS.identityKeys;
    const again = await AccessWorld.start();
    try {
      again.access.change(
        deltaOf({ keys: { ...KEYS, identityKeys: [{ ...old!, kid: 'identity-2' }, old!] } }),
      );
      const answer = await again.ask('', { host: 'oauth.share.localhost', path: '/.well-known/jwks.json' });
      const { keys } = JSON.parse(answer.body) as { keys: { kid: string; d?: string }[] };
      assert.deepEqual(
        keys.map(({ kid, d }) => [kid, d]),
        [
          ['identity-2', undefined],
          ['identity-1', undefined],
        ],
      );
      again.setProviders(keyProviderOf('keys', { keys: [keyRecord('reports', 'a-key')] }));
      await again.serve('app', { authProviderIds: ['keys'] });
      await again.ask('app', { lines: ['X-Api-Key: a-key'] });
      const [header = ''] = (again.last('app').headers['frontdoor-identity'] as string).split('.');
      assert.equal(
        (JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid: string }).kid,
        'identity-2',
      );
    } finally {
      await again.close();
    }
  });

  it('stays in a head of usual size, however many groups a person is in', async () => {
    const groups = Array.from({ length: 500 }, (_, i) => `group-${i}`);
    const { identity } = world.control.sessions.get(world.sessionLine('app', 'idp').split('=')[1]!)!;
    await world.ask('app', {
      lines: [world.sessionLine('app', 'idp', { identity: { ...identity, groups } })],
    });
    const text = world.last('app').headers['frontdoor-identity'] as string;
    assert.ok(text.length < 4_096, `${text.length} bytes`);
    const claims = JSON.parse(Buffer.from(text.split('.')[1]!, 'base64url').toString()) as Record<
      string,
      unknown
    >;
    assert.deepEqual([claims['groups'], claims['groups_omitted']], [undefined, true]);
  });

  it('cannot be met by an answer: cookies of Frontdoor that an origin sets do not arrive', async () => {
    await world.world.serveRaw('setter', (socket) => {
      const lines = [
        'Set-Cookie: a=b',
        'set-cookie: __Host-frontdoor-session=x; Path=/; Secure',
        'Set-Cookie:  __HOST-frontdoor-login=y',
        'Set-Cookie: =__Host-frontdoor-session=x; Path=/; Secure',
        'Set-Cookie: __Host-own=z',
      ];
      socket.once('data', () =>
        socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 0\r\n${lines.join('\r\n')}\r\n\r\n`),
      );
    });
    assert.deepEqual((await world.ask('setter')).setCookies, ['a=b', '__Host-own=z']);
  });
});

describe('a share that asks for client certificates', () => {
  it('needs one of the right authority and name, also with the right key, and never on the plain port', async () => {
    const [right, wrong] = [await makeTestAuthority('right'), await makeTestAuthority('wrong')];
    const authorities = [right.ca];
    const world = await AccessWorld.start(
      {},
      {
        clientAuthorities: (name) => (name.startsWith('late') ? undefined : authorities),
      },
    );
    try {
      world.setProviders(keyProviderOf('keys', { keys: [keyRecord('k', 'a-key')] }));
      const rules = rulesOf({ clientCertificate: { authorities, names: ['ann', '*@example.com'] } });
      await world.serve('app', { rules });
      await world.serve('keyed', { rules, authProviderIds: ['keys'] });
      const ann = await right.issue('ann', { emails: ['ann@example.org'] });
      const mail = await right.issue('someone', { emails: ['bob@example.com'] });
      const carl = await right.issue('carl');
      const fake = await wrong.issue('ann');
      assert.equal((await world.ask('app', { identity: ann })).status, 200);
      assert.ok(world.last('app').headers['frontdoor-identity']);
      assert.equal((await world.ask('app', { identity: mail })).status, 200);
      for (const identity of [undefined, carl, fake])
        assert.equal((await world.ask('app', identity === undefined ? {} : { identity })).status, 403);
      assert.equal((await world.ask('app', { isPlain: true })).status, 403);
      assert.equal((await world.ask('keyed', { identity: ann })).status, 401);
      assert.equal((await world.ask('keyed', { lines: [KEY] })).status, 403);
      assert.equal((await world.ask('keyed', { identity: ann, lines: [KEY] })).status, 200);
      const other = rulesOf({ clientCertificate: { authorities: [wrong.ca], names: [] } });
      world.publish('app', { rules: other, updatedAtMs: 2 });
      assert.equal((await world.ask('app', { identity: ann })).status, 421, 'judged by another list');
      await world.serve('late', { rules });
      assert.equal((await world.ask('late', { identity: ann })).status, 421, 'not asked for one');
      assert.equal(world.hits('app') + world.hits('late'), 2);
    } finally {
      await world.close();
    }
  });
});

describe('rates', () => {
  it('are kept for a bounded number of callers, and addresses of one IPv6 site are one caller', () => {
    const rates = new RateLimits(10);
    const rate = { requests: 1, perMs: 1_000 };
    assert.equal(rates.take('a', rate, 0), 0);
    assert.equal(rates.take('a', rate, 0), 1_000);
    assert.equal(rates.take('a', rate, 400), 600);
    for (let i = 0; i < 100; i += 1) rates.take(`other-${i}`, rate, 0);
    assert.equal(rates.take('a', rate, 0), 0, 'forgotten');
    assert.equal(callerAddress('10.0.0.1'), '10.0.0.1');
    for (const address of ['2001:db8:0:1::1', '2001:db8:0:1:2:3:4:5', '2001:db8::1:0:0:0:9'])
      assert.equal(callerAddress(address), '2001:db8:0:1::/64', address);
    assert.equal(callerAddress('::1'), '0:0:0:0::/64');
    assert.equal(callerAddress('fe80::1%eth0'), 'fe80:0:0:0::/64');
  });

  it('begin where the log-in does not: a browser without one is not counted', async () => {
    const world = await AccessWorld.start();
    try {
      world.setProviders(providerOf('idp'));
      const rules = rulesOf({ rateLimit: { requests: 1, perMs: 60_000 } });
      await world.serve('app', { authProviderIds: ['idp'], rules });
      for (let i = 0; i < 3; i += 1)
        assert.equal((await world.ask('app', { lines: [BROWSER_LINE] })).status, 302);
      const [one, two] = [world.sessionLine('app', 'idp'), world.sessionLine('app', 'idp')];
      assert.equal((await world.ask('app', { lines: [one] })).status, 200);
      assert.equal((await world.ask('app', { lines: [two] })).status, 429, 'two sessions of one person');
    } finally {
      await world.close();
    }
  });
});
