import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  DEFAULT_CLIENT,
  startIdentityProvider,
  type IdentityProvider,
  type IdentityProviderUser,
} from '../../../../test/support/identity-provider.ts';
import { loginStart, logIn, openLoginFixture, type LoginFixture } from './login-fixture.ts';

const TENANT = '5f1c2d3e-4a5b-4c6d-8e7f-901234567890';
const OTHER = '11111111-4a5b-4c6d-8e7f-901234567890';
const CONSUMERS = '9188040d-6c67-4c5b-b112-36a304b66dad';
const GROUP = '0a1b2c3d-0000-4000-8000-00000000000a';
const DENIED = { type: 'refused', reason: 'denied' };
const FAILED = { type: 'refused', reason: 'provider-failed' };

/** An account as tokens of Entra ID show it: with an address that nobody has verified. */
function account(sub: string, claims: Readonly<Record<string, unknown>> = {}): IdentityProviderUser {
  const email = { email: `${sub}@contoso.example`, preferred_username: `${sub}@contoso.example` };
  return { sub, name: 'Ann', claims: { tid: TENANT, ver: '2.0', ...email, ...claims } };
}

const ACCOUNTS = [
  account('plain', { groups: [GROUP, 'administrators'], roles: ['Reports.Read'] }),
  account('claimed', { email_verified: true }),
  account('owned', { xms_edov: true }),
  account('owned-as-text', { xms_edov: '1' }),
  account('not-owned', { xms_edov: false }),
  account('guest', { idp: `https://sts.windows.net/${OTHER}/` }),
  account('marked-guest', { acct: 1 }),
  account('liar', { tid: OTHER }),
  account('nowhere', { tid: undefined }),
];

