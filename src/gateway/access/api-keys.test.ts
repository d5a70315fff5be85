import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  AccessWorld,
  BROWSER_LINE,
  keyProviderOf,
  keyRecord,
  providerOf,
  rulesOf,
} from '../testing/access-world.ts';

describe('API keys', () => {
  let world: AccessWorld;
  before(async () => {
    world = await AccessWorld.start();
    const { clock } = world;
    world.setProviders(
      keyProviderOf('header', {
        keys: [
          keyRecord('reports', 'key-of-reports'),
          keyRecord('soon over', 'key-that-ends', clock.nowMs() + 60_000),
        ],
      }),
      keyProviderOf('query', { placement: 'query', name: 'api_key', keys: [keyRecord('q', 'k+y &1')] }),
      keyProviderOf('bearer', { placement: 'bearer', name: '', keys: [keyRecord('b', 'bearer-key')] }),
      keyProviderOf('foreign', { keys: [keyRecord('f', 'foreign-key')] }, { frontdoorId: 'other' }),
    );
    for (const name of ['header', 'query', 'bearer', 'foreign'])
      await world.serve(name, { authProviderIds: [name] });
    await world.serve('both', { authProviderIds: ['header', 'bearer'] });
  });
  after(() => world.close());

  it('admit a caller by header, and are not forwarded', async () => {
    const lines = ['X-Before: 1', 'x-API-key:   key-of-reports  ', 'X-After: 2'];
    for (const isPlain of [true, false]) {
      const answer = await world.ask('header', { lines, isPlain });
      assert.equal(answer.status, 200);
      const { headers } = world.last('header');
      assert.equal(headers['x-api-key'], undefined);
      assert.equal(headers['x-before'], '1');
      assert.equal(headers['x-after'], '2');
      assert.equal(headers['zrok-auth-provider'], undefined);
    }
  });

  it('refuse what is wrong, empty, in another place or doubled, and never send a browser on', async () => {
    const hits = world.hits('header');
    const cases: readonly (readonly [readonly string[], number])[] = [
      [[], 401],
      [['X-Api-Key: wrong'], 401],
      [['X-Api-Key:'], 401],
      [['X-Api-Key: key-of-reports, key-of-reports'], 401],
      [['X-Api-Key: KEY-OF-REPORTS'], 401],
      [['X_Api_Key: key-of-reports'], 401],
      [['Authorization: Bearer key-of-reports'], 401],
      [['X-Api-Key: key-of-reports', 'X-Api-Key: key-of-reports'], 400],
      [['X-Api-Key: key-of-reports', 'x-api-key: wrong'], 400],
      [['X-Api-Key: key-of-reports', 'X_Api_Key: key-of-reports'], 400],
      [['X_Api_Key: key-of-reports', 'X-Api-Key: key-of-reports'], 400],
    ];
    for (const [lines, status] of cases) {
      const answer = await world.ask('header', { lines: [...lines, BROWSER_LINE] });
      assert.equal(answer.status, status, lines.join('; '));
      assert.equal(answer.headers.get('location'), undefined);
      assert.equal(answer.headers.get('cache-control'), 'no-store');
    }
    assert.equal((await world.ask('header', { path: '/?X-Api-Key=key-of-reports' })).status, 401);
    assert.match(
      (await world.ask('header')).headers.get('www-authenticate') ?? '',
      /^ApiKey realm="header\.share\.localhost", in="header", name="X-Api-Key"$/,
    );
    assert.equal(world.hits('header'), hits);
  });

  it('admit a caller by query, decoded once, and leave the rest of the target unchanged', async () => {
    const key = 'k%2By%20%261';
    const cases: readonly (readonly [string, string])[] = [
      [`/a?api_key=${key}`, '/a'],
      [`/a%20b?x=%41&api_key=${key}&y=1;2&&z`, '/a%20b?x=%41&y=1;2&&z'],
      [`/?api%5fkey=${key}&b`, '/?b'],
      [`/?b=2&api_key=k%2By+%261`, '/?b=2'],
    ];
    for (const [path, url] of cases) {
      assert.equal((await world.ask('query', { path })).status, 200, path);
      assert.equal(world.last('query').url, url);
    }
    for (const path of [`/?api_key=${key}&api_key=${key}`, `/?api_key=x&api%5Fkey=${key}`])
      assert.equal((await world.ask('query', { path })).status, 400, path);
    for (const path of ['/', '/?api_key', `/?API_KEY=${key}`, `/api_key=${key}`, '/?api_key=k%2By'])
      assert.equal((await world.ask('query', { path })).status, 401, path);
  });

  it('admit a caller as bearer, for any case of the scheme, in exactly one form', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const answer = await world.ask('bearer', { lines: [`Authorization: ${scheme} bearer-key`] });
      assert.equal(answer.status, 200);
      assert.equal(world.last('bearer').headers.authorization, undefined);
    }
    const wrong = ['Bearer  bearer-key', 'Bearer', 'Bearer bearer-key x', 'Basic bearer-key', 'bearer-key'];
    for (const value of wrong)
      assert.equal((await world.ask('bearer', { lines: [`Authorization: ${value}`] })).status, 401, value);
    const twice = ['Authorization: Bearer bearer-key', 'Authorization: Bearer bearer-key'];
    assert.equal((await world.ask('bearer', { lines: twice })).status, 400);
    const proxy = ['Proxy-Authorization: Bearer bearer-key'];
    assert.equal((await world.ask('bearer', { lines: proxy })).status, 401);
    assert.equal((await world.ask('bearer', { lines: [...proxy, 'Authorization: Bearer no'] })).status, 401);
  });

  it('of several providers any one is enough, and what is wrong does not hide what is right', async () => {
    const lines = ['X-Api-Key: wrong', 'Authorization: Bearer bearer-key'];
    assert.equal((await world.ask('both', { lines })).status, 200);
    assert.equal((await world.ask('both', { lines: ['X-Api-Key: key-of-reports'] })).status, 200);
  });

  it('leave an Authorization alone that nothing here reads', async () => {
    const lines = ['X-Api-Key: key-of-reports', 'Authorization: Bearer of-the-service'];
    assert.equal((await world.ask('header', { lines })).status, 200);
    assert.equal(world.last('header').headers.authorization, 'Bearer of-the-service');
  });

  it('of one share open no other, and providers of other frontdoors open none', async () => {
    const hits = world.hits('bearer') + world.hits('foreign');
    assert.equal((await world.ask('bearer', { lines: ['X-Api-Key: key-of-reports'] })).status, 401);
    assert.equal(
      (await world.ask('bearer', { lines: ['Authorization: Bearer key-of-reports'] })).status,
      401,
    );
    assert.equal((await world.ask('foreign', { lines: ['X-Api-Key: foreign-key'] })).status, 401);
    assert.equal(world.hits('bearer') + world.hits('foreign'), hits);
  });

  it('end with their time, with their removal, and while their provider is disabled', async () => {
    const ends = ['X-Api-Key: key-that-ends'];
    assert.equal((await world.ask('header', { lines: ends })).status, 200);
    world.advance(60_000);
    assert.equal((await world.ask('header', { lines: ends })).status, 401);

    const lines = ['X-Api-Key: key-of-reports'];
    const keys = [keyRecord('reports', 'key-of-reports'), keyRecord('new', 'new-key')];
    world.setProviders(keyProviderOf('header', { keys }, { enabled: false }));
    const refused = await world.ask('header', { lines: [...lines, 'Accept: application/json'] });
    assert.equal(refused.status, 401);
    assert.equal((JSON.parse(refused.body) as { error: string }).error, 'provider-disabled');
    world.setProviders(keyProviderOf('header', { keys }));
    assert.equal((await world.ask('header', { lines })).status, 200);
    assert.equal((await world.ask('header', { lines: ['X-Api-Key: new-key'] })).status, 200);
    world.setProviders(keyProviderOf('header', { keys: keys.slice(1) }));
    assert.equal((await world.ask('header', { lines })).status, 401);
    assert.equal((await world.ask('header', { lines: ['X-Api-Key: new-key'] })).status, 200);
  });

  it('that come wrong too often from one address are not checked for a while; seen ones still are', async () => {
    const limited = await AccessWorld.start({ limits: { wrongRate: { requests: 5, perMs: 10_000 } } });
    try {
      limited.setProviders(
        keyProviderOf('header', { keys: [keyRecord('a', 'right'), keyRecord('b', 'other')] }),
      );
      await limited.serve('app', { authProviderIds: ['header'] });
      assert.equal((await limited.ask('app', { lines: ['X-Api-Key: right'] })).status, 200);
      for (let i = 0; i < 5; i += 1)
        assert.equal((await limited.ask('app', { lines: [`X-Api-Key: wrong-${i}`] })).status, 401);
      const answer = await limited.ask('app', { lines: ['X-Api-Key: other'] });
      assert.equal(answer.status, 429);
      assert.equal(answer.headers.get('retry-after'), '2');
      assert.equal((await limited.ask('app', { lines: ['X-Api-Key: right'] })).status, 200);
      limited.advance(2_000);
      assert.equal((await limited.ask('app', { lines: ['X-Api-Key: other'] })).status, 200);
    } finally {
      await limited.close();
    }
  });

  it('report when they were last used, in batches that survive a control plane that is away', async () => {
    const used = await AccessWorld.start({ certifiedZones: () => ['apps.example'] });
    try {
      used.setProviders(keyProviderOf('header', { keys: [keyRecord('reports', 'right')] }));
      await used.serve('app', { authProviderIds: ['header'] });
      for (let i = 0; i < 3; i += 1) await used.ask('app', { lines: ['X-Api-Key: right'] });
      used.control.isAway = true;
      await used.access.reportUsage();
      assert.equal(used.control.usage.length, 0);
      used.control.isAway = false;
      await used.access.reportUsage();
      assert.deepEqual(used.control.usage, [
        {
          keys: [{ providerId: 'header', name: 'reports', lastUsedAtMs: used.clock.nowMs() }],
          sessions: [],
          certifiedZones: ['apps.example'],
          domains: [],
          tcpPorts: null,
          udpPorts: null,
        },
      ]);
      await used.access.reportUsage();
      assert.deepEqual(used.control.usage[1]?.keys, []);
    } finally {
      await used.close();
    }
  });

  it('are kept on disk by their provider’s name alone', () => {
    const kept = JSON.stringify(world.access.kept());
    assert.match(kept, /"header"/);
    assert.doesNotMatch(kept, /hmac/);
    assert.deepEqual(world.access.kept().zones, ['share.localhost']);
  });

  it('stand in no log and on no page', async () => {
    const lines = ['X-Api-Key: wrong-and-secret'];
    const { body } = await world.ask('header', { lines });
    const path = '/?api_key=wrong-in-query';
    const page = await world.ask('query', { path });
    assert.doesNotMatch(body + page.body, /wrong-/);
    assert.doesNotMatch(JSON.stringify(world.records), /wrong-|key-of-reports|new-key|bearer-key/);
  });

  it('are taken from no header that means something else already', async () => {
    const keys = [keyRecord('k', 'taken.share.localhost')];
    for (const name of ['Host', 'Cookie', 'content-length']) {
      world.setProviders(keyProviderOf('taken', { name, keys }));
      await world.serve('taken', { authProviderIds: ['taken'] });
      assert.equal((await world.ask('taken')).status, 401, name);
      assert.equal(world.hits('taken'), 0);
    }
  });

  it('a share whose provider is not known to the gateway is shut', async () => {
    await world.serve('lost', { authProviderIds: ['nobody'], rules: rulesOf() });
    assert.equal((await world.ask('lost', { lines: ['X-Api-Key: key-of-reports'] })).status, 401);
    assert.equal((await world.ask('lost', { lines: [BROWSER_LINE] })).status, 503);
    world.setProviders(providerOf('nobody'));
    assert.equal((await world.ask('lost', { lines: [BROWSER_LINE] })).status, 302);
    assert.equal(world.hits('lost'), 0);
  });
});
