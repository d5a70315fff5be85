import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { AccessWorld, BROWSER_LINE, deltaOf, KEYS, providerOf, rulesOf } from '../testing/access-world.ts';
import { LOGIN_COOKIE, SESSION_COOKIE } from './own-cookies.ts';

const HOUR_MS = 3_600_000;

describe('sessions', () => {
  let world: AccessWorld;
  before(async () => {
    world = await AccessWorld.start({ limits: { wrongRate: { requests: 100_000, perMs: 1_000 } } });
    await world.serve('app', {
      authProviderIds: ['idp'],
      customHosts: [{ host: 'app.apps.example', authProviderIds: ['idp'] }],
    });
    await world.serve('other', { authProviderIds: ['idp'] });
    await world.serve('foreign', { authProviderIds: ['far'], frontdoorId: 'far-frontdoor' });
    await world.serve('open');
  });
  beforeEach(() => {
    world.setProviders(providerOf('idp'), providerOf('far', { frontdoorId: 'far-frontdoor' }));
  });
  after(() => world.close());

  it('admit their browser at once, and are removed from its cookies at the gateway', async () => {
    const line = world.sessionLine('app', 'idp');
    const { asked } = world.control;
    const before = asked.length;
    const cases: readonly (readonly [readonly string[], readonly string[]])[] = [
      [[line], []],
      [[line.replace('Cookie: ', 'cookie:')], []],
      [[`${line}; a=1; b="2; 3"`], ['a=1; b="2; 3"']],
      [[line.replace('Cookie: ', 'Cookie: a=1;b;')], ['a=1;b']],
      [
        [line.replace('Cookie: ', `Cookie: ${LOGIN_COOKIE}=x; a=1; `), 'Cookie: c=d'],
        ['c=d', 'a=1'],
      ],
    ];
    for (const [lines, kept] of cases) {
      assert.equal((await world.ask('app', { lines })).status, 200, lines.join());
      const { rawHeaders } = world.last('app');
      const cookies = rawHeaders.filter((_, i) => rawHeaders[i - 1]?.toLowerCase() === 'cookie');
      assert.deepEqual(cookies, kept, lines.join());
      assert.doesNotMatch(rawHeaders.join(), /__Host-frontdoor/);
    }
    assert.equal(asked.length, before + 1, 'the control plane is asked once');
  });

  it('never reach an origin, not on open shares either', async () => {
    const line = world.sessionLine('open', 'idp');
    assert.equal((await world.ask('open', { lines: [`${line}; a=1`] })).status, 200);
    assert.equal(world.last('open').headers.cookie, 'a=1');
    assert.equal((await world.ask('open', { lines: [line, 'X-A: 1'] })).status, 200);
    assert.equal(world.last('open').headers.cookie, undefined);
    assert.equal(world.last('open').headers['x-a'], '1');
  });

  it('of one share open no other: not of the same organization, nor of another, nor its own other names', async () => {
    const line = world.sessionLine('app', 'idp');
    assert.equal((await world.ask('app', { lines: [line] })).status, 200);
    const hits = world.hits('other') + world.hits('foreign') + world.hits('app');
    for (const host of ['other.share.localhost', 'foreign.share.localhost', 'app.apps.example']) {
      assert.equal((await world.ask('', { host, lines: [line] })).status, 401, host);
      assert.equal((await world.ask('', { host, lines: [line, BROWSER_LINE] })).status, 302, host);
    }
    assert.equal(world.hits('other') + world.hits('foreign') + world.hits('app'), hits);
    const custom = world.sessionLine('app', 'idp', { host: 'app.apps.example' });
    assert.equal((await world.ask('', { host: 'app.apps.example', lines: [custom] })).status, 200);
    assert.equal((await world.ask('app', { lines: [custom] })).status, 401);
  });

  it('that are there twice, in too many pieces or malformed are none, and cost nothing', async () => {
    const line = world.sessionLine('app', 'idp');
    const [, value = ''] = line.split(`${SESSION_COOKIE}=`);
    const { asked } = world.control;
    await world.ask('app', { lines: [line] });
    const before = asked.length;
    const many = Array.from({ length: 11 }, (_, i) => `__Host-frontdoor-${i}=x`).join('; ');
    const doubled = [
      [`${line}; ${SESSION_COOKIE}=${value}`],
      [line, line],
      [line, `Cookie: ${SESSION_COOKIE}=`],
      [`${line}; ${many}`],
    ];
    for (const lines of doubled) {
      const answer = await world.ask('app', { lines });
      assert.equal(answer.status, 401, lines.join());
      assert.match(answer.setCookies.join(), new RegExp(`${SESSION_COOKIE}=; .*Max-Age=0`));
    }
    const wrong = ['n=999999999|x', `${value}x`, value.slice(1), `"${value}"`, '', `${value}=`, `${value},`];
    const used = process.memoryUsage().rss;
    await Promise.all(
      Array.from({ length: 100 }, async (_, i) => {
        const text = wrong[i % wrong.length]!;
        const answer = await world.ask('app', { lines: [`Cookie: ${SESSION_COOKIE}=${text}`] });
        assert.equal(answer.status, 401, text);
      }),
    );
    assert.ok(process.memoryUsage().rss - used < 64 * 1_048_576);
    assert.equal(asked.length, before, 'the control plane is not asked');
  });

  it('that nobody has are asked about once in ten seconds', async () => {
    const lines = [`Cookie: ${SESSION_COOKIE}=${'b'.repeat(43)}`];
    const { asked } = world.control;
    const before = asked.length;
    const answers = await Promise.all(Array.from({ length: 20 }, () => world.ask('app', { lines })));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [401]);
    assert.equal((await world.ask('app', { lines })).status, 401);
    assert.equal(asked.length, before + 1);
    world.advance(10_000);
    await world.ask('app', { lines });
    assert.equal(asked.length, before + 2);
  });

  it('end after the idle time of the rules, unless another gateway has seen them since', async () => {
    world.publish('app', {
      authProviderIds: ['idp'],
      rules: rulesOf({ session: { idleMs: HOUR_MS, absoluteMs: 10 * HOUR_MS } }),
      updatedAtMs: 2,
    });
    const line = world.sessionLine('app', 'idp');
    const [, token = ''] = line.split('=');
    for (let i = 0; i < 3; i += 1) {
      assert.equal((await world.ask('app', { lines: [line] })).status, 200);
      world.advance(HOUR_MS - 1);
    }
    world.advance(1);
    const session = world.control.sessions.get(token)!;
    world.control.sessions.set(token, { ...session, lastUsedAtMs: world.clock.nowMs() - 1_000 });
    assert.equal((await world.ask('app', { lines: [line] })).status, 200, 'used elsewhere');
    world.advance(HOUR_MS);
    assert.equal((await world.ask('app', { lines: [line] })).status, 401);
    const custom = world.sessionLine('app', 'idp', { host: 'app.apps.example' });
    assert.equal((await world.ask('app', { lines: [custom] })).status, 401);
  });

  it('end after their maximum age, however often they are used, and earlier when the rules are changed so', async () => {
    const rules = (hours: number) =>
      rulesOf({ session: { idleMs: 24 * HOUR_MS, absoluteMs: hours * HOUR_MS } });
    world.publish('app', { authProviderIds: ['idp'], rules: rules(4), updatedAtMs: 3 });
    const line = world.sessionLine('app', 'idp');
    for (let i = 0; i < 4; i += 1) {
      assert.equal((await world.ask('app', { lines: [line] })).status, 200);
      world.advance(HOUR_MS);
    }
    assert.equal((await world.ask('app', { lines: [line] })).status, 401);
    const second = world.sessionLine('app', 'idp');
    assert.equal((await world.ask('app', { lines: [second] })).status, 200);
    world.advance(2 * HOUR_MS);
    world.publish('app', { authProviderIds: ['idp'], rules: rules(2), updatedAtMs: 4 });
    assert.equal((await world.ask('app', { lines: [second] })).status, 401);
  });

  it('end when they are ended elsewhere, also when that arrives before the answer about them', async () => {
    const line = world.sessionLine('other', 'idp');
    const [, token = ''] = line.split('=');
    const { id } = world.control.sessions.get(token)!;
    assert.equal((await world.ask('other', { lines: [line] })).status, 200);
    world.access.change(deltaOf({ endedSessions: [id] }));
    assert.equal((await world.ask('other', { lines: [line] })).status, 401);

    const second = world.sessionLine('other', 'idp');
    const { id: secondId } = world.control.sessions.get(second.split('=')[1]!)!;
    const asking = world.ask('other', { lines: [second] });
    world.access.change(deltaOf({ endedSessions: [secondId] }));
    assert.equal((await asking).status, 401);
  });

  it('are looked up again after words of the control plane may have been missed', async () => {
    const line = world.sessionLine('other', 'idp');
    assert.equal((await world.ask('other', { lines: [line] })).status, 200);
    world.control.sessions.delete(line.split('=')[1]!);
    world.access.replaceAll({ providers: [providerOf('idp')], zones: ['share.localhost'], keys: KEYS });
    assert.equal((await world.ask('other', { lines: [line] })).status, 401);
  });

  it('end when their provider is changed, disabled, detached or deleted; not when it is renamed', async () => {
    const line = world.sessionLine('other', 'idp');
    const ask = async () => (await world.ask('other', { lines: [line] })).status;
    assert.equal(await ask(), 200);
    world.setProviders(providerOf('idp', { name: 'Renamed' }));
    assert.equal(await ask(), 200);
    world.setProviders(providerOf('idp', { enabled: false }));
    assert.equal(await ask(), 401);
    world.setProviders(providerOf('idp'));
    assert.equal(await ask(), 200);
    world.publish('other', { authProviderIds: ['another'], updatedAtMs: 5 });
    assert.equal(await ask(), 401);
    world.publish('other', { authProviderIds: ['idp'], updatedAtMs: 6 });
    assert.equal(await ask(), 200);
    world.access.change(deltaOf({ removedProviders: ['idp'] }));
    assert.equal(await ask(), 401);
    world.setProviders(providerOf('idp', { version: 2 }));
    assert.equal(await ask(), 401);
  });

  it('must match the present e-mail and claim rules, with 403 for a person that does not', async () => {
    await world.serve('ruled', { authProviderIds: ['idp'], rules: rulesOf({ emails: ['*@example.com'] }) });
    const line = world.sessionLine('ruled', 'idp');
    const ask = async () => (await world.ask('ruled', { lines: [line, BROWSER_LINE] })).status;
    assert.equal(await ask(), 200);
    world.publish('ruled', {
      authProviderIds: ['idp'],
      rules: rulesOf({ emails: ['*@other.example'] }),
      updatedAtMs: 2,
    });
    const refused = await world.ask('ruled', { lines: [line, BROWSER_LINE] });
    assert.equal(refused.status, 403);
    assert.match(refused.body, /do not have access.*\/\.frontdoor\/logout/);
    const claims = [
      { claim: 'groups', anyOf: ['staff'] },
      { claim: 'department', anyOf: ['sales'] },
    ];
    world.publish('ruled', { authProviderIds: ['idp'], rules: rulesOf({ claims }), updatedAtMs: 3 });
    assert.equal(await ask(), 200);
    const more = [...claims, { claim: 'department', anyOf: ['engineering'] }];
    world.publish('ruled', { authProviderIds: ['idp'], rules: rulesOf({ claims: more }), updatedAtMs: 4 });
    assert.equal(await ask(), 403);
  });

  it('are looked up a few at a time: the others get a Retry-After', async () => {
    const few = await AccessWorld.start({ limits: { maxLookups: 3 } });
    try {
      few.setProviders(providerOf('idp'));
      await few.serve('app', { authProviderIds: ['idp'] });
      const { promise, resolve } = Promise.withResolvers<void>();
      few.control.gate = promise;
      const lines = Array.from({ length: 5 }, () => [few.sessionLine('app', 'idp')]);
      const waiting = lines.slice(0, 3).map((line) => few.ask('app', { lines: line }));
      await few.world.eventually(() => few.control.asked.length === 3, 'three are asked about');
      for (const line of lines.slice(3)) assert.equal((await few.ask('app', { lines: line })).status, 503);
      resolve();
      for (const answer of await Promise.all(waiting)) assert.equal(answer.status, 200);
      assert.equal((await few.ask('app', { lines: lines[4]! })).status, 200);
    } finally {
      await few.close();
    }
  });

  it('that another version of the control plane describes otherwise prove nobody, with 503, and end nothing else', async () => {
    const bad = [{ identity: undefined }, { identity: { subject: 7, groups: [] } }, { id: 7 }];
    for (const more of bad as unknown as readonly object[]) {
      const answer = await world.ask('app', { lines: [world.sessionLine('app', 'idp', more)] });
      assert.equal(answer.status, 503);
    }
    const good = [world.sessionLine('app', 'idp')];
    assert.equal((await world.ask('app', { lines: good })).status, 200);
  });

  it('are forgotten one by one when there are too many, and still end when they are ended', async () => {
    const few = await AccessWorld.start({ limits: { maxSessions: 4 } });
    try {
      few.setProviders(providerOf('idp'));
      await few.serve('app', { authProviderIds: ['idp'] });
      const line = few.sessionLine('app', 'idp');
      const ask = async (cookie: string) => (await few.ask('app', { lines: [cookie] })).status;
      for (let i = 0; i < 8; i += 1) {
        assert.equal(await ask(line), 200);
        assert.equal(await ask(few.sessionLine('app', 'idp')), 200);
      }
      assert.equal(few.control.asked.length, 9, 'the one in use was never forgotten');
      const { id } = few.control.sessions.get(line.split('=')[1]!)!;
      few.access.change(deltaOf({ endedSessions: [id] }));
      assert.equal(await ask(line), 401);
    } finally {
      await few.close();
    }
  });

  it('report when they were last used', async () => {
    const line = world.sessionLine('foreign', 'far');
    const { id } = world.control.sessions.get(line.split('=')[1]!)!;
    await world.access.reportUsage();
    const before = world.control.usage.length;
    assert.equal((await world.ask('foreign', { lines: [line] })).status, 200);
    await world.access.reportUsage();
    // It also reports by itself, every thirty seconds.
    const sessions = world.control.usage.slice(before).flatMap((usage) => usage.sessions);
    assert.deepEqual(sessions, [{ id, lastUsedAtMs: world.clock.nowMs() }]);
  });
});

