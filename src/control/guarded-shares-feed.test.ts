// An acknowledged change of access to a share has been sent to gateways.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { silentLog } from '#base';
import type { GatewayDelta, GatewayFeedEvent } from '#domain/gateway-shapes';
import { EgressClient } from '#net';
import { openApiWorld, type ApiWorld } from './shares/operations/api-fixture.ts';
import { openLoginParts, type LoginParts } from './shares/logins/mod.ts';
import { GatewayFeed } from './shares/gateway-feed/gateway-feed.ts';

describe('gateways', () => {
  let world: ApiWorld;
  let parts: LoginParts;
  let feed: GatewayFeed;
  const received: GatewayFeedEvent[] = [];
  let root: string;
  let frontendId: string;
  before(async () => {
    world = await openApiWorld();
    const { store, secrets, catalog, clock } = world;
    const egress = new EgressClient({ allowed: [] });
    parts = await openLoginParts({ store, secrets, catalog, egress, clock, log: silentLog });
    feed = new GatewayFeed(catalog, parts.access, 'e');
    feed.listen((line) => received.push(JSON.parse(line) as GatewayFeedEvent));
    root = `/frontdoor/${world.first.frontdoorId}`;
    const environmentId = await world.addEnvironment('edge');
    await call('POST', '/shares', {
      name: 'app',
      environmentId,
      shareMode: 'public',
      backendMode: 'proxy',
      target: 'http://127.0.0.1:3000',
    });
    ({ id: frontendId } = await store.db.selectFrom('frontend').select('id').executeTakeFirstOrThrow());
  });
  after(async () => {
    await parts.close();
    await world.close();
  });

  async function call(method: string, path: string, body?: unknown): Promise<Record<string, string>> {
    const answer = await world.call(method, path.startsWith('/hostname-claims/') ? path : root + path, {
      body,
    });
    assert.ok(answer.status < 300, answer.text);
    return answer.body as Record<string, string>;
  }

  /** The lines of a change, which follow the response after the tick that collects them. */
  async function deltaOf(method: string, path: string, body?: unknown): Promise<GatewayDelta> {
    feed.flush();
    received.length = 0;
    await call(method, path, body);
    feed.flush();
    const deltas = received.filter((event) => event.type === 'delta');
    assert.ok(deltas.length > 0, 'a change was sent');
    const parts = deltas.flatMap((delta) => delta.set);
    return { ...deltas.at(-1)!, set: [...new Map(parts.map((share) => [share.id, share])).values()] };
  }

  it('receive a policy, and its end', async () => {
    const delta = await deltaOf('PUT', '/shares/app/policy', {
      ipDeny: ['10.0.0.0/8'],
      publicPaths: ['/health'],
    });
    const [share] = delta.set;
    assert.deepEqual(share!.rules!.ip, { allow: [], deny: ['10.0.0.0/8'] });
    assert.deepEqual(share!.rules!.publicPaths, ['/health']);
    const { set } = await deltaOf('PUT', '/shares/app/policy', {});
    assert.deepEqual(
      set.map(({ token, rules }) => [token, rules]),
      [['app', null]],
    );
  });

  it('receive the domain of a share with the share, after its proof, and its end; the zones stay', async () => {
    await call('POST', '/shares/app/domains', { hostname: 'Shop.Example.com' });
    feed.flush();
    assert.ok(
      !received.some((event) => JSON.stringify(event).includes('shop.example.com')),
      'nothing before its proof',
    );
    const { content } = (await world.call('GET', '/hostname-claims')).body as { content: { id: string }[] };
    const proven = await deltaOf('POST', `/hostname-claims/${content[0]!.id}/grant`);
    assert.deepEqual(
      proven.set.map(({ token, customHosts }) => [token, customHosts]),
      [['app', [{ host: 'shop.example.com', authProviderIds: [], isDomain: true }]]],
    );
    assert.equal(proven.zones, undefined, 'a domain costs no list of zones');
    const gone = await deltaOf('DELETE', '/shares/app/domains/shop.example.com');
    assert.deepEqual(
      gone.set.map(({ token, customHosts }) => [token, customHosts]),
      [['app', []]],
    );
  });

  it('receive a custom frontend, each change of its providers, and its end', async () => {
    const { id: providerId } = await call('POST', '/auth-providers', {
      name: 'machines',
      type: 'API_KEY',
      data: { placement: 'bearer', keys: [{ name: 'one' }] },
    });
    const body = { hostname: 'apps.example.com', frontendId, authProviderIds: [providerId] };
    const { id } = await call('POST', '/custom-frontends', body);
    feed.flush();
    assert.ok(
      !received.some((event) => JSON.stringify(event).includes('apps.example.com')),
      'nothing before its proof',
    );
    const made = await deltaOf('POST', `/hostname-claims/${id}/grant`);
    assert.deepEqual(
      made.set.map(({ token, customHosts }) => [token, customHosts]),
      [['app', [{ host: 'app.apps.example.com', authProviderIds: [providerId] }]]],
    );
    assert.deepEqual(made.zones?.toSorted(), ['apps.example.com', 'share.localhost']);

    const provider = `/auth-providers/${providerId}`;
    const rotated = await deltaOf('PATCH', provider, {
      data: { keys: [{ name: 'one', key: '********' }, { name: 'two' }] },
    });
    const [now] = rotated.providers!;
    assert.deepEqual([now!.id, now!.apiKeys!.keys.map(({ name }) => name)], [providerId, ['one', 'two']]);
    const disabled = await deltaOf('PATCH', provider, { enabled: false });
    assert.deepEqual(
      disabled.providers!.map(({ id, enabled }) => [id, enabled]),
      [[providerId, false]],
    );

    const gone = await deltaOf('DELETE', `/custom-frontends/${id}`);
    assert.deepEqual(
      gone.set.map(({ token, customHosts }) => [token, customHosts]),
      [['app', []]],
    );
    assert.deepEqual(gone.zones, ['share.localhost']);
    const removed = await deltaOf('DELETE', provider);
    assert.deepEqual(removed.removedProviders, [providerId]);
  });
});
