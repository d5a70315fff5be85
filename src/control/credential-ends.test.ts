// Each credential, each way in which it ends, and each thing that it opened, which ends with it.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Role } from '#domain';
import { enrollIdentity } from '#sdk';
import { CONSOLE_HOST, openConsoleWorld, TestBrowser, type ConsoleWorld } from './console/console-fixture.ts';
import { rawRequest } from './ziti/client-api/edge-api-fixture.ts';
import { OidcFlow } from './ziti/client-api/oidc-flow-fixture.ts';
import { openManagementFixture, type ManagementFixture } from './ziti/management-api/management-fixture.ts';
import { AUDIENCE } from './shares/operations/api-fixture.ts';
import { openStream } from './shares/operations/event-stream-fixture.ts';
import { describeEachStore } from './store/engine/each-store-suite.ts';
import { findPersonPasswords, openConsoleSession } from './credentials/people/mod.ts';
import { providerCredential } from './credentials/accounts/mod.ts';
import { bytesOfBase32 } from './credentials/totp/base32-fixture.ts';
import { codeAt, TOTP_STEP_MS } from './credentials/totp/totp-code.ts';

const PASSWORD = 'plum giraffe engine 47';
const NEW_PASSWORD = 'another plum engine 48';
const HOUR_MS = 3_600_000;

/** Something that a credential opened. */
interface Opened {
  readonly name: string;
  /** Whether it still opens something. */
  isUsed(): Promise<boolean>;
}

/** Calls with a credential; the path is that of the Management API. */
type Act = (
  method: 'GET' | 'POST',
  path: string,
  body?: object,
) => Promise<{ status: number; body: unknown }>;

interface Holder {
  /** With the credential itself, or with what it opened, by name. */
  readonly acts: Readonly<Record<string, Act>>;
  readonly ends: Readonly<Record<string, () => Promise<unknown>>>;
  /** Headers of streams. */
  readonly stream: () => Promise<{ readonly path: string; readonly headers: Record<string, string> }>;
}

