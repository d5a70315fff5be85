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
import { basicLine as basic, cheapHashOf as hashOf } from '../testing/basic-credentials.ts';
import { BasicCheck, readBasicPair } from './basic-check.ts';

describe('basic authentication', () => {
  let world: AccessWorld;
  const users = [
    { name: 'ann', passwordHash: hashOf('pass:word ü') },
    { name: 'bob', passwordHash: hashOf('other') },
  ];
  before(async () => {
    world = await AccessWorld.start({ limits: { wrongPasswordRate: { requests: 1_000, perMs: 1_000 } } });
    world.setProviders(keyProviderOf('keys', { keys: [keyRecord('k', 'a-key')] }), providerOf('idp'));
    await world.serve('app', { rules: rulesOf({ basicAuth: users }) });
    await world.serve('mixed', { rules: rulesOf({ basicAuth: users }), authProviderIds: ['keys', 'idp'] });
    await world.serve('other', {
      rules: rulesOf({ basicAuth: [{ name: 'ann', passwordHash: hashOf('else') }] }),
    });
  });
  after(() => world.close());

  it('admits a name with its password, and forwards neither', async () => {
    for (const line of [
      basic('ann', 'pass:word ü'),
      basic('bob', 'other'),
      basic('bob', 'other').replace('Basic', 'bASIC'),
    ]) {
      for (let i = 0; i < 2; i += 1)
        assert.equal((await world.ask('app', { lines: [line, 'X-A: 1'] })).status, 200, line);
      assert.equal(world.last('app').headers.authorization, undefined);
      assert.equal(world.last('app').headers['x-a'], '1');
      assert.equal(world.last('app').headers['zrok-auth-provider'], undefined);
    }
  });

  it('asks a browser for them, and refuses what is wrong, malformed or doubled', async () => {
    const asked = await world.ask('app', { lines: [BROWSER_LINE] });
    assert.equal(asked.status, 401);
    assert.match(asked.headers.get('www-authenticate') ?? '', /^Basic realm="app\.share\.localhost"/);
    const hits = world.hits('app');
    const wrong = [
      basic('ann', 'wrong'),
      basic('ann', 'other'),
      basic('ANN', 'pass:word ü'),
      basic('nobody', 'other'),
      basic('', 'other'),
      basic('ann', ''),
      'Authorization: Basic ann:other',
      'Authorization: Basic',
      'Authorization: Basic ====',
      `Authorization: Basic  ${Buffer.from('bob:other').toString('base64')}`,
      `Authorization: Bearer ${Buffer.from('bob:other').toString('base64')}`,
      `Authorization: Basic ${'A'.repeat(4_000)}`,
      `Authorization: Basic ${Buffer.from([0x62, 0x3a, 0xff]).toString('base64')}`,
    ];
    for (const line of wrong)
      assert.equal((await world.ask('app', { lines: [line, BROWSER_LINE] })).status, 401, line);
    const line = basic('bob', 'other');
    assert.equal((await world.ask('app', { lines: [line, line] })).status, 400);
    assert.equal((await world.ask('other', { lines: [basic('ann', 'pass:word ü')] })).status, 401);
    assert.equal(world.hits('app') + world.hits('other'), hits);
  });

  it('stands beside keys and log-ins: any of them is enough', async () => {
    assert.equal((await world.ask('mixed', { lines: [basic('bob', 'other')] })).status, 200);
    assert.equal((await world.ask('mixed', { lines: ['X-Api-Key: a-key', basic('bob', 'no')] })).status, 200);
    assert.equal(
      world.last('mixed').headers.authorization,
      basic('bob', 'no').slice(15),
      'it admitted nobody',
    );
    assert.equal((await world.ask('mixed', { lines: [world.sessionLine('mixed', 'idp')] })).status, 200);
    assert.equal((await world.ask('mixed', { lines: [BROWSER_LINE] })).status, 302);
    const wrong = await world.ask('mixed', { lines: [basic('bob', 'no'), BROWSER_LINE] });
    assert.equal(wrong.status, 401);
    assert.match(wrong.headers.get('www-authenticate') ?? '', /^Basic /);
  });

  it('drops a removed user, or an old password, at once', async () => {
    const line = basic('bob', 'other');
    assert.equal((await world.ask('app', { lines: [line] })).status, 200);
    const changed = [{ name: 'bob', passwordHash: hashOf('new') }];
    world.publish('app', { rules: rulesOf({ basicAuth: changed }), updatedAtMs: 2 });
    assert.equal((await world.ask('app', { lines: [line] })).status, 401);
    assert.equal((await world.ask('app', { lines: [basic('bob', 'new')] })).status, 200);
    world.publish('app', { rules: rulesOf({ basicAuth: users.slice(0, 1) }), updatedAtMs: 3 });
    assert.equal((await world.ask('app', { lines: [basic('bob', 'new')] })).status, 401);
  });

  it('is accepted only while the control plane answers', async () => {
    const line = basic('ann', 'pass:word ü');
    assert.equal((await world.ask('other', { lines: [basic('ann', 'else')] })).status, 200);
    world.clock.advance(60_000);
    assert.equal((await world.ask('other', { lines: [line] })).status, 503);
    world.access.onContact();
  });

  it('checks no more attempts of an address that failed too often; users that were accepted before continue', async () => {
    const limited = await AccessWorld.start();
    try {
      await limited.serve('app', { rules: rulesOf({ basicAuth: users }) });
      assert.equal((await limited.ask('app', { lines: [basic('bob', 'other')] })).status, 200);
      const statuses: number[] = [];
      for (let i = 0; i < 12; i += 1)
        statuses.push((await limited.ask('app', { lines: [basic('ann', `${i}`)] })).status);
      assert.deepEqual(statuses, [...Array.from({ length: 10 }, () => 401), 429, 429]);
      assert.equal((await limited.ask('app', { lines: [basic('bob', 'other')] })).status, 200);
      limited.advance(10_000);
      assert.equal((await limited.ask('app', { lines: [basic('ann', 'pass:word ü')] })).status, 200);
    } finally {
      await limited.close();
    }
  });
});

