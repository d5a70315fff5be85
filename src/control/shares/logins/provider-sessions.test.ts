import assert from 'node:assert/strict';
import { after, before, beforeEach, it } from 'node:test';
import {
  DEFAULT_CLIENT,
  startIdentityProvider,
  type IdentityProvider,
} from '../../../../test/support/identity-provider.ts';
import { goThroughProvider } from '../../../../test/support/login-browser.ts';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import type { Queries } from '../../store/mod.ts';
import type { AccessChange } from './gateway-access.ts';
import {
  browserOf,
  callbackOf,
  logIn,
  loginStart,
  openLoginFixture,
  type LoginFixture,
  type LoginShare,
} from './login-fixture.ts';
import {
  endAllSessions,
  endSessionsOf,
  findSessionProvider,
  listSessions,
  type SessionFilter,
} from './provider-sessions.ts';

const ROUNDS = 5;
const FIRST_PAGE = { page: 0, size: 100, sort: 'default', direction: 'asc' } as const;

describeEachStore('sessions that their provider’s owner ends', (open) => {
  let idp: IdentityProvider;
  let world: LoginFixture;
  let providerId: string;
  let share: LoginShare;
  const received: AccessChange[] = [];
  before(async () => {
    idp = await startIdentityProvider({
      users: [
        { sub: 'ann', email: 'ann@example.com' },
        { sub: 'bob', email: 'bob@example.com' },
      ],
    });
    world = await openLoginFixture({ open });
    world.parts.access.onChange((change) => received.push(change));
    const data = {
      issuer: idp.issuer,
      client_id: DEFAULT_CLIENT.id,
      client_secret: DEFAULT_CLIENT.secret,
    };
    providerId = (await world.addProvider('OIDC', data)).id;
    share = await world.addShare('app', [providerId]);
  });
  after(async () => {
    await world.close();
    await idp.close();
  });
  beforeEach(() => {
    received.length = 0;
    idp.loggedInAs = 'ann';
  });

  const provider = async (db: Queries = world.store.db) =>
    (await findSessionProvider(db, world.frontdoor, providerId))!;
  const end = (filter: SessionFilter): Promise<number> =>
    world.store.transaction(async (trx, touch) =>
      endSessionsOf(trx, touch, await provider(trx), filter, world.clock.nowMs()),
    );
  const subjects = async (): Promise<string[]> => {
    const page = await listSessions(world.store.db, await provider(), {}, FIRST_PAGE, world.clock.nowMs());
    return page.content.map(({ subject }) => subject);
  };
  const session = async (): Promise<string> => {
    const redeemed = await logIn(world.parts, loginStart(share, providerId));
    assert.ok(redeemed.type === 'session', JSON.stringify(redeemed));
    return redeemed.token;
  };
  /** A log-in of which only the last step lacks. */
  const proven = async () => {
    const started = await world.parts.logins.start(loginStart(share, providerId));
    assert.ok(started.type === 'redirect');
    const returned = await world.parts.logins.finish(callbackOf(await goThroughProvider(started.url)));
    assert.ok(returned.type === 'redirect', JSON.stringify(returned));
    const code = new URL(returned.url).searchParams.get('code')!;
    return () =>
      world.parts.logins.redeem({
        shareId: share.id,
        host: share.host,
        code,
        browser: browserOf('a cookie'),
      });
  };

  it('whose stored identity is damaged admit nobody, are listed without a name, and can be ended', async () => {
    const token = await session();
    await world.store.db.updateTable('login_session').set({ identity: '{"name":7}' }).execute();
    assert.equal(await world.parts.logins.find(token), null);
    const page = await listSessions(world.store.db, await provider(), {}, FIRST_PAGE, world.clock.nowMs());
    assert.deepEqual(
      page.content.map(({ subject, name }) => [subject, name]),
      [['ann', null]],
    );
    const redeem = await proven();
    await world.store.db.updateTable('login_attempt').set({ identity: 'no JSON' }).execute();
    assert.deepEqual(await redeem(), { type: 'refused', reason: 'attempt-not-valid' });
    assert.equal(await end({ subject: 'ann' }), 1);
  });

  it('admit their users no longer, at any control plane, and do not affect other users', async () => {
    const ann = await session();
    idp.loggedInAs = 'bob';
    const bob = await session();
    assert.equal(await end({ email: 'ann@example.com' }), 1);
    const other = await world.another();
    for (const { logins } of [world.parts, other]) {
      assert.equal(await logins.find(ann), null);
      assert.equal((await logins.find(bob))?.identity.subject, 'bob');
    }
    assert.equal(received.filter(({ type }) => type === 'ended-session').length, 1);
    assert.equal(await end({ subject: 'bob' }), 1);
  });

  it('end with the log-ins of the same person that lack only their last step', async () => {
    const annRedeems = await proven();
    idp.loggedInAs = 'bob';
    const bobRedeems = await proven();
    assert.equal(await end({ subject: 'ann' }), 0);
    assert.deepEqual(await annRedeems(), { type: 'refused', reason: 'attempt-not-valid' });
    assert.equal((await bobRedeems()).type, 'session');
    assert.equal(await end({ subject: 'bob' }), 1);
  });

  it(`end also a session whose code is redeemed at the same moment, ${ROUNDS} times of ${ROUNDS}`, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const redeem = await proven();
      const [redeemed] = await Promise.all([redeem(), end({ email: 'ann@example.com' })]);
      assert.deepEqual(await subjects(), [], `round ${round}`);
      if (redeemed.type === 'session') assert.equal(await world.parts.logins.find(redeemed.token), null);
    }
  });

  it('end for everyone with one message to gateways, log-ins under way included; later log-ins are accepted', async () => {
    const ann = await session();
    const redeem = await proven();
    received.length = 0;
    const total = await world.store.transaction(async (trx, touch) =>
      endAllSessions(trx, touch, await provider(trx), world.clock.nowMs()),
    );
    assert.equal(total, 1);
    assert.deepEqual(
      received.filter(({ type }) => type !== 'keys'),
      [{ type: 'provider', id: providerId }],
    );
    assert.equal(world.parts.access.provider(providerId)?.version, 2);
    assert.equal(await world.parts.logins.find(ann), null);
    assert.equal((await redeem()).type, 'refused');
    assert.deepEqual(await subjects(), []);
    assert.notEqual(await world.parts.logins.find(await session()), null);
    assert.deepEqual(await subjects(), ['ann']);
  });
});
