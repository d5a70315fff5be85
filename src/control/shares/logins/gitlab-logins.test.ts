import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { definedFields } from '#base';
import {
  DEFAULT_CLIENT,
  startIdentityProvider,
  type IdentityProvider,
  type IdentityProviderUser,
} from '../../../../test/support/identity-provider.ts';
import { issuerAddressOf } from './issuer-directory.ts';
import { loginStart, logIn, openLoginFixture, type LoginFixture } from './login-fixture.ts';

const UNVERIFIED = { type: 'refused', reason: 'email-not-verified' };
const FAILED = { type: 'refused', reason: 'provider-failed' };

/** A user as GitLab shows one: direct groups are in the ID token, all groups in the userinfo. */
function user(
  sub: string,
  claims: Readonly<Record<string, unknown>>,
  groups?: readonly string[],
): IdentityProviderUser {
  const userinfo = definedFields({ nickname: sub, preferred_username: sub, groups });
  return { sub, name: 'Ann', claims, userinfo };
}

const verified = { email: 'ann@example.com', email_verified: true };
const USERS = [
  user('1', { ...verified, groups_direct: ['acme/ops'] }, ['acme/ops', 'acme/ops/night', 'acme']),
  user('2', { ...verified, groups_direct: ['acme/ops', 5] }),
  user('3', verified),
  user('4', { email: 'ann@example.com', email_verified: false }),
  user('5', { email: 'ann@example.com' }),
  user('6', { groups_direct: ['acme/ops'] }),
];

describe('log-ins with GitLab', () => {
  let gitlab: IdentityProvider;
  let world: LoginFixture;
  let count = 0;
  before(async () => {
    // A GitLab may have a path below its host.
    gitlab = await startIdentityProvider({ users: USERS, claimsInIdToken: true, issuerPath: '/gitlab' });
    world = await openLoginFixture();
  });
  after(async () => {
    await world.close();
    await gitlab.close();
  });

  async function outcome(sub: string, data: Readonly<Record<string, unknown>> = {}) {
    gitlab.loggedInAs = sub;
    const { id } = await world.addProvider('GITLAB', {
      client_id: DEFAULT_CLIENT.id,
      client_secret: DEFAULT_CLIENT.secret,
      base_url: gitlab.issuer,
      ...data,
    });
    count += 1;
    const share = await world.addShare(`share-${count}`, [id]);
    const redeemed = await logIn(world.parts, loginStart(share, id));
    return redeemed.type === 'session' ? redeemed.session.identity : redeemed;
  }
  async function identity(...given: Parameters<typeof outcome>) {
    const found = await outcome(...given);
    assert.ok('subject' in found, JSON.stringify(found) + world.logged.slice(-1).join());
    return found;
  }

  it('admit users with a verified e-mail address, and with all their groups', async () => {
    const { subject, name, email, groups, claims } = await identity('1', { base_url: `${gitlab.issuer}/` });
    assert.deepEqual([subject, name, email], ['1', 'Ann', 'ann@example.com']);
    assert.deepEqual(groups, ['acme/ops', 'acme/ops/night', 'acme']);
    assert.deepEqual([claims['groups'], claims['nickname']], [groups, '1']);
  });

  it('use the direct groups of the ID token where the userinfo has none, and no groups where there are none', async () => {
    assert.deepEqual((await identity('2')).groups, ['acme/ops']);
    assert.deepEqual((await identity('3')).groups, []);
  });

  it('refuse users whose e-mail address GitLab has not verified, or who have none', async () => {
    for (const sub of ['4', '5', '6']) assert.deepEqual(await outcome(sub), UNVERIFIED, sub);
  });

  it('refuse a GitLab whose metadata are of another address', async () => {
    assert.deepEqual(await outcome('1', { base_url: gitlab.origin }), FAILED);
  });

  it('accept no tokens of programs, and ask at gitlab.com unless there is another address', async () => {
    const { providerId } = await identity('1');
    assert.equal(world.parts.access.provider(providerId!)!.tokens, null);
    const { id } = await world.addProvider('GITLAB', { client_id: 'a', client_secret: 'b' });
    const stored = world.parts.providers.byId(id)!;
    assert.deepEqual(issuerAddressOf(stored), { issuer: 'https://gitlab.com', discoveryUrl: undefined });
  });
});