describeEachStore('what a credential opened', (open) => {
  let world: ConsoleWorld;
  let names = 0;
  before(async () => {
    world = await openConsoleWorld({ open });
    await world.app.listen({ host: '127.0.0.1', port: 0 });
  });
  after(() => world.close());

  const next = (): string => `p${(names += 1)}@example.com`;
  const call = async (method: string, path: string, body?: object, authorization?: string) => {
    // Two changes of one millisecond would have one time.
    world.api.clock.advance(1);
    return world.api.call(method, path, { body, authorization });
  };
  const expect = async <A extends { readonly status: number; readonly text: string }>(
    status: number,
    answer: Promise<A>,
  ): Promise<A> => {
    const got = await answer;
    assert.equal(got.status, status, got.text);
    return got;
  };
  const actOf =
    (browser: TestBrowser): Act =>
    async (method, path, body) => {
      const answer = await browser.call(method, path, body);
      return { status: answer.statusCode, body: answer.body === '' ? undefined : answer.json() };
    };
  const idOf = async (email: string) => (await findPersonPasswords(world.api.store.db, email))[0]!.personId;

  /** All that the holder can make, of which each is usable. */
  async function openAll({ acts, stream }: Holder): Promise<Opened[]> {
    const opened: Opened[] = [];
    for (const [name, act] of Object.entries(acts)) {
      opened.push({ name, isUsed: async () => (await act('GET', '/caller')).status === 200 });
      opened.push(await invitationOf(name, act), await linkOf(name, act));
    }
    const { path, headers } = await stream();
    const reader = await openStream(world.app, path, { host: CONSOLE_HOST, ...headers });
    assert.equal(reader.response.statusCode, 200);
    let hasEnded = false;
    const isOver = reader.ended.then(() => (hasEnded = true));
    opened.push({
      name: 'stream',
      isUsed: async () => {
        // The end of the others comes first: it may take five seconds.
        if (hasStopped) await isOver;
        return !hasEnded;
      },
    });
    let hasStopped = false;
    for (const one of opened) assert.equal(await one.isUsed(), true, `${one.name} before`);
    hasStopped = true;
    return opened;
  }

  async function invitationOf(by: string, act: Act): Promise<Opened> {
    const made = await act('POST', '/invitations', { name: 'a guest', role: 'reader' });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const { link, id, createdBy } = made.body as { link: string; id: string; createdBy: { kind: string } };
    assert.notEqual(createdBy.kind, 'system');
    return {
      name: `invitation by ${by}`,
      isUsed: async () => {
        const listed = await world.api.call('GET', '/invitations?size=1000');
        const isListed = (listed.body as { content: { id: string }[] }).content.some((one) => one.id === id);
        const isOpen = await opens('/console/welcome', link, isListed);
        assert.equal(isListed, isOpen, 'the list and the page agree');
        return isOpen;
      },
    };
  }

  async function linkOf(by: string, act: Act): Promise<Opened> {
    const email = next();
    await world.person('reader', email);
    const made = await act('POST', `/people/${await idOf(email)}/password-link`);
    assert.equal(made.status, 200, JSON.stringify(made.body));
    const { link } = made.body as { link: string };
    return { name: `password link by ${by}`, isUsed: () => opens('/console/new-password', link, true) };
  }

  /** Whether the page takes the code of a link. `looks`: without using it up. */
  async function opens(page: string, link: string, looks: boolean): Promise<boolean> {
    const code = link.split('#')[1]!;
    const browser = new TestBrowser(world.app);
    const form = { code, name: 'guest', email: next(), password: NEW_PASSWORD };
    const answer = await browser.post(page, looks ? { code } : form);
    return answer.statusCode !== 403;
  }

  async function tokenOf(id: string, secret: string): Promise<string> {
    const body = {
      grant_type: 'client_credentials',
      client_id: id,
      client_secret: secret,
      audience: AUDIENCE,
    };
    const answer = await expect(200, world.api.call('POST', '/oauth/token', { body, authorization: null }));
    return `Bearer ${(answer.body as { access_token: string }).access_token}`;
  }

  const actWith =
    (authorization: string): Act =>
    (method, path, body) =>
      world.api.call(method, path, { body, authorization });

  const ADMINISTRATOR = ['frontdoor.read', 'frontdoor.write', 'frontdoor.organization'];

  /** An API account or an OAuth client, whose secret has the name `field`. */
  async function caller(kind: 'api-accounts' | 'oauth-clients', field: 'token' | 'secret') {
    const { organizationId } = world.api.first;
    const settings = `/organizations/${organizationId}/settings`;
    await expect(200, call('PATCH', settings, { tokenExchange: true }));
    const body = { name: next(), organizationId, scopes: ADMINISTRATOR };
    const made = await expect(201, call('POST', `/${kind}`, body));
    const { id, [field]: secret } = made.body as Record<string, string>;
    return { path: `/${kind}/${id}`, id: id!, secret: secret! };
  }

  const streamBy = (authorization: string) => async () => ({
    path: `/frontdoor/${world.api.first.frontdoorId}/changes`,
    headers: { authorization },
  });
  const streamOf = (browser: TestBrowser) => async () => ({
    path: `/console/api/frontdoor/${world.api.first.frontdoorId}/changes`,
    headers: { cookie: browser.cookie!, 'sec-fetch-site': 'same-origin' },
  });

  async function account(): Promise<Holder> {
    const { path, id, secret } = await caller('api-accounts', 'token');
    const browser = new TestBrowser(world.app);
    assert.equal((await browser.logIn(id, secret)).statusCode, 303);
    const basic = `Basic ${id}:${secret}`;
    const rotate = (overlapSeconds: number) =>
      expect(200, call('POST', `${path}/rotate`, { overlapSeconds }));
    return {
      acts: {
        token: actWith(basic),
        session: actOf(browser),
        bearer: actWith(await tokenOf(id, secret)),
      },
      stream: streamOf(browser),
      ends: {
        rotated: () => rotate(0),
        'its overlap is over': async () => {
          await rotate(60);
          world.api.clock.advance(61_000);
        },
        'its overlap is ended': async () => {
          await rotate(60);
          await expect(204, call('DELETE', `${path}/previous-token`));
        },
        'rotated twice': async () => {
          await rotate(60);
          await rotate(60);
        },
        deleted: () => expect(204, call('DELETE', path)),
      },
    };
  }

  async function client(): Promise<Holder> {
    const { path, id, secret } = await caller('oauth-clients', 'secret');
    const bearer = await tokenOf(id, secret);
    const rotate = (overlapSeconds: number) =>
      expect(200, call('POST', `${path}/rotate`, { overlapSeconds }));
    return {
      acts: { bearer: actWith(bearer) },
      stream: streamBy(bearer),
      ends: {
        rotated: () => rotate(0),
        'its overlap is over': async () => {
          await rotate(60);
          world.api.clock.advance(61_000);
        },
        'its overlap is ended': async () => {
          await rotate(60);
          await expect(204, call('DELETE', `${path}/previous-secret`));
        },
        deleted: () => expect(204, call('DELETE', path)),
      },
    };
  }

  async function personOf(role: Role) {
    const email = next();
    const browser = await world.person(role, email);
    return { email, browser, id: await idOf(email) };
  }

  async function password(): Promise<Holder> {
    const { email, browser, id } = await personOf('administrator');
    const other = new TestBrowser(world.app);
    await other.logIn(email);
    return {
      acts: { session: actOf(browser) },
      stream: streamOf(browser),
      ends: {
        changed: async () => {
          world.api.clock.advance(1);
          const answer = await other.post('/console/password', { current: PASSWORD, password: NEW_PASSWORD });
          assert.equal(answer.statusCode, 303, answer.body);
        },
        'replaced by a link': async () => {
          const made = await expect(200, call('POST', `/people/${id}/password-link`));
          const code = (made.body as { link: string }).link.split('#')[1]!;
          const answer = await other.post('/console/new-password', { code, password: NEW_PASSWORD });
          assert.equal(answer.statusCode, 303, answer.body);
        },
        'its person is removed': () => expect(204, call('DELETE', `/people/${id}`)),
      },
    };
  }

  /** The code of a later step, because each counts once. */
  const codeOf = (secret: Uint8Array): string => {
    world.api.clock.advance(TOTP_STEP_MS);
    return codeAt(secret, world.api.clock.nowMs());
  };

  async function enroll(browser: TestBrowser): Promise<Uint8Array> {
    const begun = await browser.call('POST', '/caller/second-factor');
    assert.equal(begun.statusCode, 200, begun.body);
    const secret = bytesOfBase32(begun.json<{ secret: string }>().secret);
    const code = codeOf(secret);
    const done = await browser.call('POST', '/caller/second-factor/confirmation', { code });
    assert.equal(done.statusCode, 200, done.body);
    return secret;
  }

  async function secondFactor(): Promise<Holder> {
    const { email, browser, id } = await personOf('administrator');
    const secret = await enroll(browser);
    const thief = new TestBrowser(world.app);
    await thief.logIn(email);
    const code = codeOf(secret);
    assert.equal((await thief.post('/console/log-in/second-factor', { code })).statusCode, 303);
    const goesOn = async (act: Promise<unknown>) => {
      await act;
      assert.equal(
        (await browser.call('GET', '/caller')).statusCode,
        200,
        'the session that did it continues',
      );
    };
    return {
      acts: { session: actOf(thief) },
      stream: streamOf(thief),
      ends: {
        replaced: () => goesOn(enroll(browser)),
        'removed by its person': () =>
          goesOn(
            browser
              .call('DELETE', '/caller/second-factor')
              .then(({ statusCode }) => assert.equal(statusCode, 204)),
          ),
        'removed by an administrator': () => expect(204, call('DELETE', `/people/${id}/second-factor`)),
      },
    };
  }

  async function provider(): Promise<Holder> {
    const providers = `/frontdoor/${world.api.first.frontdoorId}/auth-providers`;
    const data = { issuer: 'https://idp.example.com', client_id: 'console', client_secret: 'a secret' };
    const made = await expect(201, call('POST', providers, { name: next(), type: 'OIDC', data }));
    const authProviderId = (made.body as { id: string }).id;
    const path = `${providers}/${authProviderId}`;
    const offered = await expect(201, call('POST', '/console-log-ins', { authProviderId }));
    const logInId = (offered.body as { id: string }).id;
    const { id } = await personOf('administrator');
    const owner = { kind: 'person', id, organizationId: world.api.first.organizationId } as const;
    const times = { nowMs: world.api.clock.nowMs(), idleMs: HOUR_MS, lifetimeMs: HOUR_MS };
    const credential = providerCredential(logInId, 1);
    const from = { address: '192.0.2.1', browser: 'a browser', authProviderId, credential };
    const begin = async () => {
      const { token } = await world.api.store.transaction((trx) =>
        openConsoleSession(trx, world.api.secrets, owner, from, times),
      );
      const browser = new TestBrowser(world.app);
      browser.cookie = `__Host-frontdoor-console=${token}`;
      return browser;
    };
    const [browser, own] = [await begin(), await begin()];
    return {
      acts: { session: actOf(browser) },
      stream: streamOf(browser),
      ends: {
        disabled: () => expect(200, call('PATCH', path, { enabled: false })),
        'disabled for a while': async () => {
          await expect(200, call('PATCH', path, { enabled: false }));
          await expect(200, call('PATCH', path, { enabled: true }));
        },
        'changed, by a session of its own': async () => {
          const changed = await own.call('PATCH', path, {
            data: { client_id: 'another', client_secret: 'another secret' },
          });
          assert.equal(changed.statusCode, 200, changed.body);
          assert.equal((await own.call('GET', '/caller')).statusCode, 200);
        },
        'no longer a log-in': () => expect(204, call('DELETE', `/console-log-ins/${logInId}`)),
        'no log-in for a while': async () => {
          await expect(204, call('DELETE', `/console-log-ins/${logInId}`));
          await expect(201, call('POST', '/console-log-ins', { authProviderId }));
        },
      },
    };
  }

  const HOLDERS = { account, client, password, secondFactor, provider };

  for (const [name, hold] of Object.entries(HOLDERS)) {
    it(`ends with it: ${name}`, async () => {
      const { ends } = await hold();
      for (const end of Object.keys(ends)) {
        const holder = await hold();
        const opened = await openAll(holder);
        await holder.ends[end]!();
        for (const one of opened) assert.equal(await one.isUsed(), false, `${name} ${end}: ${one.name}`);
      }
    });
  }

  it('ends with the right to make it: invitations and links of a person who is demoted', async () => {
    for (const role of ['editor', 'reader'] as const) {
      const { browser, id } = await personOf('administrator');
      const act = actOf(browser);
      const made = [await invitationOf('a person', act), await linkOf('a person', act)];
      for (const one of made) assert.equal(await one.isUsed(), true, one.name);
      await expect(200, call('PATCH', `/people/${id}`, { role }));
      for (const one of made) assert.equal(await one.isUsed(), false, one.name);
    }
  });
});

