import assert from 'node:assert/strict';
import { once } from 'node:events';
import * as tls from 'node:tls';
import { after, before, test } from 'node:test';
import type { GatewayDelta, GatewayFeedEvent, GatewayShares, GatewaySnapshot } from '#domain/gateway-shapes';
import type { GuardedShare } from '#domain';
import { OverlayModel } from '../../overlay/model/mod.ts';
import { ShareCatalog } from '../catalog/share-catalog.ts';
import { openEdgeFixture, type EdgeFixture, type Enrolled } from '../../ziti/client-api/edge-api-fixture.ts';
import type { GatewayAccessSource } from '../logins/gateway-access.ts';
import { GatewayFeed, SHARES_PER_PART } from './gateway-feed.ts';
import { sampleShare } from '../../../../test/support/sample-share.ts';

let fixture: EdgeFixture;
let host: Enrolled;
let gateway: Enrolled;
before(async () => {
  fixture = await openEdgeFixture();
  host = await fixture.enroll('host');
  gateway = await fixture.enroll('gateway', 'gateway');
});
after(() => fixture.close());

function service(id: string, more: Partial<GuardedShare> = {}): GuardedShare {
  return sampleShare(id, { frontends: [frontendOf(id)], ...more });
}

function frontendOf(id: string) {
  return { id: 'public', host: `${id}.share.localhost` };
}

const access: GatewayAccessSource = {
  provider: () => undefined,
  providers: () => [],
  zones: () => ['share.localhost'],
  zoneOwners: () => [],
  organizationOf: () => undefined,
  keys: () => ({ apiKeyPepper: '', identityKeys: [] }),
  onChange: () => {},
};

function events(lines: readonly string[]): GatewayFeedEvent[] {
  return lines.map((line) => JSON.parse(line) as GatewayFeedEvent);
}

test('a snapshot holds the public shares; changes of one tick are one delta', () => {
  const catalog = new ShareCatalog(new OverlayModel());
  catalog.set(service('a'));
  catalog.set(service('hidden', { shareMode: 'private' }));
  const feed = new GatewayFeed(catalog, access, 'epoch-1');
  const [snapshot] = events(feed.opening(undefined)) as [GatewaySnapshot];
  assert.deepEqual(
    [snapshot.type, snapshot.version, snapshot.epoch, snapshot.shares.map(({ id }) => id)],
    ['snapshot', 1, 'epoch-1', ['a']],
  );
  const received: string[] = [];
  feed.listen((line) => received.push(line));
  catalog.set(service('b'));
  catalog.set(service('a', { shareMode: 'private' }));
  catalog.set(service('hidden', { shareMode: 'private', target: 'http://127.0.0.1:2' }));
  feed.flush();
  const [delta] = events(received) as [GatewayDelta];
  assert.deepEqual(
    [received.length, delta.version, delta.set.map(({ id }) => id), delta.removed],
    [1, 2, ['b'], ['a']],
  );
});

test('a gateway resumes with missed changes after a short absence, and starts over after a longer one or in another run', () => {
  const catalog = new ShareCatalog(new OverlayModel());
  const feed = new GatewayFeed(catalog, access, 'epoch-1');
  for (const id of ['a', 'b', 'c']) {
    catalog.set(service(id));
    feed.flush();
  }
  const versions = (since: { version: number; epoch: string }): unknown[] =>
    events(feed.opening(since)).map((event) => [event.type, 'version' in event ? event.version : 0]);
  assert.deepEqual(versions({ version: 2, epoch: 'epoch-1' }), [
    ['delta', 3],
    ['delta', 4],
  ]);
  assert.deepEqual(versions({ version: 4, epoch: 'epoch-1' }), []);
  assert.deepEqual(versions({ version: 5, epoch: 'epoch-1' }), [['snapshot', 4]]);
  assert.deepEqual(versions({ version: 2, epoch: 'epoch-0' }), [['snapshot', 4]]);
  for (let n = 0; n < 1_100; n += 1) {
    catalog.set(service('d', { epoch: n }));
    feed.flush();
  }
  assert.deepEqual(versions({ version: 2, epoch: 'epoch-1' }), [['snapshot', 1_104]]);
});

test('a snapshot in parts has a bounded number of shares in each line, and deltas complete it', () => {
  const catalog = new ShareCatalog(new OverlayModel());
  const count = 2 * SHARES_PER_PART + 1;
  for (let n = 0; n < count; n += 1) catalog.set(service(`s${n}`));
  const feed = new GatewayFeed(catalog, access, 'epoch-1');
  const { position } = feed;
  const parts = feed.snapshotInParts();
  const first = JSON.parse(parts.next().value as string) as GatewaySnapshot;
  catalog.remove('s0');
  catalog.set(service('late'));
  const others = events([...parts]) as GatewayShares[];
  assert.deepEqual([first.type, first.version, first.isContinued], ['snapshot', position.version, true]);
  assert.deepEqual(
    [first, ...others].map(({ shares }) => shares.length),
    [SHARES_PER_PART, SHARES_PER_PART, 2],
  );
  assert.deepEqual(
    others.map(({ type, isContinued }) => [type, isContinued]),
    [
      ['shares', true],
      ['shares', false],
    ],
  );
  const [missed] = events(feed.missedSince(position)!) as [GatewayDelta];
  assert.deepEqual([missed.removed, missed.set.map(({ id }) => id)], [['s0'], ['late']]);
  const small = new GatewayFeed(new ShareCatalog(new OverlayModel()), access, 'epoch-1');
  assert.deepEqual([...small.snapshotInParts()], small.opening(undefined), 'one part is a snapshot as ever');
});

