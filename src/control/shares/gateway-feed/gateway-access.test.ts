import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { after, before, it } from 'node:test';
import type { GatewayDelta, GatewayFeedEvent, GatewaySnapshot } from '#domain/gateway-shapes';
import { GatewayFeed } from './gateway-feed.ts';
import { createFrontdoor, deleteFrontdoor } from '../records/frontdoor-store.ts';
import { deleteAuthProvider, lockAuthProvider } from '../records/auth-provider-store.ts';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { openLoginFixture, type LoginFixture } from '../logins/login-fixture.ts';

describeEachStore('the access data in the feed of gateways', (open) => {
  let world: LoginFixture;
  let feed: GatewayFeed;
  let received: GatewayFeedEvent[] = [];
  before(async () => {
    world = await openLoginFixture({ open });
    feed = new GatewayFeed(world.catalog, world.parts.access, 'epoch');
    feed.listen((line) => received.push(JSON.parse(line) as GatewayFeedEvent));
  });
  after(() => world.close());

  /** What the feed says of `work`, as one delta. */
  async function delta(work: () => Promise<unknown>): Promise<Partial<GatewayDelta>> {
    feed.flush();
    received = [];
    await work();
    feed.flush();
    const {
      version: _version,
      type: _type,
      ...rest
    } = received.reduce<Record<string, unknown>>((sum, event) => Object.assign(sum, event), {});
    return rest;
  }
  const snapshot = (): GatewaySnapshot => JSON.parse(feed.opening(undefined)[0]!) as GatewaySnapshot;

  it('names each key of a provider by its HMAC under a pepper that comes with it', async () => {
    const given = 'a-key-that-somebody-chose';
    const expiresAt = '2031-01-01T00:00:00Z';
    const data = {
      placement: 'header',
      name: 'X-Api-Key',
      keys: [{ name: 'ci', key: given, expiresAt }, { name: 'cron' }],
    };
    const { providers } = await delta(() => world.addProvider('API_KEY', data));
    const [provider] = providers!;
    assert.equal(providers!.length, 1);
    const pepper = Buffer.from(snapshot().keys.apiKeyPepper, 'base64');
    const [ci, cron] = provider!.apiKeys!.keys;
    assert.deepEqual(ci, {
      name: 'ci',
      hmac: createHmac('sha256', pepper).update(given).digest('hex'),
      expiresAtMs: Date.parse(expiresAt),
    });
    assert.deepEqual([cron!.name, cron!.expiresAtMs], ['cron', null]);
    assert.deepEqual([provider!.apiKeys!.placement, provider!.apiKeys!.name], ['header', 'X-Api-Key']);
    assert.equal(JSON.stringify(snapshot()).includes(given), false);
  });

  it('follows a provider through its life, with the commit', async () => {
    const data = { issuer: 'https://issuer.example', client_id: 'a', client_secret: 'hidden' };
    const made = await delta(() => world.addProvider('OIDC', data));
    const { id } = made.providers![0]!;
    assert.deepEqual(made, {
      set: [],
      removed: [],
      providers: [
        {
          id,
          frontdoorId: world.frontdoor.id,
          name: 'a OIDC',
          type: 'OIDC',
          enabled: true,
          version: 1,
          apiKeys: null,
          tokens: null,
        },
      ],
    });
    const disabled = await delta(() => world.changeProvider(id, { enabled: false }));
    assert.deepEqual(
      disabled.providers!.map(({ enabled, version }) => [enabled, version]),
      [[false, 2]],
    );
    const renamed = await delta(() => world.changeProvider(id, { name: 'Renamed' }));
    assert.deepEqual(
      renamed.providers!.map(({ name, version }) => [name, version]),
      [['Renamed', 2]],
    );
    const gone = await delta(() =>
      world.store.transaction(async (trx, touch) =>
        deleteAuthProvider(trx, touch, (await lockAuthProvider(trx, world.frontdoor, id))!),
      ),
    );
    assert.deepEqual(gone, { set: [], removed: [], removedProviders: [id] });
  });

  it('names every zone, and those of custom frontends, which go with their frontdoor as its providers do', async () => {
    assert.deepEqual(snapshot().zones, ['share.localhost']);
    const { organizationId } = world.frontdoor;
    const { store, clock } = world;
    const frontend = await store.db.selectFrom('frontend').select('id').executeTakeFirstOrThrow();
    const providerId = randomUUID();
    let frontdoor!: Awaited<ReturnType<typeof createFrontdoor>>;
    const added = await delta(() =>
      store.transaction(async (trx, touch) => {
        frontdoor = await createFrontdoor(trx, touch, { organizationId, name: 'x', nowMs: clock.nowMs() });
        const custom = { id: randomUUID(), frontdoor_id: frontdoor.id, hostname: 'apps.example.com' };
        const proven = { status: 'NEW', proof: 'PROVEN' } as const;
        await trx
          .insertInto('hostname_claim')
          .values({ ...custom, ...proven, frontend_id: frontend.id, created_at: clock.nowMs() })
          .execute();
        touch('custom-frontend', custom.id);
        await trx
          .insertInto('auth_provider')
          .values({
            id: providerId,
            frontdoor_id: frontdoor.id,
            name: 'theirs',
            type: 'GITHUB',
            enabled: 1,
            data: '{"client_id":"a"}',
            secrets_sealed: null,
            version: 1,
            created_at: clock.nowMs(),
            updated_at: clock.nowMs(),
          })
          .execute();
        touch('auth-provider', providerId);
        const guard = { custom_frontend_id: custom.id, auth_provider_id: providerId, position: 0 };
        await trx.insertInto('custom_frontend_auth_provider').values(guard).execute();
      }),
    );
    assert.deepEqual(added.zones, ['apps.example.com', 'share.localhost']);
    assert.deepEqual(
      added.providers!.map(({ id }) => id),
      [providerId],
    );
    const gone = await delta(() =>
      store.transaction((trx, touch) => deleteFrontdoor(trx, touch, frontdoor, 0)),
    );
    assert.deepEqual(gone.zones, ['share.localhost']);
    assert.deepEqual(gone.removedProviders, [providerId]);
  });

  it('comes whole when a change may have been missed, so that no ended session stays valid', async () => {
    feed.flush();
    received = [];
    const { version } = snapshot();
    await world.parts.access.onChanges([{ entity: 'everything', id: '' }]);
    assert.deepEqual(
      received.map((event) => [event.type, 'version' in event ? event.version : 0]),
      [['snapshot', version + 1]],
    );
    const missed = feed.opening({ version, epoch: 'epoch' });
    assert.equal((JSON.parse(missed[0]!) as GatewayFeedEvent).type, 'snapshot', 'who was away too');
    assert.deepEqual(feed.opening({ version: version + 1, epoch: 'epoch' }), []);
  });

  it('keeps no more of what is past than so many changes', async () => {
    const { version } = snapshot();
    for (let i = 0; i < 60; i += 1) {
      await world.parts.access.onChanges(
        Array.from({ length: 1_000 }, (_, n) => ({ entity: 'login-session', id: `${i}-${n}` }) as const),
      );
      feed.flush();
    }
    assert.equal(
      (JSON.parse(feed.opening({ version, epoch: 'epoch' })[0]!) as GatewayFeedEvent).type,
      'snapshot',
    );
    const recent = feed.opening({ version: version + 20, epoch: 'epoch' });
    assert.equal(recent.length, 40);
  });
});