describe('log-ins with Microsoft Entra ID', () => {
  let entra: IdentityProvider;
  let world: LoginFixture;
  let count = 0;
  before(async () => {
    entra = await startIdentityProvider({
      users: ACCOUNTS,
      claimsInIdToken: true,
      issuerPath: `/${TENANT}/v2.0`,
    });
    world = await openLoginFixture();
  });
  after(async () => {
    await world.close();
    await entra.close();
  });

  const template = (): string => `${entra.origin}/{tenantid}/v2.0`;
  /** The documents of `common` and `organizations`: issuer and keys are for the tenant of each token. */
  const ofTenants = (document: Record<string, unknown>) => ({
    ...document,
    ...('issuer' in document ? { issuer: template() } : {}),
    ...('keys' in document ? keysFor(document, template()) : {}),
  });
  const keysFor = (document: Record<string, unknown>, issuer: string) => ({
    keys: (document['keys'] as object[]).map((key) => ({ ...key, issuer })),
  });

  async function outcome(
    user: string,
    data: Readonly<Record<string, unknown>> = {},
    changeDocument?: IdentityProvider['changeDocument'],
  ) {
    entra.changeDocument = changeDocument;
    entra.loggedInAs = user;
    const { id } = await world.addProvider('MICROSOFT', {
      client_id: DEFAULT_CLIENT.id,
      client_secret: DEFAULT_CLIENT.secret,
      tenant: TENANT,
      authority: entra.origin,
      ...data,
    });
    count += 1;
    const share = await world.addShare(`share-${count}`, [id]);
    const redeemed = await logIn(world.parts, loginStart(share, id));
    return redeemed.type === 'session' ? redeemed.session.identity : redeemed;
  }
  async function identity(...given: Parameters<typeof outcome>) {
    const found = await outcome(...given);
    assert.ok('subject' in found, JSON.stringify(found) + world.logged.slice(-3).join());
    return found;
  }
  const several = { tenant: 'organizations', allowed_tenants: [OTHER, TENANT.toUpperCase()] };

  it('admit accounts of the one tenant, with groups by object id, roles of the application, and no e-mail', async () => {
    const { subject, name, email, groups, claims } = await identity('plain', {
      tenant: TENANT.toUpperCase(),
    });
    assert.deepEqual([subject, name, email], ['plain', 'Ann', null]);
    assert.deepEqual(groups, [GROUP, 'Reports.Read']);
    assert.deepEqual([claims['groups'], claims['roles']], [[GROUP, 'Reports.Read'], ['Reports.Read']]);
    assert.deepEqual(['email' in claims, 'email_verified' in claims], [false, false], 'no rule can use it');
    assert.equal(
      entra.requests.some((path) => path.endsWith('/me')),
      false,
      'the userinfo is not asked for',
    );
  });

  it('use an e-mail address that Microsoft vouches for, and no other', async () => {
    for (const user of ['owned', 'owned-as-text']) {
      const { email, claims } = await identity(user);
      assert.deepEqual([email, claims['email_verified']], [`${user}@contoso.example`, true]);
    }
    for (const user of ['claimed', 'not-owned', 'guest'])
      assert.deepEqual((await identity(user)).email, null, user);
  });

  it('use the e-mail addresses of a tenant that is trusted for them, apart from those of its guests', async () => {
    assert.equal((await identity('plain', { trust_email: true })).email, 'plain@contoso.example');
    for (const user of ['guest', 'marked-guest'])
      assert.deepEqual((await identity(user, { trust_email: true })).email, null, user);
    const stored = { ...several, trust_email: true };
    assert.deepEqual(
      (await identity('plain', stored, ofTenants)).email,
      null,
      'the schema refuses this, too',
    );
  });

  it('admit accounts of the tenants that are listed, each with a subject of its tenant', async () => {
    const { subject, email, groups } = await identity('plain', several, ofTenants);
    assert.deepEqual([subject, email], [`${TENANT}:plain`, null]);
    assert.deepEqual(groups, [GROUP, 'Reports.Read']);
    assert.equal(
      (await identity('owned', { ...several, tenant: 'common' }, ofTenants)).email,
      'owned@contoso.example',
    );
  });

  it('refuse accounts of other tenants, and name the tenant in the log', async () => {
    const others = { tenant: 'organizations', allowed_tenants: [OTHER, CONSUMERS] };
    assert.deepEqual(await outcome('plain', others, ofTenants), DENIED);
    assert.ok(
      world.logged.some((line) => line.includes(`the tenant ${TENANT}, which allowed_tenants does not list`)),
    );
    assert.deepEqual(await outcome('plain', { tenant: 'common' }, ofTenants), DENIED, 'without a list');
  });

  it('refuse tokens whose tenant is not that of their issuer, or is missing', async () => {
    for (const user of ['liar', 'nowhere'])
      assert.deepEqual(await outcome(user, several, ofTenants), FAILED, user);
  });

  it('refuse tokens that a key for other accounts signed', async () => {
    const personal = `${entra.origin}/${CONSUMERS}/v2.0`;
    const signedByOther = (document: Record<string, unknown>) =>
      'keys' in document ? keysFor(document, personal) : ofTenants(document);
    assert.deepEqual(await outcome('plain', several, signedByOther), FAILED);
    const one = (document: Record<string, unknown>) =>
      'keys' in document ? keysFor(document, personal) : document;
    assert.deepEqual(await outcome('plain', {}, one), FAILED, 'of one tenant');
  });

  it('refuse metadata of another tenant than the one that is admitted', async () => {
    assert.deepEqual(await outcome('plain', { tenant: OTHER }), FAILED);
    assert.deepEqual(
      await outcome('plain', { tenant: 'consumers' }),
      FAILED,
      'personal accounts have a tenant',
    );
    assert.deepEqual(await outcome('plain', several), FAILED, 'the metadata has one issuer');
    assert.deepEqual(await outcome('plain', {}, ofTenants), FAILED, 'the metadata has all');
  });

  it('accept no tokens of programs, and know where people log out', async () => {
    const { providerId } = await identity('plain');
    const { tokens, logout } = world.parts.access.provider(providerId!)!;
    assert.equal(tokens, null);
    assert.equal(logout?.endpoint, `${entra.issuer}/session/end`);
  });
});