test('a gateway gets a list of several parts over TLS, and then what changes', async () => {
  for (let n = 0; n <= SHARES_PER_PART; n += 1) fixture.catalog.set(service(`part${n}`));
  const lines: GatewayFeedEvent[] = [];
  const done = Promise.withResolvers<void>();
  const stream = gateway.gatewayApi.subscribeGatewayFeed({
    onLine: (text) => {
      lines.push(JSON.parse(text) as GatewayFeedEvent);
      const { type } = lines.at(-1)!;
      if (type === 'shares') fixture.catalog.set(service('part-late'));
      if (type === 'delta') done.resolve();
    },
    onEnd: done.reject,
  });
  await done.promise;
  stream.close();
  for (const { id } of [...fixture.catalog.all()]) if (id.startsWith('part')) fixture.catalog.remove(id);
  assert.deepEqual(
    lines.map(({ type }) => type),
    ['snapshot', 'shares', 'delta'],
  );
  assert.deepEqual(
    (lines[2] as GatewayDelta).set.map(({ id }) => id),
    ['part-late'],
  );
});

test('a gateway follows over TLS: snapshot, delta as a share comes, and the end when it is revoked', async () => {
  const lines: GatewayFeedEvent[] = [];
  let wake = (): void => {};
  const ended = Promise.withResolvers<Error>();
  const subscription = gateway.gatewayApi.subscribeGatewayFeed({
    onLine: (line) => {
      lines.push(JSON.parse(line) as GatewayFeedEvent);
      wake();
    },
    onEnd: (error) => ended.resolve(error),
  });
  const line = async (at: number): Promise<GatewayFeedEvent> => {
    while (lines.length <= at) await new Promise<void>((resolve) => (wake = resolve));
    return lines[at]!;
  };
  const snapshot = (await line(0)) as GatewaySnapshot;
  assert.deepEqual(
    [snapshot.type, snapshot.epoch, snapshot.shares],
    ['snapshot', fixture.api.instanceId, []],
  );
  const share = await fixture.share({ environmentId: host.id, name: 'app', shareMode: 'public' });
  const delta = (await line(1)) as GatewayDelta;
  assert.equal(delta.version, snapshot.version + 1);
  const organization = await fixture.store.db
    .selectFrom('frontdoor')
    .select('organization_id')
    .where('id', '=', fixture.frontdoorIds[0])
    .executeTakeFirstOrThrow();
  assert.deepEqual(delta.set, [
    {
      id: share.id,
      token: 'app',
      hosts: ['app.share.localhost'],
      customHosts: [],
      authProviderIds: [],
      rules: null,
      inspection: null,
      frontdoorId: fixture.frontdoorIds[0],
      organizationId: organization.organization_id,
      environmentId: host.id,
      updatedAtMs: share.updatedAtMs,
    },
  ]);
  await fixture.store.transaction(async (trx, touch) => {
    await trx.deleteFrom('identity').where('id', '=', gateway.id).execute();
    touch('identity', gateway.id);
  });
  assert.equal((await ended.promise).name, 'FrontdoorError');
  subscription.close();
});

test('a subscription that its owner closes stays silent', async () => {
  const other = await fixture.enroll('another', 'gateway');
  const first = Promise.withResolvers<void>();
  let ends = 0;
  const subscription = other.gatewayApi.subscribeGatewayFeed({
    onLine: () => first.resolve(),
    onEnd: () => (ends += 1),
  });
  await first.promise;
  subscription.close();
  await fixture.share({ environmentId: host.id, name: 'late', shareMode: 'public' });
  assert.equal(ends, 0);
});

test('an environment may not read the feed, and a gateway that stops reading is cut off', async () => {
  const refused = Promise.withResolvers<Error & { kind?: string }>();
  host.gatewayApi.subscribeGatewayFeed({ onLine: () => {}, onEnd: (error) => refused.resolve(error) });
  assert.equal((await refused.promise).kind, 'forbidden');
  const slow = await fixture.enroll('slow', 'gateway');
  const socket = tls.connect({
    host: 'localhost',
    port: Number(new URL(fixture.apiUrl).port),
    ca: fixture.pki.caBundlePem,
    cert: slow.identity.certPem,
    key: slow.identity.keyPem,
  });
  socket.on('error', () => {});
  socket.write('GET /gateway/v1/shares HTTP/1.1\r\nhost: x\r\n\r\n');
  await once(socket, 'data');
  socket.pause();
  const big = service('big', { frontends: [{ id: 'public', host: 'h'.repeat(1_000_000) }] });
  const cut = (): boolean => fixture.logged.some((line) => line.includes('reads too slowly'));
  for (let n = 0; n < 60 && !cut(); n += 1) {
    fixture.catalog.set({ ...big, epoch: n });
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.ok(cut());
  fixture.catalog.remove('big');
  socket.destroy();
});

test('a share that cannot be sent is withdrawn, and the others are sent', () => {
  const catalog = new ShareCatalog(new OverlayModel());
  const feed = new GatewayFeed(catalog, access, 'epoch-1');
  const received: string[] = [];
  const follower = (): void => {
    throw new TypeError('boom');
  };
  feed.listen(follower);
  feed.listen((line) => received.push(line));
  catalog.onChange(follower);
  const broken = service('broken');
  Object.defineProperty(broken, 'frontends', { get: follower });
  for (const one of [service('a'), broken, service('b')]) catalog.set(one);
  feed.flush();
  const [delta] = events(received) as [GatewayDelta];
  assert.deepEqual([delta.set.map(({ id }) => id), delta.removed], [['a', 'b'], ['broken']]);
  const [snapshot] = events(feed.opening(undefined)) as [GatewaySnapshot];
  assert.deepEqual(
    snapshot.shares.map(({ id }) => id),
    ['a', 'b'],
  );
});
