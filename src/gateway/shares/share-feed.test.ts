import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { OPEN_RULES } from '#domain/access';
import type { GatewayFeedEvent } from '#domain/gateway-shapes';
import { openShareFeed, type ShareFeed, type ShareFeedSubscription } from './share-feed.ts';
import { ShareRouteTable } from './share-routes.ts';
import { OpenAccess } from '../testing/open-access.ts';
import { logInto, shareOf, type LogEntry } from '../testing/gateway-world.ts';
import { within } from '../../../test/support/deadline.ts';

describe('the share feed', () => {
  let folder: string;
  let table: ShareRouteTable<undefined>;
  let records: LogEntry[];
  let subscriptions: ShareFeedSubscription[];
  let closes: number;
  let subscribed: () => void;
  let feed: ShareFeed | undefined;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'share-feed-'));
    table = new ShareRouteTable({ makeSlot: () => undefined, onRetired: () => {} });
    records = [];
    subscriptions = [];
    closes = 0;
    subscribed = () => {};
  });
  afterEach(async () => {
    await feed?.close();
    await rm(folder, { recursive: true });
  });

  async function open(): Promise<ShareFeed> {
    feed = await openShareFeed({
      table,
      access: new OpenAccess(),
      onReplay: () => {},
      snapshotFile: join(folder, 'gateway-snapshot.json'),
      log: logInto(records),
      backOff: { minMs: 1, maxMs: 5 },
      refusalBackOff: { minMs: 1, maxMs: 5 },
      saveDelayMs: 1,
      subscribe: (subscription) => {
        subscriptions.push(subscription);
        subscribed();
        return { close: () => (closes += 1) };
      },
    });
    return feed;
  }

  function say(event: GatewayFeedEvent): void {
    subscriptions.at(-1)!.onLine(JSON.stringify(event));
  }

  async function again(act: () => void): Promise<ShareFeedSubscription> {
    const next = new Promise<void>((resolve) => (subscribed = resolve));
    act();
    await within('the next subscription', next);
    return subscriptions.at(-1)!;
  }

  const snapshot = {
    type: 'snapshot',
    version: 7,
    epoch: 'e',
    shares: [shareOf('a'), shareOf('b')],
    providers: [],
    zones: ['share.localhost'],
    keys: { apiKeyPepper: 'cGVwcGVy', identityKeys: [] },
  } as const;

  it('takes a snapshot and then deltas, and resumes after an interruption where it was', async () => {
    await open();
    assert.equal(table.loaded, false);
    say(snapshot);
    await feed!.fresh;
    assert.equal(table.find('a.share.localhost')?.route.share.token, 'a');
    say({ type: 'delta', version: 8, set: [shareOf('c')], removed: ['id-a'] });
    assert.equal(table.find('a.share.localhost'), undefined);
    assert.equal(table.find('c.share.localhost')?.route.share.token, 'c');
    const next = await again(() => subscriptions.at(-1)!.onEnd(new Error('gone')));
    assert.deepEqual(next.since, { version: 8, epoch: 'e' });
    assert.equal(table.size, 2, 'the last good list stays');
  });

  it('closes a share that throws, and applies the others and what comes after it', async () => {
    const makeSlot = ({ token, updatedAtMs }: { token: string; updatedAtMs: number }): undefined => {
      if (token === 'b' && updatedAtMs === 2) throw new TypeError('boom');
    };
    table = new ShareRouteTable({
      makeSlot,
      onRetired: () => {
        throw new TypeError('boom');
      },
    });
    await open();
    say(snapshot);
    await feed!.fresh;
    const changed = { ...shareOf('b'), updatedAtMs: 2 };
    say({ type: 'delta', version: 8, set: [changed, shareOf('c')], removed: ['id-a'] });
    say({ type: 'delta', version: 9, set: [shareOf('d')], removed: [] });
    assert.equal(subscriptions.length, 1, 'the feed continues');
    assert.equal(table.find('a.share.localhost'), undefined);
    for (const token of ['c', 'd'])
      assert.equal(table.find(`${token}.share.localhost`)?.route.share.token, token);
    // Its rules are not known: it is served by none, and not by the former ones.
    assert.notEqual(table.find('b.share.localhost')?.route.share.updatedAtMs, shareOf('b').updatedAtMs);
  });

  it('applies a snapshot in parts when it is complete, and none of one that was interrupted', async () => {
    await open();
    const begin = { ...snapshot, isContinued: true } as const;
    say(begin);
    assert.equal(table.size, 0);
    const next = await again(() => subscriptions.at(-1)!.onEnd(new Error('gone')));
    assert.equal(next.since, undefined);
    await again(() => say({ type: 'shares', shares: [shareOf('c')], isContinued: false }));
    assert.equal(table.size, 0, 'the begin of the interrupted list is forgotten');
    say(begin);
    say({ type: 'shares', shares: [shareOf('c')], isContinued: true });
    assert.equal(table.loaded, false);
    say({ type: 'shares', shares: [shareOf('d')], isContinued: false });
    await feed!.fresh;
    assert.deepEqual(
      table.shares().map(({ token }) => token),
      ['a', 'b', 'c', 'd'],
    );
    say({ type: 'delta', version: 8, set: [], removed: ['id-d'] });
    assert.equal(table.size, 3);
  });

  it('keeps the last good list on disk and starts from it', async () => {
    await open();
    say(snapshot);
    await feed!.close();
    const file = join(folder, 'gateway-snapshot.json');
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal((JSON.parse(await readFile(file, 'utf8')) as { version: number }).version, 7);
    table = new ShareRouteTable({ makeSlot: () => undefined, onRetired: () => {} });
    await open();
    assert.equal(table.find('b.share.localhost')?.route.share.token, 'b');
    assert.equal(
      subscriptions.at(-1)!.since,
      undefined,
      'what proves callers is not kept: a whole list brings it',
    );
  });

  it('starts without a list when the kept file is damaged', async () => {
    await writeFile(join(folder, 'gateway-snapshot.json'), '{"version":1,"epoch":');
    await open();
    assert.equal(table.loaded, false);
    assert.equal(subscriptions[0]!.since, undefined);
    assert.equal(records.filter((record) => record.level === 'warn').length, 1);
  });

  function deltaOf(set: readonly unknown[]) {
    return { type: 'delta', version: 8, set, removed: [] };
  }

  const BAD: readonly (readonly [string, string])[] = [
    ['garbage', '{{'],
    ['a gap in versions', JSON.stringify({ type: 'delta', version: 9, set: [], removed: [] })],
    ['a change of a share without an id', JSON.stringify(deltaOf([{ id: 1 }]))],
    ['a change of a provider without an id', JSON.stringify({ ...deltaOf([]), providers: [{}] })],
    ['a list without shares', JSON.stringify({ ...snapshot, shares: 'none' })],
    ['a type that does not exist', JSON.stringify({ type: 'surprise', version: 8 })],
  ];

  for (const [name, line] of BAD) {
    it(`refuses ${name}, keeps the last good list and asks for a whole one`, async () => {
      await open();
      say(snapshot);
      const old = subscriptions.at(-1)!;
      const next = await again(() => old.onLine(line));
      assert.equal(next.since, undefined);
      assert.equal(closes, 1);
      assert.equal(table.size, 2);
      assert.equal(records.filter((record) => record.level === 'error').length, 1);
      old.onLine(JSON.stringify({ type: 'delta', version: 8, set: [], removed: ['id-a', 'id-b'] }));
      assert.equal(table.size, 2, 'the old stream is not listened to');
    });
  }

  const NO_RULES = { ...shareOf('a'), rules: { emails: 'ann@example.com' } };

  const CLOSED: readonly (readonly [string, string, unknown])[] = [
    ['a rule of another shape', 'rules.emails', NO_RULES],
    ['a rule that is not there', 'rules.ip', { ...shareOf('a'), rules: { ...OPEN_RULES, ip: undefined } }],
    ['a rule that this version does not know', 'rules.countries', withRules({ countries: ['NL'] })],
    ['part of a rule of another shape', 'rules.ip.deny.0', withRules({ ip: { allow: [], deny: [7] } })],
    [
      'a limit that is no number',
      'rules.rateLimit.perMs',
      withRules({ rateLimit: { requests: 1, perMs: '1' } }),
    ],
    ['providers of another shape', 'authProviderIds', { ...shareOf('a'), authProviderIds: 'all' }],
    [
      'a host that is not canonical',
      'hosts',
      shareOf('a', { hosts: ['a.share.localhost', 'X.share.localhost'] }),
    ],
  ];

  function withRules(rules: object): unknown {
    return { ...shareOf('a'), rules: { ...OPEN_RULES, ...rules } };
  }

  for (const [name, field, share] of CLOSED) {
    it(`a share with ${name} is closed by the name of that field, and the others are taken`, async () => {
      await open();
      say(snapshot);
      subscriptions[0]!.onLine(JSON.stringify(deltaOf([share, shareOf('c')])));
      assert.equal(table.find('a.share.localhost')?.route.share.unreadable, field);
      assert.equal(table.find('c.share.localhost')?.route.share.unreadable, undefined);
      assert.equal(table.size, 3);
      const errors = records.filter((record) => record.level === 'error');
      assert.deepEqual(
        errors.map((record) => [record['share'], record['field']]),
        [['a', field]],
      );
      say({ type: 'delta', version: 9, set: [shareOf('a')], removed: [] });
      assert.equal(
        table.find('a.share.localhost')?.route.share.unreadable,
        undefined,
        'put right by the next',
      );
      assert.equal(subscriptions.length, 1, 'the stream continues');
    });
  }

  it('a list with shares, providers, zones and keys that cannot be read is taken without them', async () => {
    await open();
    const [privateKey, publicJwk] = ['pem', {}];
    const keys = { apiKeyPepper: 7, identityKeys: [{ kid: 1 }, { kid: 'k', privateKey, publicJwk }] };
    const providers = [{ id: 'p', enabled: 'yes' }, 'x'];
    const list = { ...snapshot, shares: [NO_RULES, 7, shareOf('b'), { hosts: ['x.share.localhost'] }] };
    subscriptions[0]!.onLine(JSON.stringify({ ...list, providers, keys, zones: ['share.localhost', 8] }));
    await feed!.fresh;
    assert.equal(table.find('a.share.localhost')?.route.share.unreadable, 'rules.emails');
    assert.equal(table.find('b.share.localhost')?.route.share.unreadable, undefined);
    assert.equal(table.find('x.share.localhost')?.route.share.unreadable, 'id');
    assert.equal(records.filter((record) => record.level === 'error').length, 8);
    assert.equal(subscriptions.length, 1);
  });

  it('a command that is unknown to this version, or unreadable, is left out and the stream continues', async () => {
    await open();
    say(snapshot);
    subscriptions[0]!.onLine(JSON.stringify({ type: 'surprise' }));
    subscriptions[0]!.onLine(JSON.stringify({ type: 'replay', id: 'r' }));
    say({ type: 'delta', version: 8, set: [], removed: ['id-a'] });
    assert.equal(table.size, 1);
    assert.equal(subscriptions.length, 1);
  });

  it('a stream that is refused each time is asked for less and less often', async () => {
    const pauses: number[] = [];
    feed = await openShareFeed({
      table,
      access: new OpenAccess(),
      onReplay: () => {},
      snapshotFile: join(folder, 'none.json'),
      log: logInto(records),
      backOff: { minMs: 1, maxMs: 1 },
      refusalBackOff: { minMs: 4, maxMs: 32 },
      subscribe: (subscription) => {
        subscriptions.push(subscription);
        pauses.push(performance.now());
        subscribed();
        return { close: () => {} };
      },
    });
    for (let i = 0; i < 5; i += 1) {
      await again(() => {
        say(snapshot);
        subscriptions.at(-1)!.onLine('{{');
      });
    }
    assert.ok(pauses[5]! - pauses[4]! >= 16, 'a good list between two refusals is no reason to hurry');
  });

  it('a kept list with a share that cannot be read is taken, and the share stays closed', async () => {
    await open();
    subscriptions[0]!.onLine(JSON.stringify({ ...snapshot, shares: [NO_RULES, shareOf('b')] }));
    await feed!.close();
    table = new ShareRouteTable({ makeSlot: () => undefined, onRetired: () => {} });
    await open();
    assert.equal(table.find('a.share.localhost')?.route.share.unreadable, 'rules.emails');
    assert.equal(table.find('b.share.localhost')?.route.share.unreadable, undefined);
  });

  it('a kept list with a rule of another shape, as an earlier version wrote it, ends no start', async () => {
    const list = { version: 7, epoch: 'e', shares: [NO_RULES, shareOf('b')] };
    await writeFile(join(folder, 'gateway-snapshot.json'), JSON.stringify(list));
    await open();
    assert.equal(table.find('a.share.localhost')?.route.share.unreadable, 'rules.emails');
    assert.equal(table.size, 2);
  });

  it('a kept list of another version is set aside with a warning, and the gateway starts without one', async () => {
    const file = join(folder, 'gateway-snapshot.json');
    await writeFile(file, JSON.stringify({ format: 99, shares: {} }));
    await open();
    assert.equal(table.loaded, false);
    assert.equal(records.filter((record) => record.level === 'warn').length, 1);
    assert.match(await readFile(`${file}.unreadable`, 'utf8'), /99/);
    await assert.rejects(stat(file), { code: 'ENOENT' });
  });

  describe('with a list that takes several turns of the loop', () => {
    const shares = Array.from({ length: 1_200 }, (_, at) => shareOf(`s${at}`));
    const change = {
      type: 'delta',
      version: 8,
      set: [shareOf('x')],
      removed: ['id-s1'],
      providers: [],
    } as const;

    it('applies changes that come in the meantime after it, and resumes behind them', async () => {
      await open();
      say({ ...snapshot, shares });
      say(change);
      assert.equal(table.loaded, false);
      const { since } = await again(() => subscriptions.at(-1)!.onEnd(new Error('reset')));
      assert.deepEqual(since, { version: 8, epoch: 'e' });
      assert.equal(table.size, 1_200);
      assert.equal(table.find('s1.share.localhost'), undefined);
      assert.equal(table.find('x.share.localhost')?.route.share.token, 'x');
    });

    it('drops what follows a line that it refuses', async () => {
      await open();
      say({ ...snapshot, shares });
      say({ ...change, version: 9 });
      say(change);
      const { since } = await again(() => {});
      assert.equal(since, undefined);
      assert.equal(table.find('x.share.localhost'), undefined);
      assert.equal(table.size, 1_200);
    });

    it('ends at once when it is closed', async () => {
      await open();
      say({ ...snapshot, shares });
      await feed!.close();
      assert.equal(table.loaded, false);
    });

    it('serves what both lists have between two steps, and moves a name to the share that has it now', () => {
      table.replaceAll([...shares, shareOf('gone')]);
      const kept = table.find('s7.share.localhost')?.route;
      const swapped = [
        shareOf('s0', { updatedAtMs: 2, hosts: ['s1100.share.localhost'] }),
        ...shares.slice(1, 1_100),
        shareOf('s1100', { updatedAtMs: 2, hosts: ['gone.share.localhost'] }),
      ];
      const steps = table.replacement(swapped);
      let turns = 0;
      let step = steps.next();
      for (; step.done !== true; step = steps.next()) {
        turns += 1;
        assert.equal(table.find('s7.share.localhost')?.route, kept);
      }
      assert.ok(turns >= 6, `${turns} turns`);
      assert.deepEqual(step.value, []);
      assert.equal(table.find('s1100.share.localhost')?.route.share.token, 's0');
      assert.equal(table.find('gone.share.localhost')?.route.share.token, 's1100');
      assert.equal(table.find('s1150.share.localhost'), undefined);
    });
  });

  it('a name of two shares stays with the first, and the other gets it when that one goes', () => {
    table.replaceAll([shareOf('a')]);
    const both = ['a.share.localhost', 'x.share.localhost'];
    assert.equal(table.change([shareOf('x', { hosts: both })], []).length, 1);
    assert.equal(table.find('a.share.localhost')?.route.share.token, 'a');
    assert.equal(table.find('x.share.localhost')?.route.share.token, 'x');
    assert.deepEqual(table.change([], ['id-a']), []);
    assert.equal(table.find('a.share.localhost')?.route.share.token, 'x');
    table.change([], ['id-x']);
    assert.equal(table.find('a.share.localhost'), undefined);
  });

  it('a share that is listed twice is closed', () => {
    assert.equal(table.replaceAll([shareOf('a'), shareOf('a'), shareOf('b')]).length, 1);
    assert.equal(table.find('a.share.localhost')?.route.share.unreadable, 'id');
    assert.equal(table.find('b.share.localhost')?.route.share.unreadable, undefined);
  });

  it('takes no share beyond its bound', () => {
    const small = new ShareRouteTable({ makeSlot: () => undefined, onRetired: () => {}, maxShares: 2 });
    assert.deepEqual(small.replaceAll([shareOf('a'), shareOf('b')]), []);
    assert.match(small.replaceAll(['a', 'b', 'c'].map((name) => shareOf(name)))[0]!.field, /more than 2/);
    assert.equal(small.size, 2);
  });

  it('keeps an unchanged share and its circuits through a new snapshot, and replaces a changed one', () => {
    const retired: string[] = [];
    const own = new ShareRouteTable({
      makeSlot: () => ({}),
      onRetired: (route) => retired.push(`${route.share.token} ${route.revoked}`),
    });
    own.replaceAll([shareOf('a'), shareOf('b'), shareOf('c')]);
    const before = own.find('a.share.localhost')?.route;
    own.replaceAll([shareOf('a'), shareOf('b', { updatedAtMs: 2 }), shareOf('d')]);
    assert.equal(own.find('a.share.localhost')?.route, before);
    assert.deepEqual(retired.sort(), ['b false', 'c true']);
    own.change([shareOf('a', { updatedAtMs: 3, hosts: ['z.share.localhost'] })], []);
    assert.equal(retired.at(-1), 'a true', 'a share that loses a name cuts what uses it');
  });
});
