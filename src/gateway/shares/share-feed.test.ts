import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { GatewayFeedEvent } from '#domain';
import { openShareFeed, type ShareFeed, type ShareFeedSubscription } from './share-feed.ts';
import { ShareTable } from './share-table.ts';
import { OpenAccess } from '../testing/open-access.ts';
import { recordingLog, shareOf, type LogRecord } from '../testing/gateway-world.ts';
import { within } from '../testing/raw-client.ts';

describe('the share feed', () => {
  let folder: string;
  let table: ShareTable<undefined>;
  let records: LogRecord[];
  let subscriptions: ShareFeedSubscription[];
  let closes: number;
  let subscribed: () => void;
  let feed: ShareFeed | undefined;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'share-feed-'));
    table = new ShareTable({ makeSlot: () => undefined, onRetired: () => {} });
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
      log: recordingLog(records),
      backOff: { minMs: 1, maxMs: 5 },
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
    await within(next);
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

  it('keeps the last good list on disk and starts from it', async () => {
    await open();
    say(snapshot);
    await feed!.close();
    const file = join(folder, 'gateway-snapshot.json');
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal((JSON.parse(await readFile(file, 'utf8')) as { version: number }).version, 7);
    table = new ShareTable({ makeSlot: () => undefined, onRetired: () => {} });
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

  const BAD: readonly (readonly [string, string])[] = [
    ['garbage', '{{'],
    ['a gap in versions', JSON.stringify({ type: 'delta', version: 9, set: [], removed: [] })],
    [
      'a host of another share',
      JSON.stringify({
        type: 'delta',
        version: 8,
        set: [shareOf('x', { hosts: ['a.share.localhost'] })],
        removed: [],
      }),
    ],
    [
      'a host that is not canonical',
      JSON.stringify({
        type: 'delta',
        version: 8,
        set: [shareOf('x', { hosts: ['X.share.localhost'] })],
        removed: [],
      }),
    ],
    ['a doubled share', JSON.stringify({ ...snapshot, shares: [shareOf('a'), shareOf('a')] })],
    ['a malformed share', JSON.stringify({ ...snapshot, shares: [{ id: 1 }] })],
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

  it('takes no table beyond its bound', () => {
    const small = new ShareTable({ makeSlot: () => undefined, onRetired: () => {}, maxShares: 2 });
    assert.equal(small.replaceAll([shareOf('a'), shareOf('b')]), undefined);
    assert.match(small.replaceAll(['a', 'b', 'c'].map((name) => shareOf(name))) ?? '', /more than 2/);
    assert.equal(small.size, 2);
  });

  it('keeps an unchanged share and its circuits through a new snapshot, and replaces a changed one', () => {
    const retired: string[] = [];
    const own = new ShareTable({
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
