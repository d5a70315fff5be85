import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, afterEach, before, it } from 'node:test';
import { silentLog } from '#base';
import { until } from '../../../../test/support/deadline.ts';
import {
  DEFAULT_CLIENT,
  startIdentityProvider,
  type IdentityProvider,
} from '../../../../test/support/identity-provider.ts';
import { goThroughProvider } from '../../../../test/support/login-browser.ts';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { makeLoginState } from './login-state.ts';
import { LoginSweep } from './login-sweep.ts';
import {
  browserOf,
  callbackOf,
  logIn,
  loginStart,
  openLoginFixture,
  type LoginFixture,
  type LoginShare,
} from './login-fixture.ts';

const ANN = { sub: 'ann', email: 'Ann@Example.com', name: 'Ann', groups: ['staff', 'admin'] };
const BOB = { sub: 'bob', email: 'bob@example.com', emailVerified: false };

describeEachStore('log-ins at shares', (open) => {
  let idp: IdentityProvider;
  let world: LoginFixture;
  let providerId: string;
  let share: LoginShare;
  const data = () => ({
    issuer: idp.issuer,
    client_id: DEFAULT_CLIENT.id,
    client_secret: DEFAULT_CLIENT.secret,
    scopes: ['email', 'profile', 'groups'],
  });
  before(async () => {
    idp = await startIdentityProvider({ users: [ANN, BOB] });
    idp.loggedInAs = 'ann';
    world = await openLoginFixture({ open });
    providerId = (await world.addProvider('OIDC', data())).id;
    share = await world.addShare('app', [providerId]);
  });
  // What the provider signs is judged by the real time.
  const resetClock = (): void => world.clock.advance(Date.now() - world.clock.nowMs());
  afterEach(resetClock);
  after(async () => {
    await world.close();
    await idp.close();
  });

  it('end in a session of the person whom the provider names', async () => {
    const redeemed = await logIn(world.parts, loginStart(share, providerId, { returnTo: '/a?b=c' }));
    assert.equal(redeemed.type, 'session');
    if (redeemed.type !== 'session') return;
    const { session, token, returnTo } = redeemed;
    assert.equal(returnTo, '/a?b=c');
    assert.match(token, /^[\w-]{43}$/);
    const { identity } = session;
    assert.deepEqual(
      [identity.kind, identity.providerId, identity.subject, identity.email, identity.name, identity.groups],
      ['session', providerId, 'ann', 'ann@example.com', 'Ann', ['staff', 'admin']],
    );
    assert.deepEqual([session.shareId, session.host], [share.id, share.host]);
    assert.deepEqual(await world.parts.logins.find(token), session);
  });

  const session = async (name = 'app-cookie') => {
    const redeemed = await logIn(world.parts, loginStart(share, providerId, { browser: browserOf(name) }));
    assert.ok(redeemed.type === 'session', JSON.stringify(redeemed));
    return redeemed;
  };
  /** Until the code that goes to the share. */
  const code = async (start = loginStart(share, providerId)): Promise<string> => {
    const started = await world.parts.logins.start(start);
    assert.ok(started.type === 'redirect', JSON.stringify(started));
    const returned = await world.parts.logins.finish(callbackOf(await goThroughProvider(started.url)));
    assert.ok(returned.type === 'redirect', JSON.stringify(returned));
    const url = new URL(returned.url);
    assert.equal(`${url.origin}${url.pathname}`, `https://${share.host}:8443/.frontdoor/login`);
    return url.searchParams.get('code')!;
  };
  const redemption = (value: string, more = {}) => ({
    shareId: share.id,
    host: share.host,
    code: value,
    browser: browserOf('a cookie'),
    ...more,
  });
  const notValid = { type: 'refused', reason: 'attempt-not-valid' };
  const notAvailable = { type: 'refused', reason: 'provider-not-available' };

  it('ask with PKCE, a state and a nonce of 256 bits, and the exact redirect address of the zone', async () => {
    const started = await world.parts.logins.start(loginStart(share, providerId));
    assert.ok(started.type === 'redirect');
    const { searchParams } = new URL(started.url);
    const { state, nonce, code_challenge, ...rest } = Object.fromEntries(searchParams);
    assert.match(state ?? '', /^[\w-]{64}$/);
    for (const value of [nonce, code_challenge]) assert.match(value ?? '', /^[\w-]{43}$/);
    assert.deepEqual(rest, {
      client_id: DEFAULT_CLIENT.id,
      redirect_uri: `https://oauth.share.localhost:8443/${providerId}/auth/callback`,
      response_type: 'code',
      scope: 'openid email profile groups',
      code_challenge_method: 'S256',
    });
    const again = await world.parts.logins.start(loginStart(share, providerId, { port: 443 }));
    assert.ok(again.type === 'redirect');
    const second = new URL(again.url).searchParams;
    assert.equal(second.get('redirect_uri'), `https://oauth.share.localhost/${providerId}/auth/callback`);
    assert.notEqual(second.get('state'), state);
  });

  it('keep state, nonce, verifier, code and token out of the log, and out of the store in clear', async () => {
    const returnTo = '/?invitation=a-secret-of-the-application';
    const started = await world.parts.logins.start(loginStart(share, providerId, { returnTo }));
    assert.ok(started.type === 'redirect');
    const { state, nonce } = Object.fromEntries(new URL(started.url).searchParams);
    const back = callbackOf(await goThroughProvider(started.url));
    const returned = await world.parts.logins.finish(back);
    assert.ok(returned.type === 'redirect');
    const value = new URL(returned.url).searchParams.get('code')!;
    const attempts = JSON.stringify(await world.store.db.selectFrom('login_attempt').selectAll().execute());
    const redeemed = await world.parts.logins.redeem(redemption(value));
    assert.ok(redeemed.type === 'session');
    const sessions = JSON.stringify(await world.store.db.selectFrom('login_session').selectAll().execute());
    for (const secret of [state!, nonce!, back.parameters['code']!, value, redeemed.token, returnTo]) {
      for (const text of [attempts, sessions, world.logged.join()]) assert.ok(!text.includes(secret));
    }
  });

  it('give the session for a code to one of a hundred simultaneous requests', async () => {
    const value = await code();
    const all = await Promise.all(
      Array.from({ length: 100 }, () => world.parts.logins.redeem(redemption(value))),
    );
    assert.equal(all.filter(({ type }) => type === 'session').length, 1);
    assert.equal(all.filter(({ type }) => type === 'refused').length, 99);
    assert.deepEqual(await world.parts.logins.redeem(redemption(value)), notValid);
  });

  it('give nothing for a code to another browser, share or host, nor half a minute later', async () => {
    const other = await world.addShare('other', [providerId]);
    const value = await code();
    for (const wrong of [
      { browser: browserOf('the cookie of someone else') },
      { shareId: other.id },
      { host: other.host },
      { shareId: other.id, host: other.host },
      { code: `${value}x` },
      { code: '' },
    ]) {
      assert.deepEqual(await world.parts.logins.redeem(redemption(value, wrong)), notValid);
    }
    assert.equal(
      (await world.parts.logins.redeem(redemption(value))).type,
      'session',
      'none of them spent it',
    );
    const late = await code();
    world.clock.advance(30_000);
    assert.deepEqual(await world.parts.logins.redeem(redemption(late)), notValid);
  });

  it('take an answer of the provider once, for its provider and zone, within ten minutes', async () => {
    const { logins } = world.parts;
    const other = (await world.addProvider('OIDC', data())).id;
    await world.setProviders(share, [providerId, other]);
    const started = await logins.start(loginStart(share, providerId));
    assert.ok(started.type === 'redirect');
    const back = callbackOf(await goThroughProvider(started.url));
    const { state: _state, ...stateless } = back.parameters;
    const unknown = {
      ...back,
      parameters: { ...back.parameters, state: makeLoginState(world.secrets) },
    };
    assert.deepEqual(await logins.finish({ ...back, parameters: stateless }), notValid);
    assert.deepEqual(await logins.finish(unknown), notValid);
    assert.deepEqual(await logins.finish({ ...back, providerId: other }), notValid, 'mix-up');
    const hundred = await Promise.all(Array.from({ length: 100 }, () => logins.finish(back)));
    assert.equal(hundred.filter(({ type }) => type === 'redirect').length, 1);
    assert.deepEqual(await logins.finish(back), notValid);

    const elsewhere = await logins.start(loginStart(share, providerId));
    assert.ok(elsewhere.type === 'redirect');
    const wrongZone = callbackOf(await goThroughProvider(elsewhere.url));
    assert.deepEqual(await logins.finish({ ...wrongZone, host: 'oauth.other.localhost' }), notValid);
    assert.deepEqual(await logins.finish(wrongZone), notValid, 'and it is spent');

    const late = await logins.start(loginStart(share, providerId));
    assert.ok(late.type === 'redirect');
    const tooLate = callbackOf(await goThroughProvider(late.url));
    world.clock.advance(600_000);
    assert.deepEqual(await logins.finish(tooLate), notValid);
    await world.setProviders(share, [providerId]);
  });

  it('are refused where the person denies the request, and nothing of the attempt stays', async () => {
    idp.loggedInAs = 'nobody';
    const refused = await logIn(world.parts, loginStart(share, providerId));
    idp.loggedInAs = 'ann';
    assert.deepEqual(refused, { type: 'refused', reason: 'denied' });
    assert.ok(world.logged.some((line) => line.includes('the provider says access_denied')));
  });

  it('name an e-mail only when the provider has verified it', async () => {
    idp.loggedInAs = 'bob';
    const redeemed = await session();
    await world.changeProvider(providerId, { data: { ...data(), trust_email: true } });
    const trusted = await session();
    await world.changeProvider(providerId, { data: data() });
    idp.loggedInAs = 'ann';
    assert.equal(redeemed.session.identity.email, null);
    assert.equal(trusted.session.identity.email, null, 'what it says is unverified never counts');
  });

  it('go no further when the provider is disabled, detached, changed or gone in between', async () => {
    const { logins } = world.parts;
    const isolated = (await world.addProvider('OIDC', data())).id;
    const place = await world.addShare('isolated', [isolated]);
    const start = loginStart(place, isolated);
    const begun = async () => {
      const started = await logins.start(start);
      assert.ok(started.type === 'redirect');
      return callbackOf(await goThroughProvider(started.url));
    };
    const returned = async () => {
      const back = await logins.finish(await begun());
      assert.ok(back.type === 'redirect');
      return {
        shareId: place.id,
        host: place.host,
        code: new URL(back.url).searchParams.get('code')!,
        browser: start.browser,
      };
    };
    const changes: [string, () => Promise<unknown>, () => Promise<unknown>][] = [
      [
        'disabled',
        () => world.changeProvider(isolated, { enabled: false }),
        () => world.changeProvider(isolated, { enabled: true }),
      ],
      [
        'changed',
        () => world.changeProvider(isolated, { data: { ...data(), scopes: ['email'] } }),
        async () => {},
      ],
      [
        'detached',
        () => world.setProviders(place, [providerId]),
        () => world.setProviders(place, [isolated]),
      ],
    ];
    for (const [what, change, back] of changes) {
      const [callback, code_] = [await begun(), await returned()];
      const { token } = (await logIn(world.parts, start)) as { token: string };
      assert.notEqual(await logins.find(token), null);
      await change();
      if (what !== 'changed') assert.deepEqual(await logins.start(start), notAvailable, what);
      assert.deepEqual(await logins.finish(callback), notAvailable, what);
      assert.deepEqual(await logins.redeem(code_), notAvailable, what);
      assert.equal(await logins.find(token), null, what);
      await back();
    }
    const { token } = (await logIn(world.parts, start)) as { token: string };
    const callback = await begun();
    await world.changeProvider(isolated, { name: 'Renamed' });
    assert.equal((await logins.finish(callback)).type, 'redirect', 'a name is nothing');
    assert.notEqual(await logins.find(token), null);
    for (const wrong of [
      { shareId: share.id, host: share.host },
      { host: share.host },
      { shareId: '00000000-0000-0000-0000-000000000000' },
    ]) {
      assert.deepEqual(await logins.start({ ...start, ...wrong }), notAvailable);
    }
  });

  it('make sessions that end when nobody uses them, at their longest age, and when they are ended', async () => {
    const { logins } = world.parts;
    const hourMs = 3_600_000;
    const { token, session: first } = await session('one');
    const { token: second } = await session('two');
    assert.notEqual(token, second);
    world.clock.advance(8 * hourMs - 1);
    assert.notEqual(await logins.find(token), null);
    await world.store.db
      .updateTable('login_session')
      .set({ last_used_at: world.clock.nowMs() })
      .where('id', '=', first.id)
      .execute();
    world.clock.advance(1);
    assert.notEqual(await logins.find(token), null, 'it was used');
    assert.equal(await logins.find(second), null, 'idle');
    for (let day = 0; day < 6; day += 1) {
      world.clock.advance(24 * hourMs);
      await world.store.db
        .updateTable('login_session')
        .set({ last_used_at: world.clock.nowMs() })
        .where('id', '=', first.id)
        .execute();
    }
    assert.notEqual(await logins.find(token), null);
    world.clock.advance(24 * hourMs);
    assert.equal(await logins.find(token), null, 'a week old');

    resetClock();
    const { token: third, session: ended } = await session('three');
    const received: unknown[] = [];
    world.parts.access.onChange((change) => received.push(change));
    await logins.end(third);
    assert.equal(await logins.find(third), null);
    assert.deepEqual(received, [{ type: 'ended-session', id: ended.id }]);
    await logins.end(third);
    await logins.end('no session at all');
    assert.equal(received.length, 1);
  });

  it('are one, whichever control plane takes the next step', async () => {
    const [second, third] = [await world.another(), await world.another()];
    const start = loginStart(share, providerId);
    const started = await world.parts.logins.start(start);
    assert.ok(started.type === 'redirect');
    const returned = await second.logins.finish(callbackOf(await goThroughProvider(started.url)));
    assert.ok(returned.type === 'redirect');
    const value = new URL(returned.url).searchParams.get('code')!;
    const redeemed = await third.logins.redeem(redemption(value));
    assert.ok(redeemed.type === 'session');
    assert.deepEqual(await world.parts.logins.find(redeemed.token), redeemed.session);
    await second.logins.end(redeemed.token);
    assert.equal(await third.logins.find(redeemed.token), null);
    assert.deepEqual(
      second.access.keys(),
      world.parts.access.keys(),
      'origins are sent the same, whichever of the two signs',
    );
  });

  it('are bounded: so many under way of a network, of a share and in all', async () => {
    const { store } = world;
    const crowded = await world.addShare('crowded', [providerId]);
    const insert = async (count: number, shareId: string, address: string): Promise<void> => {
      const row = {
        share_id: shareId,
        auth_provider_id: providerId,
        provider_version: 1,
        host: crowded.host,
        port: 443,
        browser: 'b',
        address,
        secrets_sealed: '',
        created_at: world.clock.nowMs(),
        expires_at: world.clock.nowMs() + 600_000,
      };
      for (let at = 0; at < count; at += 1_000) {
        const rows = Array.from({ length: Math.min(1_000, count - at) }, () => ({
          ...row,
          state_hmac: randomUUID(),
        }));
        await store.db.insertInto('login_attempt').values(rows).execute();
      }
    };
    const start = async (address: string, at = crowded) =>
      (await world.parts.logins.start(loginStart(at, providerId, { address }))).type;
    await insert(200, crowded.id, '192.0.2.9');
    assert.equal(await start('192.0.2.9'), 'refused');
    assert.equal(await start('::ffff:192.0.2.9'), 'refused', 'however it is written');
    assert.equal(await start('192.0.2.10'), 'redirect', 'others continue');
    const underWay = async (shareId: string, address?: string): Promise<number> => {
      const rows = await store.db
        .selectFrom('login_attempt')
        .select('address')
        .where('share_id', '=', shareId)
        .execute();
      return rows.filter((row) => address === undefined || row.address === address).length;
    };
    await insert(799, crowded.id, '192.0.2.11');
    assert.equal(await underWay(crowded.id), 1_000);
    assert.equal(await start('192.0.2.13'), 'redirect', 'a crowd keeps nobody else out');
    assert.equal(await underWay(crowded.id), 1_000);
    assert.equal(await underWay(crowded.id, '192.0.2.11'), 798, 'who has most makes room');
    assert.equal(await underWay(crowded.id, '192.0.2.10'), 1);
    const another = await world.addShare('crowded-too', [providerId]);
    await insert(19_000, another.id, '192.0.2.12');
    assert.equal(await start('192.0.2.1', share), 'redirect', 'nor does a crowd at another share');
    assert.equal(await underWay(another.id), 18_999);
    world.clock.advance(600_001);
    assert.equal(await start('192.0.2.9'), 'redirect', 'what is past its time no longer counts');
    const sweep = new LoginSweep({ store, clock: world.clock, log: silentLog });
    // A pass ends early where another control plane sweeps at the same moment; the next one continues.
    await until(
      'the sweep',
      async () => {
        await sweep.sweep();
        const left = await store.db.selectFrom('login_attempt').select('share_id').execute();
        return left.length;
      },
      (left) => left < 10,
    );
    await sweep.close();
  });

  it('happen at the hosts of a custom frontend by its own providers', async () => {
    const own = (await world.addProvider('OIDC', data())).id;
    const service = world.catalog.get((await world.addShare('bare', [])).id)!;
    const custom = { customFrontendId: 'c', host: 'bare.apps.example.com', authProviderIds: [own] };
    world.catalog.set({ ...service, customHosts: [custom] });
    const place = { id: service.id, token: 'bare', host: custom.host };
    const started = await world.parts.logins.start(loginStart(place, own, { port: 443 }));
    assert.ok(started.type === 'redirect');
    const redirect = new URL(started.url).searchParams.get('redirect_uri');
    assert.equal(redirect, `https://oauth.apps.example.com/${own}/auth/callback`);
    const redeemed = await logIn(world.parts, loginStart(place, own));
    assert.equal(redeemed.type, 'session');
    const bare = { ...place, host: 'bare.share.localhost' };
    assert.deepEqual(await world.parts.logins.start(loginStart(bare, own)), notAvailable);
  });

  it('at a domain of the share come back to the login host of its frontend', async () => {
    const service = world.catalog.get((await world.addShare('shop', [providerId])).id)!;
    const custom = { customFrontendId: null, host: 'shop.example.com', authProviderIds: [providerId] };
    world.catalog.set({ ...service, customHosts: [custom] });
    const place = { id: service.id, token: 'shop', host: custom.host };
    const started = await world.parts.logins.start(loginStart(place, providerId, { port: 443 }));
    assert.ok(started.type === 'redirect');
    const redirect = new URL(started.url).searchParams.get('redirect_uri');
    assert.equal(redirect, `https://oauth.share.localhost/${providerId}/auth/callback`);
  });

  it('stand in the audit trail, the first of a person in an hour', async () => {
    const place = await world.addShare('audited', [providerId]);
    const events = () =>
      world.store.db
        .selectFrom('audit_event')
        .selectAll()
        .where('action', '=', 'logInAtShare')
        .where('target_id', '=', place.id)
        .orderBy('sequence')
        .execute();
    for (let i = 0; i < 3; i += 1) await logIn(world.parts, loginStart(place, providerId));
    world.clock.advance(3_600_000);
    await logIn(world.parts, loginStart(place, providerId));
    const [first, second, ...more] = await events();
    assert.deepEqual(more, []);
    assert.deepEqual([first?.actor_kind, first?.actor_id], ['visitor', `${providerId}#ann`]);
    assert.deepEqual([first?.occurrences, second?.occurrences], [1, 3]);
    assert.equal(first?.organization_id, world.frontdoor.organizationId);
  });

  it('succeed a hundred times of a hundred, ten at once', async () => {
    let good = 0;
    const one = async (of: number): Promise<void> => {
      for (let i = 0; i < 10; i += 1) {
        const start = loginStart(share, providerId, { browser: browserOf(`${of}-${i}`) });
        if ((await logIn(world.parts, start)).type === 'session') good += 1;
      }
    };
    await Promise.all(Array.from({ length: 10 }, (_, of) => one(of)));
    assert.equal(good, 100);
  });

  it('keep no more than a hundred sessions of one person at a share', async () => {
    await session();
    const rows = await world.store.db
      .selectFrom('login_session')
      .select((eb) => eb.fn.countAll<number | string>().as('count'))
      .where('share_id', '=', share.id)
      .where('subject', '=', 'ann')
      .executeTakeFirstOrThrow();
    assert.equal(Number(rows.count), 100);
  });
});
