import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, it } from 'node:test';
import type { GatewayUsage } from '#domain/gateway-shapes';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { takeGatewayUsage } from './gateway-usage.ts';
import { LoginSweep } from './login-sweep.ts';
import { openLoginFixture, type LoginFixture } from './login-fixture.ts';
import { silentLog } from '#base';

describeEachStore('the usage that gateways report', (open) => {
  let world: LoginFixture;
  before(async () => {
    world = await openLoginFixture({ open });
  });
  after(() => world.close());

  const report = (usage: Partial<GatewayUsage>): Promise<void> =>
    takeGatewayUsage(
      world.store,
      { keys: [], sessions: [], certifiedZones: [], domains: [], tcpPorts: null, udpPorts: null, ...usage },
      world.clock.nowMs(),
    );
  const lastUsed = async (providerId: string) => {
    const rows = await world.store.db
      .selectFrom('auth_provider_key')
      .select(['name', 'last_used_at'])
      .where('auth_provider_id', '=', providerId)
      .orderBy('name')
      .execute();
    return Object.fromEntries(rows.map((row) => [row.name, row.last_used_at]));
  };

  it('moves the last use of keys on, for each key of each provider, and ends no session', async () => {
    const keys = [{ name: 'ci' }, { name: 'cron' }];
    const { id } = await world.addProvider('API_KEY', { placement: 'bearer', keys });
    const other = await world.addProvider('API_KEY', { placement: 'bearer', keys: [{ name: 'ci' }] });
    world.clock.advance(60_000);
    const nowMs = world.clock.nowMs();
    await report({
      keys: [
        { providerId: id, name: 'ci', lastUsedAtMs: nowMs - 30_000 },
        { providerId: id, name: 'ci', lastUsedAtMs: nowMs - 20_000 },
        { providerId: id, name: 'gone', lastUsedAtMs: nowMs },
        { providerId: randomUUID(), name: 'ci', lastUsedAtMs: nowMs },
      ],
    });
    assert.deepEqual(await lastUsed(id), { ci: nowMs - 20_000, cron: null });
    await report({ keys: [{ providerId: id, name: 'ci', lastUsedAtMs: nowMs - 25_000 }] });
    assert.deepEqual(await lastUsed(id), { ci: nowMs - 20_000, cron: null }, 'never backwards');
    await report({ keys: [{ providerId: id, name: 'cron', lastUsedAtMs: nowMs + 9_999_999 }] });
    assert.deepEqual(await lastUsed(id), { ci: nowMs - 20_000, cron: nowMs }, 'never ahead of now');
    assert.deepEqual(await lastUsed(other.id), { ci: null });
    assert.equal(world.parts.access.provider(id)!.version, 1);
  });

  it('does not count for a key that came under the name of an older one', async () => {
    const { id } = await world.addProvider('API_KEY', {
      placement: 'header',
      name: 'X-Key',
      keys: [{ name: 'ci' }],
    });
    const usedAtMs = world.clock.nowMs();
    world.clock.advance(5_000);
    const data = { placement: 'header', name: 'X-Key', keys: [{ name: 'ci' }] };
    await world.changeProvider(id, { data });
    await report({ keys: [{ providerId: id, name: 'ci', lastUsedAtMs: usedAtMs }] });
    assert.deepEqual(await lastUsed(id), { ci: null });
    assert.equal(world.parts.access.provider(id)!.version, 1, 'another key ends nothing');
  });

  it('is taken in whole at its largest', async () => {
    const { id } = await world.addProvider('API_KEY', {
      placement: 'bearer',
      keys: Array.from({ length: 1_000 }, (_, i) => ({ name: `key-${i}` })),
    });
    world.clock.advance(20_000);
    const nowMs = world.clock.nowMs();
    const keys = Array.from({ length: 10_000 }, (_, i) => ({
      providerId: id,
      name: `key-${i % 1_000}`,
      lastUsedAtMs: nowMs - (i % 10_000),
    }));
    const sessions = Array.from({ length: 10_000 }, () => ({ id: randomUUID(), lastUsedAtMs: nowMs }));
    await report({ keys, sessions });
    assert.ok(Object.values(await lastUsed(id)).every((atMs) => atMs !== null && nowMs - atMs <= 1_000));
  });

  it('shows which custom frontends are served: those with a certificate are active, and none stays new', async () => {
    const { db } = world.store;
    const frontend = await db.selectFrom('frontend').select('id').executeTakeFirstOrThrow();
    for (const hostname of ['a.example', 'b.example']) {
      await db
        .insertInto('hostname_claim')
        .values({
          id: randomUUID(),
          frontdoor_id: world.frontdoor.id,
          hostname,
          frontend_id: frontend.id,
          status: 'NEW',
          proof: 'PROVEN',
          created_at: world.clock.nowMs(),
        })
        .execute();
    }
    const statuses = async () => {
      const rows = await db.selectFrom('hostname_claim').select('status').orderBy('hostname').execute();
      return rows.map(({ status }) => status);
    };
    const sweep = new LoginSweep({ store: world.store, clock: world.clock, log: silentLog });
    await report({});
    assert.deepEqual(await statuses(), ['PENDING', 'PENDING']);
    await report({ certifiedZones: ['a.example', 'unknown.example'] });
    assert.deepEqual(await statuses(), ['ACTIVE', 'PENDING']);
    for (let i = 0; i < 5; i += 1) {
      world.clock.advance(20_001);
      await report({ certifiedZones: ['a.example'] });
      await sweep.sweep();
    }
    assert.deepEqual(await statuses(), ['ACTIVE', 'PENDING']);
    world.clock.advance(75_001);
    await sweep.sweep();
    assert.deepEqual(await statuses(), ['PENDING', 'PENDING'], 'no gateway has said so for long');
    await sweep.close();
  });
});
