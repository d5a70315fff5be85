import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import {
  signedWithText,
  startHostileProvider,
  unsigned,
  type Attack,
  type HostileProvider,
} from '../../../../test/support/hostile-provider.ts';
import { goThroughProvider } from '../../../../test/support/login-browser.ts';
import { makeLoginState } from './login-state.ts';
import {
  browserOf,
  callbackOf,
  loginStart,
  logIn,
  openLoginFixture,
  type LoginFixture,
} from './login-fixture.ts';

const nowS = (): number => Math.floor(Date.now() / 1_000);
const without = (claims: Record<string, unknown>, name: string) =>
  Object.fromEntries(Object.entries(claims).filter(([each]) => each !== name));
const putClaims = (changes: Record<string, unknown>): Attack => ({
  claims: (claims) => ({ ...claims, ...changes }),
});
const dropClaim = (name: string): Attack => ({ claims: (claims) => without(claims, name) });

describe('log-ins with a hostile identity provider', () => {
  let hostile: HostileProvider;
  let world: LoginFixture;
  let other: JWK;
  let count = 0;
  before(async () => {
    hostile = await startHostileProvider();
    world = await openLoginFixture();
    other = { ...(await exportJWK((await generateKeyPair('RS256')).publicKey)), use: 'sig', alg: 'RS256' };
  });
  after(async () => {
    await world.close();
    await hostile.close();
  });

  /** A provider and a share of their own: nothing that was published before is remembered. */
  async function place(attack: Attack, data: Record<string, unknown> = {}) {
    hostile.attack = attack;
    const provider = await world.addProvider('OIDC', {
      issuer: hostile.issuer,
      client_id: 'frontdoor',
      client_secret: 'secret-of-the-client',
      ...data,
    });
    count += 1;
    const share = await world.addShare(`share-${count}`, [provider.id]);
    return { provider, share, start: loginStart(share, provider.id) };
  }
  async function outcome(attack: Attack): Promise<string> {
    const { start } = await place(attack);
    const result = await logIn(world.parts, start);
    return result.type === 'refused' ? result.reason : result.type;
  }
  const sessions = async (): Promise<number> =>
    (await world.store.db.selectFrom('login_session').select('id').execute()).length;

  const ATTACKS: readonly (readonly [string, () => Attack])[] = [
    ['invalid-iss', () => putClaims({ iss: 'https://elsewhere.example' })],
    ['iss with a slash more', () => ({ claims: (c) => ({ ...c, iss: `${String(c['iss'])}/` }) })],
    ['missing-iss', () => dropClaim('iss')],
    ['missing-sub', () => dropClaim('sub')],
    ['empty sub', () => putClaims({ sub: '' })],
    ['sub that is no text', () => putClaims({ sub: 5 })],
    ['invalid-aud', () => putClaims({ aud: 'another-client' })],
    ['missing-aud', () => dropClaim('aud')],
    ['several audiences without azp', () => putClaims({ aud: ['frontdoor', 'another'] })],
    ['azp of another', () => putClaims({ aud: ['frontdoor', 'another'], azp: 'another' })],
    ['missing-iat', () => dropClaim('iat')],
    ['iat that is no number', () => putClaims({ iat: 'now' })],
    ['expired', () => putClaims({ iat: nowS() - 600, exp: nowS() - 300 })],
    ['missing-exp', () => dropClaim('exp')],
    ['exp as text', () => putClaims({ exp: '9999999999' })],
    ['not yet valid', () => putClaims({ nbf: nowS() + 300 })],
    ['issued ten minutes ahead', () => putClaims({ iat: nowS() + 600 })],
    ['nonce-invalid', () => putClaims({ nonce: 'another' })],
    ['nonce-missing', () => dropClaim('nonce')],
    ['no ID token', () => ({ token: (body) => without(body, 'id_token') })],
    ['idtoken-sig-none', () => ({ idToken: (h, c) => unsigned(h, c) })],
    ['alg None', () => ({ idToken: (h, c) => unsigned(h, c, 'None') })],
    ['alg NONE', () => ({ idToken: (h, c) => unsigned(h, c, 'NONE') })],
    ['alg nOnE with a signature', () => ({ idToken: (h, c) => unsigned(h, c, 'nOnE', 'AAAA') })],
    ['RS256 without signature', () => ({ idToken: (h, c) => unsigned(h, c, 'RS256') })],
    ['HS256 with the public key', () => ({ idToken: (h, c) => signedWithText(h, c, hostile.publicKeyPem) })],
    [
      'HS256 with the public key, promised in the metadata',
      () => ({
        metadata: (m) => ({ ...m, id_token_signing_alg_values_supported: ['HS256', 'RS256'] }),
        idToken: (h, c) => signedWithText(h, c, hostile.publicKeyPem),
      }),
    ],
    [
      'HS256 with the client secret, promised in the metadata',
      () => ({
        metadata: (m) => ({ ...m, id_token_signing_alg_values_supported: ['HS256'] }),
        idToken: (h, c) => signedWithText(h, c, 'secret-of-the-client'),
      }),
    ],
    [
      'none, promised in the metadata',
      () => ({
        metadata: (m) => ({ ...m, id_token_signing_alg_values_supported: ['none', 'RS256'] }),
        idToken: (h, c) => unsigned(h, c),
      }),
    ],
    [
      'an octet key in the key set',
      () => ({
        keySet: (keys) => [...keys, { kty: 'oct', k: Buffer.from('a text').toString('base64url'), kid: 'o' }],
        idToken: (h, c) => signedWithText({ ...h, kid: 'o' }, c, 'a text'),
      }),
    ],
    ['invalid-sig-rs256', () => ({ idToken: (h, c) => hostile.sign(h, c, hostile.strangerKey) })],
    [
      'signature of another token',
      () => ({
        idToken: async (h, c) => {
          const [, , signature] = (await hostile.sign(h, { ...c, sub: 'bob' })).split('.');
          return `${(await hostile.sign(h, c)).split('.').slice(0, 2).join('.')}.${signature}`;
        },
      }),
    ],
    [
      'key in the token itself',
      () => ({
        idToken: async (h, c) => {
          const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
          return hostile.sign(
            { alg: 'RS256', kid: h['kid'], jwk: await exportJWK(publicKey) },
            c,
            privateKey,
          );
        },
      }),
    ],
    [
      'jku',
      () => ({ idToken: (h, c) => hostile.sign({ ...h, jku: hostile.issuer }, c, hostile.strangerKey) }),
    ],
    ['kid of nobody', () => ({ header: (header) => ({ ...header, kid: '../../etc/passwd' }) })],
    [
      'kid-absent-multiple-jwks',
      () => ({ keySet: (keys) => [...keys, other], header: (header) => without(header, 'kid') }),
    ],
    ['unknown crit', () => ({ header: (header) => ({ ...header, crit: ['strange'], strange: 1 }) })],
    ['a JWE instead of a JWS', () => ({ idToken: () => 'e30.e30.e30.e30.e30' })],
    ['userinfo-invalid-sub', () => ({ userinfo: (claims) => ({ ...claims, sub: 'bob' }) })],
    ['userinfo without sub', () => ({ userinfo: (claims) => without(claims, 'sub') })],
    ['userinfo that is a list', () => ({ userinfo: () => [] })],
    [
      'discovery-issuer-mismatch',
      () => ({ metadata: (m) => ({ ...m, issuer: 'https://elsewhere.example' }) }),
    ],
    ['no endpoint for tokens', () => ({ metadata: (m) => without(m, 'token_endpoint') })],
    [
      'a script as authorization endpoint',
      () => ({ metadata: (m) => ({ ...m, authorization_endpoint: 'javascript:alert(1)' }) }),
    ],
    ['mix-up: iss of another', () => ({ answer: (p) => ({ ...p, iss: 'https://elsewhere.example' }) })],
    ['mix-up: iss that was promised is missing', () => ({ answer: (p) => without(p, 'iss') })],
    ['no code', () => ({ answer: (p) => without(p, 'code') })],
    ['a code of nobody', () => ({ answer: (p) => ({ ...p, code: 'guessed' }) })],
    ['code and error', () => ({ answer: (p) => ({ ...p, error: 'server_error' }) })],
    ['token type of nobody', () => ({ token: (body) => ({ ...body, token_type: 'mac' }) })],
    ['an ID token inside a list', () => ({ token: (body) => ({ ...body, id_token: [body['id_token']] }) })],
  ];

  it(`make no session by any of ${ATTACKS.length} wrong answers`, async () => {
    for (const [name, attack] of ATTACKS) {
      const result = await outcome(attack());
      assert.notEqual(result, 'session', name);
    }
    assert.equal(await sessions(), 0);
    assert.equal(await outcome({}), 'session', 'and one by the right one');
  });

  it('take a token without kid where one key alone is published', async () => {
    assert.equal(await outcome({ header: (header) => without(header, 'kid') }), 'session');
  });

  it('with an ID token of the future name its time and that of this machine in the log', async () => {
    assert.equal(await outcome(putClaims({ iat: nowS() + 600 })), 'provider-failed');
    const [issued, now] = [(nowS() + 600) * 1_000, world.clock.nowMs()].map((ms) =>
      new Date(ms).toISOString(),
    );
    const expected = `the ID token was issued at ${issued}, and the clock of this machine says ${now}`;
    assert.ok(
      world.logged.some((line) => line.includes(expected)),
      world.logged.join('\n'),
    );
  });

  it('follow the rotation of signing keys', async () => {
    const { start } = await place({});
    assert.equal((await logIn(world.parts, start)).type, 'session');
    await hostile.rotate();
    world.clock.advance(30_000);
    assert.equal((await logIn(world.parts, start)).type, 'session');
    assert.equal((await logIn(world.parts, start)).type, 'session');
    await hostile.rotate();
    const refused = await logIn(world.parts, start);
    assert.equal(refused.type, 'refused', 'a key set is not fetched for each token');
    world.clock.advance(30_000);
    assert.equal((await logIn(world.parts, start)).type, 'session');
  });

  it('send the verifier of the attempt, so that a code is worth nothing in another', async () => {
    const { logins } = world.parts;
    const { start } = await place({});
    const begin = async (browser: string) => {
      const started = await logins.start({ ...start, browser: browserOf(browser) });
      assert.ok(started.type === 'redirect');
      assert.equal(new URL(started.url).searchParams.get('code_challenge_method'), 'S256');
      return callbackOf(await goThroughProvider(started.url));
    };
    const victim = await begin('the victim');
    const attacker = await begin('the attacker');
    const injected = {
      ...attacker,
      parameters: { ...attacker.parameters, code: victim.parameters['code']! },
    };
    assert.deepEqual(await logins.finish(injected), { type: 'refused', reason: 'provider-failed' });
    assert.ok(hostile.forms.at(-1)!.get('code_verifier'));
    // A provider that forgets to check it signs the victim's nonce, which is not the attempt's.
    hostile.attack = { ignoresVerifier: true };
    const [second, third] = [await begin('the victim'), await begin('the attacker')];
    const again = { ...third, parameters: { ...third.parameters, code: second.parameters['code']! } };
    assert.deepEqual(await logins.finish(again), { type: 'refused', reason: 'provider-failed' });
  });

  it('do not take the ID token of an attempt once more', async () => {
    const { start } = await place({});
    const before = await sessions();
    let kept: string | undefined;
    hostile.attack = {
      idToken: async (header, claims) => (kept ??= await hostile.sign(header, claims)),
    };
    assert.equal((await logIn(world.parts, start)).type, 'session');
    assert.deepEqual(await logIn(world.parts, start), { type: 'refused', reason: 'provider-failed' });
    assert.equal(await sessions(), before + 1);
  });

  it('end only in the browser that began them', async () => {
    const { share, start } = await place({});
    const { logins } = world.parts;
    const started = await logins.start({ ...start, browser: browserOf('the attacker') });
    assert.ok(started.type === 'redirect');
    const returned = await logins.finish(callbackOf(await goThroughProvider(started.url)));
    assert.ok(returned.type === 'redirect');
    const code = new URL(returned.url).searchParams.get('code')!;
    const at = { shareId: share.id, host: share.host, code };
    assert.deepEqual(await logins.redeem({ ...at, browser: browserOf('the victim') }), {
      type: 'refused',
      reason: 'attempt-not-valid',
    });
  });

  it('are bounded, however many answers come', async () => {
    const { start } = await place({});
    const asked = hostile.requests.length;
    const flood = Array.from({ length: 2_000 }, (_, i) =>
      world.parts.logins.finish({
        host: 'oauth.share.localhost',
        providerId: start.providerId,
        parameters: { code: 'x', state: i % 2 === 0 ? `guessed-${i}` : makeLoginState(world.secrets) },
        address: '192.0.2.66',
      }),
    );
    assert.ok((await Promise.all(flood)).every(({ type }) => type === 'refused'));
    assert.deepEqual(hostile.requests.slice(asked), [], 'nobody was asked');
    assert.equal((await logIn(world.parts, start)).type, 'session');
  });

  it('honour that a provider refuses PKCE', async () => {
    const { start } = await place({ ignoresVerifier: true }, { supports_pkce: false });
    const started = await world.parts.logins.start(start);
    assert.ok(started.type === 'redirect');
    assert.equal(new URL(started.url).searchParams.get('code_challenge'), null);
    assert.equal((await logIn(world.parts, start)).type, 'session');
    assert.equal(hostile.forms.at(-1)!.get('code_verifier'), null);
  });
});