describe('the check of passwords', () => {
  const hashes = [hashOf('right', 8_192)];
  const check = (checker: BasicCheck, password: string) => {
    const text = Buffer.from(`ann:${password}`).toString('base64');
    const digest = checker.digest('share', text);
    return checker.check(digest, 'share', readBasicPair(text)!, hashes);
  };

  it('computes once for equal attempts, and queues few', async () => {
    const checker = new BasicCheck(() => Date.now());
    const equal = Array.from({ length: 200 }, () => check(checker, 'right'));
    assert.equal(checker.isBusy, false, 'one computation for all');
    const found = await Promise.all(equal);
    assert.equal(new Set(found).size, 1);
    const different = Array.from({ length: 66 }, (_, i) => check(checker, `wrong ${i}`));
    assert.equal(checker.isBusy, true);
    assert.deepEqual([...new Set(await Promise.all(different))], [undefined]);
    assert.equal(checker.isBusy, false);
  });

  it('remembers a correct one for five minutes, and does not reveal that', () => {
    let nowMs = 0;
    const checker = new BasicCheck(() => nowMs);
    const text = Buffer.from('ann:right').toString('base64');
    const digest = checker.digest('share', text);
    assert.notEqual(digest, checker.digest('other', text));
    assert.notEqual(digest, new BasicCheck(() => 0).digest('share', text));
    return check(checker, 'right').then((caller) => {
      assert.equal(checker.known(digest), caller);
      nowMs = 299_999;
      assert.equal(checker.known(digest), caller);
      nowMs = 300_000;
      assert.equal(checker.known(digest), undefined);
    });
  });

  it('accepts no hash of an unknown form', async () => {
    const checker = new BasicCheck(() => Date.now());
    const bad = [
      '',
      'plain',
      '$argon2i$v=19$m=64,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAA',
      '$argon2id$v=19$m=9999999,t=1,p=1$AA$AA',
      hashes[0]!.slice(0, -1),
      hashes[0]!.replace('t=1', 't=0'),
    ];
    for (const [i, hash] of bad.entries()) {
      const text = Buffer.from('ann:right').toString('base64');
      assert.equal(await checker.check(`${i}`, 'share', readBasicPair(text)!, [hash]), undefined, hash);
    }
  });
});
