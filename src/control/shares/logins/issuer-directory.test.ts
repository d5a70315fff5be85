import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { until } from '../../../../test/support/deadline.ts';
import { startHostileProvider, type HostileProvider } from '../../../../test/support/hostile-provider.ts';
import type { AccessChange } from './gateway-access.ts';
import { loginStart, logIn, openLoginFixture, type LoginFixture } from './login-fixture.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

describe('keys that gateways prove tokens of machines by', () => {
  let issuer: HostileProvider;
  let world: LoginFixture;
  let changes: AccessChange[];
  before(async () => {
    issuer = await startHostileProvider();
    world = await openLoginFixture();
    world.parts.access.onChange((change) => changes.push(change));
    changes = [];
  });
  after(async () => {
    await world.close();
    await issuer.close();
  });

  const data = () => ({ issuer: issuer.issuer, client_id: 'frontdoor', client_secret: 'a secret' });
  const tokensOf = (id: string) => world.parts.access.provider(id)!.tokens;
  const fetched = (): number => issuer.requests.filter((path) => path === '/jwks').length;
  let count = 0;
  /** A provider that a share uses, with its keys. */
  async function used(more: Record<string, unknown> = {}): Promise<string> {
    const { id } = await world.addProvider('OIDC', { ...data(), ...more });
    count += 1;
    await world.addShare(`place-${count}`, [id]);
    await world.parts.issuers.look();
    return id;
  }

  it('are fetched once a share uses the provider, and sent with their purpose', async () => {
    const { id } = await world.addProvider('OIDC', data());
    await world.parts.issuers.look();
    assert.deepEqual([tokensOf(id), fetched()], [null, 0], 'nobody uses it');
    await world.addShare('first', [id]);
    await until(
      'the keys come',
      () => tokensOf(id),
      (tokens) => tokens !== null,
    );
    const { keys, ...rest } = tokensOf(id)!;
    assert.deepEqual(rest, { issuer: issuer.issuer, audience: 'frontdoor', algorithms: ['RS256'] });
    assert.deepEqual(
      keys.map((key) => Object.keys(key).sort()),
      [['alg', 'e', 'kid', 'kty', 'n', 'use']],
    );
    assert.ok(changes.some((change) => change.type === 'provider' && change.id === id));
    assert.equal(JSON.stringify(world.parts.access.provider(id)).includes('a secret'), false);
  });

  it('come with where people log out at the issuer, and of an OpenID provider alone', async () => {
    const endpoint = 'https://issuer.example/log-out?x=1';
    const logoutOf = (id: string) => world.parts.access.provider(id)!.logout;
    issuer.attack = { metadata: (metadata) => ({ ...metadata, end_session_endpoint: endpoint }) };
    const id = await used();
    assert.deepEqual(logoutOf(id), { endpoint, clientId: 'frontdoor' });
    for (const wrong of ['javascript:alert(1)', '/log-out', 5, undefined]) {
      issuer.attack = { metadata: (metadata) => ({ ...metadata, end_session_endpoint: wrong }) };
      assert.equal(logoutOf(await used()), undefined, String(wrong));
    }
    issuer.attack = {};
  });

  it('come without private halves, secrets and what no token may be signed with', async () => {
    issuer.attack = {
      metadata: (metadata) => ({
        ...metadata,
        id_token_signing_alg_values_supported: ['none', 'HS256', 'RS256', 'ES256'],
      }),
      keySet: (keys) => [
        { ...keys[0]!, d: 'private', p: 'private', x5u: 'https://elsewhere.example' },
        { kty: 'oct', k: 'c2VjcmV0', kid: 'octets' },
        { kty: 'RSA', n: 'AQAB', e: 'AQAB', alg: 'HS256', kid: 'confused' },
        { ...keys[0]!, use: 'enc', kid: 'for encryption' },
        { ...keys[0]!, n: 'A'.repeat(5_000), kid: 'large' },
      ],
    };
    const tokens = tokensOf(await used())!;
    issuer.attack = {};
    assert.deepEqual(tokens.algorithms, ['RS256', 'ES256']);
    assert.deepEqual(
      tokens.keys.map((key) => Object.keys(key).sort().join()),
      ['alg,e,kid,kty,n,use', 'alg,e,kid,kty,use'],
    );
    assert.doesNotMatch(JSON.stringify(tokens), /private|octets|confused|encryption|elsewhere/);
  });

  it('are fetched again each quarter of an hour, and when a gateway meets an unknown one, but seldom', async () => {
    const id = await used();
    const before = fetched();
    await world.parts.issuers.look();
    assert.equal(fetched(), before);
    for (let rotation = 1; rotation <= 2; rotation += 1) {
      await issuer.rotate();
      changes = [];
      const old = tokensOf(id);
      await Promise.all(Array.from({ length: 100 }, () => world.parts.issuers.refresh(id)));
      assert.equal(fetched(), before + rotation);
      assert.notDeepEqual(tokensOf(id), old);
      assert.deepEqual(changes, [{ type: 'provider', id }]);
      world.clock.advance(29_999);
      await world.parts.issuers.refresh(id);
      assert.equal(fetched(), before + rotation, 'they were asked for just now');
      world.clock.advance(1);
    }
    world.clock.advance(15 * MINUTE_MS);
    changes = [];
    await world.parts.issuers.look();
    assert.ok(fetched() > before + 2);
    assert.ok(!changes.some((change) => 'id' in change && change.id === id), 'the same keys are no news');
  });

  it('stay for a day while the issuer is away, and are then believed no longer', async () => {
    const id = await used();
    issuer.attack = { metadata: () => ({}) };
    for (let hour = 0; hour < 23; hour += 1) {
      world.clock.advance(HOUR_MS);
      await world.parts.issuers.look();
    }
    assert.notEqual(tokensOf(id), null);
    assert.ok(world.logged.some((line) => line.includes('could not be fetched')));
    changes = [];
    world.clock.advance(HOUR_MS);
    await world.parts.issuers.look();
    assert.equal(tokensOf(id), null);
    assert.ok(changes.some((change) => change.type === 'provider' && change.id === id));
    issuer.attack = {};
    world.clock.advance(15 * MINUTE_MS);
    await world.parts.issuers.look();
    assert.notEqual(tokensOf(id), null);
  });

  it('are of the new issuer at once when the provider names another', async () => {
    await using another = await startHostileProvider();
    const id = await used();
    await world.changeProvider(id, { data: { ...data(), issuer: another.issuer, client_secret: 'new' } });
    await world.parts.issuers.look();
    assert.equal(tokensOf(id)?.issuer, another.issuer);
    assert.ok(another.requests.includes('/jwks'));
    await world.changeProvider(id, { enabled: false });
    const asked = another.requests.length;
    world.clock.advance(HOUR_MS);
    await world.parts.issuers.refresh(id);
    await world.parts.issuers.look();
    assert.equal(another.requests.length, asked, 'nobody asks for a disabled one');
  });

  it('are found at the provider’s metadata address', async () => {
    const id = await used({ discovery_url: `${issuer.issuer}/elsewhere` });
    assert.equal(tokensOf(id), null);
    assert.ok(issuer.requests.includes('/elsewhere'));
    const found = await used({ discovery_url: `${issuer.issuer}/.well-known/openid-configuration?x=1` });
    assert.notEqual(tokensOf(found), null);
  });

  it('that cannot be fetched fail their own log-ins only', async () => {
    await using quiet = await startHostileProvider();
    quiet.attack = { metadata: () => ({ issuer: 'https://another.example' }) };
    const { id } = await world.addProvider('OIDC', { ...data(), issuer: quiet.issuer });
    const share = await world.addShare('unlucky', [id]);
    const failed = { type: 'refused', reason: 'provider-failed' };
    assert.deepEqual(await logIn(world.parts, loginStart(share, id)), failed);
    const asked = quiet.requests.length;
    for (let i = 0; i < 50; i += 1) await logIn(world.parts, loginStart(share, id));
    assert.equal(quiet.requests.length, asked, 'it is not asked for each of them');
  });
});