describe('what a credential at the edge opened', () => {
  let api: ManagementFixture;
  let names = 0;
  before(async () => (api = await openManagementFixture()));
  after(() => api.close());

  interface Machine {
    readonly id: string;
    readonly client: { readonly cert?: string; readonly key?: string };
    readonly opened: readonly Opened[];
  }

  const send = (path: string, body: object, client: Machine['client'] = {}, token?: string) => {
    const headers = token === undefined ? {} : { 'zt-session': token };
    return rawRequest(api, { ...client, method: 'POST', path, headers, body: JSON.stringify(body) });
  };

  /** Logs in at both APIs, and through OpenID Connect. */
  async function openEach(
    method: 'cert' | 'password',
    body: Record<string, string>,
    client: Machine['client'],
  ) {
    const token = async (at: 'client' | 'management') => {
      const answer = await send(`/edge/${at}/v1/authenticate?method=${method}`, body, client);
      assert.equal(answer.status, 200, answer.text);
      return (answer.json as { data: { token: string } }).data.token;
    };
    const flow = new OidcFlow(api, client);
    const tokens = await flow.tokens(await flow.step(method, { id: await flow.begin(method), ...body }));
    const [session, managing] = [await token('client'), await token('management')];
    const isOpen = async (path: string, zt: string) =>
      (await rawRequest(api, { ...client, path, headers: { 'zt-session': zt } })).status === 200;
    return [
      { name: 'session', isUsed: () => isOpen('/edge/client/v1/services', session) },
      { name: 'administrator', isUsed: () => isOpen('/edge/management/v1/identities', managing) },
      { name: 'bearer token', isUsed: async () => (await flow.services(tokens)) === 200 },
      // Last, because it makes another refresh token.
      { name: 'refresh token', isUsed: async () => (await flow.refresh(tokens)).status === 200 },
    ];
  }

  async function certificate(): Promise<Machine> {
    const name = `m${(names += 1)}`;
    const id = await api.make('identities', { name, type: 'User', isAdmin: true, enrollment: { ott: true } });
    const { jwt } = (await api.call('GET', `identities/${id}`)).data.enrollment.ott;
    const { identity } = await enrollIdentity({ jwt });
    const client = { cert: identity.certPem, key: identity.keyPem };
    return { id, client, opened: await openEach('cert', {}, client) };
  }

  async function password(): Promise<Machine & { readonly username: string }> {
    const username = `u${(names += 1)}`;
    const identity = { name: username, type: 'User', isAdmin: true, enrollment: { updb: username } };
    const id = await api.make('identities', identity);
    await enroll(id);
    const opened = await openEach('password', { username, password: PASSWORD }, {});
    return { id, username, client: {}, opened };
  }

  async function enroll(id: string): Promise<void> {
    const { token } = (await api.call('GET', `identities/${id}`)).data.enrollment.updb;
    const answer = await send(`/enroll?method=updb&token=${token}`, { password: PASSWORD });
    assert.equal(answer.status, 200, answer.text);
  }

  const succeeds = async (call: Promise<{ readonly status: number }>) =>
    assert.ok([200, 201].includes((await call).status));

  async function check<M extends Machine>(
    open: () => Promise<M>,
    ends: Record<string, (machine: M) => Promise<unknown>>,
    goesOn: readonly string[] = [],
  ): Promise<void> {
    for (const [name, end] of Object.entries(ends)) {
      const machine = await open();
      for (const one of machine.opened) assert.equal(await one.isUsed(), true, `${one.name} before`);
      await end(machine);
      for (const one of machine.opened)
        assert.equal(await one.isUsed(), goesOn.includes(one.name), `${name}: ${one.name}`);
    }
  }

  it('ends with it: a certificate', () =>
    check(certificate, {
      'its authenticator is deleted': async ({ id }) => {
        const { data } = await api.call('GET', `identities/${id}/authenticators`);
        await succeeds(api.call('DELETE', `authenticators/${data[0]!.id}`));
      },
      'its identity is deleted': ({ id }) => succeeds(api.call('DELETE', `identities/${id}`)),
    }));

  it('ends with it: a password', () =>
    check(password, {
      'set by an administrator': ({ id, username }) =>
        succeeds(api.call('PUT', `authenticators/updb.${id}`, { username, password: NEW_PASSWORD })),
      'set by another log-in of its identity': async ({ id, username }) => {
        const body = { username, password: PASSWORD };
        const answer = await send('/edge/client/v1/authenticate?method=password', body);
        const { token } = (answer.json as { data: { token: string } }).data;
        const path = `/edge/client/v1/current-identity/authenticators/updb.${id}`;
        const wanted = { username, currentPassword: PASSWORD, password: NEW_PASSWORD };
        const headers = { 'zt-session': token };
        await succeeds(rawRequest(api, { method: 'PUT', path, headers, body: JSON.stringify(wanted) }));
        const services = { path: '/edge/client/v1/services', headers };
        assert.equal((await rawRequest(api, services)).status, 200, 'the session that did it continues');
      },
      'set by another enrollment': async ({ id, username }) => {
        const body = { method: 'updb', identityId: id, username };
        await succeeds(api.call('POST', 'enrollments', body));
        await enroll(id);
      },
      'its authenticator is deleted': ({ id }) => succeeds(api.call('DELETE', `authenticators/updb.${id}`)),
      'its identity is deleted': ({ id }) => succeeds(api.call('DELETE', `identities/${id}`)),
    }));

  it('ends with it: the right to administer, and no log-in at the client API', () =>
    check(
      certificate,
      { 'taken away': ({ id }) => succeeds(api.call('PATCH', `identities/${id}`, { isAdmin: false })) },
      ['session', 'bearer token', 'refresh token'],
    ));
});