describe('without the control plane', () => {
  it('identities are believed for sixty seconds, then 503, and what needs none continues', async () => {
    const world = await AccessWorld.start();
    try {
      world.setProviders(providerOf('idp'));
      await world.serve('app', { authProviderIds: ['idp'], rules: rulesOf({ publicPaths: ['/health'] }) });
      await world.serve('open');
      await world.serve('inside', { rules: rulesOf({ ip: { allow: ['127.0.0.0/8'], deny: [] } }) });
      const lines = [world.sessionLine('app', 'idp')];
      assert.equal((await world.ask('app', { lines })).status, 200);
      world.control.isAway = true;
      world.clock.advance(59_999);
      assert.equal((await world.ask('app', { lines })).status, 200);
      world.clock.advance(1);
      const hits = world.hits('app');
      for (const more of [lines, [BROWSER_LINE], []]) {
        const answer = await world.ask('app', { lines: more });
        assert.equal(answer.status, 503);
        assert.ok(Number(answer.headers.get('retry-after')) > 0);
      }
      assert.equal(world.hits('app'), hits);
      assert.equal((await world.ask('app', { path: '/health' })).status, 200);
      assert.equal((await world.ask('open')).status, 200);
      assert.equal((await world.ask('inside')).status, 200);
      world.access.onContact();
      assert.equal((await world.ask('app', { lines })).status, 200);
    } finally {
      await world.close();
    }
  });

  it('a gateway that starts with its stored shares admits nobody before the control plane answers', async () => {
    const world = await AccessWorld.start();
    const restarted = await AccessWorld.start();
    try {
      world.setProviders(providerOf('idp'));
      const kept = world.access.kept();
      const none = { apiKeyPepper: '', identityKeys: [] };
      restarted.access.replaceAll({ ...kept, keys: none });
      await restarted.serve('app', { authProviderIds: ['idp'] });
      await restarted.serve('open');
      const lines = [restarted.sessionLine('app', 'idp')];
      assert.equal((await restarted.ask('app', { lines })).status, 503);
      restarted.access.onContact();
      assert.equal((await restarted.ask('app', { lines })).status, 503, 'a word without keys is none');
      assert.equal((await restarted.ask('open')).status, 200);
      assert.equal(restarted.hits('app'), 0);
    } finally {
      await Promise.all([world.close(), restarted.close()]);
    }
  });
});
