import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { SeededRandom } from '../../../test/support/seeded-random.ts';
import { AccessWorld, BROWSER_LINE, keyProviderOf, keyRecord, rulesOf } from '../testing/access-world.ts';
import { TokenCheck } from './token-check.ts';
import {
  claimsOf,
  forgedTokens,
  hmacToken,
  issuerOf,
  jwkOf,
  KEYS,
  nowS,
  RSA_JWK,
  rsaOther,
  signed,
  token,
  validTokens,
} from './token-forgery-fixture.ts';
import { TEST_SEED } from '../../../test/support/test-seed.ts';

describe('bearer tokens', () => {
  const provider = issuerOf();
  const checkAll = async (tokens: Readonly<Record<string, string>>, of = provider): Promise<string[]> => {
    const check = new TokenCheck({
      refresh: () => Promise.resolve(),
      nowMs: () => nowS() * 1_000,
      monotonicMs: () => performance.now(),
      maxTokens: 100,
    });
    const accepted: string[] = [];
    for (const [name, text] of Object.entries(tokens))
      if ((await check.check(text, () => [of])) !== undefined) accepted.push(name);
    return accepted;
  };

  it('that are right are all accepted', async (context) => {
    const all = validTokens();
    assert.deepEqual(await checkAll(all), Object.keys(all));
    context.diagnostic(`${Object.keys(all).length} of ${Object.keys(all).length} accepted`);
  });

  it('that are forged, confused or out of time are all refused', async (context) => {
    const all = forgedTokens();
    assert.ok(Object.keys(all).length >= 150, `${Object.keys(all).length} attacks`);
    assert.deepEqual(await checkAll(all), []);
    context.diagnostic(`0 accepted of ${Object.keys(all).length}`);
  });

  it('with one bit or one character changed are refused', async (context) => {
    context.diagnostic(`FRONTDOOR_TEST_SEED=${TEST_SEED}`);
    const random = new SeededRandom(TEST_SEED);
    const right = Object.values(validTokens());
    const all: Record<string, string> = {};
    for (let i = 0; i < 400; i += 1) {
      const text = random.pick(right);
      const at = random.int(text.length);
      const letter = random.pick([...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.']);
      const kind = random.int(3);
      const changed =
        text.slice(0, at) + (kind === 0 ? letter : kind === 1 ? '' : letter + text[at]) + text.slice(at + 1);
      if (!right.includes(changed)) all[`${i}: ${changed}`] = changed;
    }
    assert.deepEqual(await checkAll(all), []);
    context.diagnostic(`0 accepted of ${Object.keys(all).length}`);
  });

  it('are judged by asymmetric public keys alone, whatever the issuer publishes', async () => {
    const secret = randomBytes(32);
    const oct = { kty: 'oct', k: secret.toString('base64url'), kid: 'rsa', alg: 'HS256' };
    const algorithms = ['HS256', 'none', 'RS256'];
    const withSecret = issuerOf({ algorithms, keys: [oct] });
    assert.deepEqual(await checkAll({ hs: hmacToken({ alg: 'HS256', kid: 'rsa' }, secret) }, withSecret), []);
    const twice = issuerOf({ keys: [RSA_JWK, { ...jwkOf(rsaOther.publicKey, {}), kid: 'rsa' }] });
    assert.deepEqual(await checkAll({ ambiguous: token() }, twice), []);
    for (const more of [{ use: 'enc' }, { key_ops: ['encrypt'] }, { alg: 'PS256' }, { d: 'AAAA' }])
      assert.deepEqual(await checkAll({ token: token() }, issuerOf({ keys: [{ ...RSA_JWK, ...more }] })), []);
    assert.deepEqual(await checkAll({ token: token() }, issuerOf({ algorithms: ['ES256'] })), []);
    assert.deepEqual(await checkAll({ token: token() }, issuerOf({ keys: [] })), []);
  });
});

describe('shares that take bearer tokens', () => {
  let world: AccessWorld;
  before(async () => {
    world = await AccessWorld.start({ limits: { wrongRate: { requests: 100_000, perMs: 1_000 } } });
    world.setProviders(
      issuerOf(),
      { ...issuerOf({ issuer: 'https://other.example' }), id: 'other' },
      keyProviderOf('keys', {
        placement: 'bearer',
        name: '',
        keys: [keyRecord('k', 'opaque'), keyRecord('j', 'eyJ.a.b')],
      }),
    );
    await world.serve('app', { authProviderIds: ['idp'] });
    await world.serve('other', { authProviderIds: ['other'] });
    await world.serve('both', { authProviderIds: ['idp', 'keys'] });
  });
  after(() => world.close());

  const ask = (name: string, text: string, more: readonly string[] = []) =>
    world.ask(name, { lines: [`Authorization: Bearer ${text}`, ...more] });

  it('admit their bearer, name it to the origin, and are not forwarded', async () => {
    const exp = nowS() + 600;
    const claims = claimsOf({ exp, email: 'Bot@Example.com', email_verified: true });
    for (let i = 0; i < 2; i += 1) assert.equal((await ask('app', token(claims))).status, 200);
    const { headers } = world.last('app');
    assert.equal(headers.authorization, undefined);
    assert.equal(headers['zrok-auth-email'], 'bot@example.com');
    assert.equal(headers['zrok-auth-provider'], 'Provider idp');
    assert.equal(headers['zrok-auth-expires'], new Date(exp * 1_000).toISOString().replace('.000', ''));
    assert.equal((await ask('app', token(claimsOf({ email: 'a@b.example' })))).status, 200);
    assert.equal(world.last('app').headers['zrok-auth-email'], undefined, 'not verified');
  });

  it('refuse a wrong one without sending a browser on, and that of another share', async () => {
    const hits = world.hits('app') + world.hits('other');
    for (const text of [
      token(claimsOf({ exp: 1 })),
      'a.b.c',
      token(claimsOf({ iss: 'https://other.example', aud: 'x' })),
    ]) {
      const answer = await ask('app', text, [BROWSER_LINE]);
      assert.equal(answer.status, 401);
      assert.match(answer.headers.get('www-authenticate') ?? '', /error="invalid_token"/);
    }
    assert.equal((await ask('other', token())).status, 401);
    assert.equal(world.hits('app') + world.hits('other'), hits);
  });

  it('take keys in the same place, also those that look like tokens', async () => {
    for (const text of ['opaque', 'eyJ.a.b', token()])
      assert.equal((await ask('both', text)).status, 200, text);
    for (const text of ['opaqu', 'eyJ.a.c', `${token()}x`])
      assert.equal((await ask('both', text)).status, 401, text);
    assert.equal((await ask('app', 'opaque')).status, 401);
  });

  it('believe one until it ends, and not a second longer than clocks may differ', async () => {
    const text = token(claimsOf({ exp: Math.floor(world.clock.nowMs() / 1_000) + 100 }));
    assert.equal((await ask('app', text)).status, 200);
    world.advance(159_000);
    assert.equal((await ask('app', text)).status, 200);
    world.advance(2_000);
    assert.equal((await ask('app', text)).status, 401);
  });

  it('drop what was signed by a key that is no longer published', async () => {
    const fresh = () =>
      token(
        claimsOf({ exp: Math.floor(world.clock.nowMs() / 1_000) + 600, jti: randomBytes(4).toString('hex') }),
      );
    const text = fresh();
    assert.equal((await ask('app', text)).status, 200);
    world.setProviders(issuerOf({ keys: KEYS.slice(1) }));
    assert.equal((await ask('app', text)).status, 401);
    assert.equal((await ask('app', fresh())).status, 401);
    world.setProviders(issuerOf());
    assert.equal((await ask('app', text)).status, 200);
  });

  it('fetch unknown keys, once in five seconds for any number of tokens', async () => {
    const { refreshed } = world.control;
    const fresh = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const made = (kid: string): string =>
      signed(
        { alg: 'RS256', kid },
        claimsOf({ exp: Math.floor(world.clock.nowMs() / 1_000) + 600 }),
        fresh.privateKey,
      );
    world.advance(5_000);
    const before = refreshed.length;
    world.control.onRefresh = () =>
      world.setProviders(issuerOf({ keys: [...KEYS, jwkOf(fresh.publicKey, { kid: 'new' })] }));
    assert.equal((await ask('app', made('new'))).status, 200, 'the key came with the feed');
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => ask('app', made(`unknown-${i}`))));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [401]);
    assert.equal(refreshed.length, before + 1);
    world.advance(5_000);
    assert.equal((await ask('app', made('unknown'))).status, 401);
    assert.equal(refreshed.length, before + 2);
    world.control.onRefresh = () => {};
  });

  it('judge no token while the keys of its issuer cannot be fetched: 503, and no key is refused for that', async () => {
    const text = token(claimsOf({ exp: Math.floor(world.clock.nowMs() / 1_000) + 600 }));
    const keys = keyProviderOf('keys', { placement: 'bearer', name: '', keys: [keyRecord('k', 'opaque')] });
    const hits = world.hits('app');
    world.setProviders({ ...issuerOf(), tokens: null }, keys);
    const answer = await ask('app', text, [BROWSER_LINE]);
    assert.equal(answer.status, 503);
    assert.equal((await ask('both', text)).status, 503);
    assert.equal((await ask('both', 'opaque')).status, 200);
    assert.equal((await ask('app', 'no token')).status, 401);
    assert.equal((await world.ask('app')).status, 401);
    assert.equal(world.hits('app'), hits);
    world.setProviders(issuerOf(), keys);
    assert.equal((await ask('app', text)).status, 200);
  });

  it('hold tokens to e-mail and claim rules', async () => {
    const rules = rulesOf({
      emails: ['*@example.com'],
      claims: [{ claim: 'realm.roles', anyOf: ['reader'] }],
    });
    await world.serve('ruled', { authProviderIds: ['idp'], rules });
    const exp = Math.floor(world.clock.nowMs() / 1_000) + 600;
    const person = { exp, email: 'a@example.com', email_verified: true };
    const cases: readonly (readonly [object, number])[] = [
      [{ ...person, realm: { roles: ['reader', 'x'] } }, 200],
      [{ ...person, realm: { roles: ['writer'] } }, 403],
      [person, 403],
      [{ ...person, email_verified: false, realm: { roles: ['reader'] } }, 403],
      [{ ...person, email_verified: 'true', realm: { roles: ['reader'] } }, 403],
      [{ exp, realm: { roles: ['reader'] } }, 403],
    ];
    for (const [more, status] of cases)
      assert.equal((await ask('ruled', token(claimsOf(more)))).status, status, JSON.stringify(more));
  });
});
