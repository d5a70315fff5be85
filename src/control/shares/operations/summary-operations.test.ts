// Summaries: what they count, for whom, and what they name.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, it } from 'node:test';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import type { FrontdoorAttentionAnswer } from '#contract/schemas';
import { openApiWorld, type ApiWorld } from './api-fixture.ts';

const DAY_MS = 86_400_000;

describeEachStore('summaries', (open) => {
  let world: ApiWorld;
  let laptop: string;
  before(async () => {
    world = await openApiWorld({ open });
    const { frontdoorId } = world.first;
    laptop = await world.addEnvironment('laptop');
    const server = await world.addEnvironment('server');
    const old = await world.addEnvironment('old');
    await world.addEnvironment('foreign', world.other.frontdoorId);
    world.connected.add(laptop);
    await world.store.transaction(async (trx, touch) => {
      const ids = [server, laptop];
      await trx.updateTable('identity').set({ agent_version: '1.2.3' }).where('id', 'in', ids).execute();
      for (const id of ids) touch('identity', id);
    });
    for (const [name, shareMode] of [
      ['one', 'public'],
      ['two', 'public'],
      ['three', 'private'],
    ]) {
      const target = 'http://127.0.0.1:1';
      const body = { name, environmentId: laptop, shareMode, backendMode: 'proxy', target };
      const { status, text } = await world.call('POST', `/frontdoor/${frontdoorId}/shares`, { body });
      assert.equal(status, 201, text);
    }
    for (const { id, name } of world.catalog.all()) {
      if (name === 'one') world.statuses.set(id, { state: 'DEPLOYED' });
      if (name === 'two') world.statuses.set(id, { state: 'FAILED' });
    }
    await world.call('POST', '/fabric/routers', { body: { name: 'east' } });
    const certificate = (identityId: string, inDays: number) => ({
      fingerprint: randomUUID(),
      identity_id: identityId,
      spki_sha256: 'x',
      not_after: world.clock.nowMs() + inDays * DAY_MS,
      created_at: 0,
    });
    await world.store.db
      .insertInto('certificate')
      .values([
        certificate(laptop, 3),
        certificate(old, 90),
        certificate(server, 1),
        certificate(server, 100),
      ])
      .execute();
  });
  after(() => world.close());

  it('of a frontdoor count its resources by state, and name certificates that expire soon', async () => {
    const { frontdoorId } = world.first;
    const { body } = await world.call('GET', `/frontdoor/${frontdoorId}/summary`);
    assert.deepEqual(body, {
      frontdoorId,
      environments: { total: 3, online: 1 },
      shares: { total: 3, pending: 1, deployed: 1, failed: 1, public: 2, private: 1 },
      authProviders: { total: 0, enabled: 0 },
      customFrontends: { total: 0, active: 0 },
      failuresLastHour: 0,
      agentVersions: [
        { version: '1.2.3', count: 2 },
        { version: null, count: 1 },
      ],
      expiringCertificates: [
        {
          kind: 'environment',
          id: laptop,
          name: 'laptop',
          expiresAt: new Date(world.clock.nowMs() + 3 * DAY_MS).toISOString(),
        },
      ],
    });
  });

  it('of the installation count those of all organizations, and are for administrators', async () => {
    const { body } = await world.call('GET', '/summary');
    assert.partialDeepStrictEqual(body, {
      organizations: 2,
      frontdoors: 2,
      environments: { total: 4, online: 1 },
      shares: { total: 3, deployed: 1 },
      routers: { total: 1, online: 0 },
      gateways: { total: 0, online: 0 },
      controlPlanes: { running: 1, silent: 0 },
    });
    const { authorization } = world.other;
    assert.equal((await world.call('GET', '/summary', { authorization })).status, 403);
    const own = await world.call('GET', `/frontdoor/${world.other.frontdoorId}/summary`, { authorization });
    assert.partialDeepStrictEqual(own.body, { environments: { total: 1, online: 0 }, shares: { total: 0 } });
  });

  it('of what needs attention name the first of each kind, and count all', async () => {
    const { frontdoorId } = world.first;
    const { id: frontendId } = await world.store.db
      .selectFrom('frontend')
      .select('id')
      .executeTakeFirstOrThrow();
    const made = await world.call('POST', `/frontdoor/${frontdoorId}/custom-frontends`, {
      body: { hostname: 'apps.example.com', frontendId },
    });
    assert.equal(made.status, 201, made.text);
    const { body, text } = await world.call('GET', `/frontdoor/${frontdoorId}/attention`);
    const { disconnectedAgents, ...rest } = body as FrontdoorAttentionAnswer;
    assert.deepEqual(rest, {
      frontdoorId,
      failingShares: { total: 1, first: [{ token: 'two', name: 'two', lastError: 'the last probe failed' }] },
      waitingDomains: {
        total: 1,
        first: [{ id: (made.body as { id: string }).id, hostname: 'apps.example.com' }],
      },
      expiringCertificates: [
        {
          kind: 'environment',
          id: laptop,
          name: 'laptop',
          expiresAt: new Date(world.clock.nowMs() + 3 * DAY_MS).toISOString(),
        },
      ],
      waitingPeople: 0,
    });
    const away = disconnectedAgents.first.map(({ name, lastSeenAt }) => [name, lastSeenAt]);
    assert.deepEqual(
      [disconnectedAgents.total, away],
      [
        2,
        [
          ['old', null],
          ['server', null],
        ],
      ],
    );
    assert.doesNotMatch(text, /foreign/);
    const { authorization } = world.other;
    const foreign = `/frontdoor/${frontdoorId}/attention`;
    assert.equal((await world.call('GET', foreign, { authorization })).status, 403);
    await world.call(
      'DELETE',
      `/frontdoor/${frontdoorId}/custom-frontends/${(made.body as { id: string }).id}`,
    );
  });

  it('of a frontdoor count the shares that lists show in each state, also those of agents that are away', async () => {
    const { frontdoorId } = world.first;
    world.connected.delete(laptop);
    const { body } = await world.call('GET', `/frontdoor/${frontdoorId}/summary`);
    const shares = { total: 3, pending: 0, deployed: 0, failed: 3, public: 2, private: 1 };
    assert.deepEqual((body as { shares: unknown }).shares, shares);
    const failed = await world.call('GET', `/frontdoor/${frontdoorId}/shares?status=FAILED`);
    assert.equal((failed.body as { totalElements: number }).totalElements, 3);
  });
});
