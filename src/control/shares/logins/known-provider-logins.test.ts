import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { makeTestAuthority } from '../../../../test/support/certificates.ts';
import {
  GITHUB_CLIENT,
  startGithubProvider,
  type GithubProvider,
} from '../../../../test/support/github-provider.ts';
import {
  DEFAULT_CLIENT,
  startIdentityProvider,
  type IdentityProvider,
} from '../../../../test/support/identity-provider.ts';
import { goThroughProvider } from '../../../../test/support/login-browser.ts';
import { callbackOf, loginStart, logIn, openLoginFixture, type LoginFixture } from './login-fixture.ts';

describe('log-ins with Google and GitHub', () => {
  let google: IdentityProvider;
  let github: GithubProvider;
  let world: LoginFixture;
  before(async () => {
    google = await startIdentityProvider({
      users: [
        { sub: '1000', email: 'ann@example.com', name: 'Ann' },
        { sub: '2000', email: 'bob@example.com', emailVerified: false },
        { sub: '3000' },
      ],
    });
    github = await startGithubProvider();
    world = await openLoginFixture();
  });
  after(async () => {
    await world.close();
    await google.close();
    await github.close();
  });

  const githubData = () => ({
    client_id: GITHUB_CLIENT.id,
    client_secret: GITHUB_CLIENT.secret,
    base_url: github.url,
    api_url: github.url,
  });

  it('admit Google users with a verified e-mail, and nobody else', async () => {
    const { id } = await world.addProvider('GOOGLE', {
      client_id: DEFAULT_CLIENT.id,
      client_secret: DEFAULT_CLIENT.secret,
      issuer: google.issuer,
    });
    const share = await world.addShare('google', [id]);
    google.loggedInAs = '1000';
    const redeemed = await logIn(world.parts, loginStart(share, id));
    assert.ok(redeemed.type === 'session', JSON.stringify(redeemed));
    const { identity } = redeemed.session;
    assert.deepEqual(
      [identity.providerId, identity.subject, identity.email],
      [id, '1000', 'ann@example.com'],
    );
    for (const user of ['2000', '3000']) {
      google.loggedInAs = user;
      const refused = await logIn(world.parts, loginStart(share, id));
      assert.deepEqual(refused, { type: 'refused', reason: 'email-not-verified' });
    }
    assert.equal(world.parts.access.provider(id)!.tokens, null, 'its tokens are for no machine');
  });

  it('ask at the addresses of Google and GitHub unless others are given', async () => {
    const { id } = await world.addProvider('GITHUB', { client_id: 'a', client_secret: 'b' });
    const share = await world.addShare('real', [id]);
    const started = await world.parts.logins.start(loginStart(share, id));
    assert.ok(started.type === 'redirect');
    const url = new URL(started.url);
    assert.equal(`${url.origin}${url.pathname}`, 'https://github.com/login/oauth/authorize');
    assert.equal(url.searchParams.get('scope'), 'read:user user:email');
    assert.equal(url.searchParams.get('code_challenge_method'), 'S256');
  });

  it('admit GitHub users with a verified primary e-mail, and nobody else', async () => {
    const { id } = await world.addProvider('GITHUB', githubData());
    const share = await world.addShare('github', [id]);
    const redeemed = await logIn(world.parts, loginStart(share, id));
    assert.ok(redeemed.type === 'session', JSON.stringify(redeemed));
    const { identity } = redeemed.session;
    assert.deepEqual(
      [identity.subject, identity.email, identity.name, identity.groups],
      ['583231', 'octocat@example.com', 'The Octocat', []],
    );
    assert.equal(identity.claims['preferred_username'], 'octocat');
    const { emails } = github;
    for (const unverified of [
      [],
      [{ email: 'octocat@example.com', primary: true, verified: false }],
      [{ email: 'octocat@example.com', primary: false, verified: true }],
      [{ email: 'no address', primary: true, verified: true }],
    ]) {
      github.emails = unverified;
      const refused = await logIn(world.parts, loginStart(share, id));
      assert.deepEqual(refused, { type: 'refused', reason: 'email-not-verified' });
    }
    github.emails = emails;
  });

  it('take a code of GitHub once, with the verifier and the secret that belong to it', async () => {
    const { id } = await world.addProvider('GITHUB', githubData());
    const wrong = await world.addProvider('GITHUB', { ...githubData(), client_secret: 'another' });
    const share = await world.addShare('github-codes', [id, wrong.id]);
    const failed = { type: 'refused', reason: 'provider-failed' };
    assert.deepEqual(await logIn(world.parts, loginStart(share, wrong.id)), failed);
    const { logins } = world.parts;
    const begin = async () => {
      const started = await logins.start(loginStart(share, id));
      assert.ok(started.type === 'redirect');
      return callbackOf(await goThroughProvider(started.url));
    };
    const [one, two] = [await begin(), await begin()];
    const injected = { ...two, parameters: { ...two.parameters, code: one.parameters['code']! } };
    assert.deepEqual(await logins.finish(injected), failed);
    assert.deepEqual(await logins.finish(one), failed, 'the code is spent');
    const denied = { ...(await begin()) };
    const parameters = { state: denied.parameters['state']!, error: 'access_denied' };
    assert.deepEqual(await logins.finish({ ...denied, parameters }), { type: 'refused', reason: 'denied' });
  });

  it('fail where the API of GitHub does not answer as it should', async () => {
    const { id } = await world.addProvider('GITHUB', { ...githubData(), api_url: `${github.url}/nowhere` });
    const share = await world.addShare('github-away', [id]);
    const refused = await logIn(world.parts, loginStart(share, id));
    assert.deepEqual(refused, { type: 'refused', reason: 'provider-failed' });
    assert.ok(world.logged.some((line) => line.includes('the API answers 404 at /nowhere/user')));
  });

  it('go over TLS that is proven, to a provider that puts everything into its ID token', async () => {
    const identity = await (await makeTestAuthority()).issue('issuer');
    await using secure = await startIdentityProvider({
      users: [{ sub: 'ann', email: 'ann@example.com', groups: ['staff'] }],
      clients: [{ id: 'public-client' }],
      tls: identity,
      claimsInIdToken: true,
    });
    assert.match(secure.issuer, /^https:/);
    const data = { issuer: secure.issuer, client_id: 'public-client', scopes: ['email', 'groups'] };
    const outcome = async (ca: string) => {
      await using place = await openLoginFixture({ egress: { ca } });
      const { id } = await place.addProvider('OIDC', data);
      const share = await place.addShare('tls', [id]);
      return await logIn(place.parts, loginStart(share, id), { ca: identity.ca, user: 'ann' });
    };
    const redeemed = await outcome(identity.ca);
    assert.ok(redeemed.type === 'session', JSON.stringify(redeemed));
    assert.deepEqual(redeemed.session.identity.groups, ['staff']);
    const { ca: another } = await makeTestAuthority();
    assert.deepEqual(await outcome(another), { type: 'refused', reason: 'provider-failed' });
  });
});
