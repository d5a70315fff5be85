import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { FabricRouteAnswer, MeshAnswer } from '#contract/schemas';
import { openApiWorld, type ApiWorld } from './api-fixture.ts';
import { circuitView, linkView, shareTerminatorView } from './fabric-view-fixture.ts';

interface PageBody {
  readonly content: readonly Readonly<Record<string, unknown>>[];
  readonly totalElements: number;
  readonly totalPages: number;
}

describe('the mesh', () => {
  let world: ApiWorld;
  before(async () => {
    world = await openApiWorld();
  });
  after(() => world.close());
  beforeEach(() => {
    world.fabric.linkList.splice(0);
    world.fabric.circuitList.splice(0);
  });

  const page = async (path: string): Promise<PageBody> => {
    const answer = await world.call('GET', path);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers['cache-control'], 'no-store');
    return answer.body as PageBody;
  };
  const idsOf = ({ content }: PageBody) => content.map(({ id }) => id);
  const events = () =>
    world.store.db.selectFrom('audit_event').selectAll().where('organization_id', '=', '').execute();

  it('is shown as of one moment, with circuits on each link and terminators of each service', async () => {
    const { id } = (await world.call('POST', '/fabric/routers', { body: { name: 'hub' } })).body as {
      id: string;
    };
    world.fabric.linkList.push(linkView('l1', { sourceLatencyMs: 1.5, cost: 3 }), linkView('l2'));
    world.fabric.circuitList.push(circuitView('c1'), circuitView('c2', { linkIds: ['l1', 'l2'] }));
    world.fabric.shareTerminators.push(
      shareTerminatorView('t2', { serviceId: 's2', serviceName: 'b' }),
      shareTerminatorView('t1', { serviceName: 'a', cost: 2, dynamicCost: 1 }),
      shareTerminatorView('t3', { serviceName: 'a', isHealthy: false }),
    );
    const answer = await world.call('GET', '/fabric/mesh');
    assert.equal(answer.headers['cache-control'], 'no-store');
    const { at, routers, links, services, serviceCount } = answer.body as MeshAnswer;
    assert.equal(at, new Date(world.clock.nowMs()).toISOString());
    assert.deepEqual(
      routers.find((router) => router.id === id),
      { id, name: 'hub', online: false, version: null },
    );
    assert.deepEqual(
      links.map((link) => [link.id, link.cost, link.sourceLatencyMs, link.usable, link.circuits]),
      [
        ['l1', 3, 1.5, true, 2],
        ['l2', 1, null, true, 1],
      ],
    );
    assert.equal(serviceCount, 2);
    assert.deepEqual(
      services.map(({ name, terminators }) => [name, ...terminators.map((each) => [each.id, each.cost])]),
      [
        ['a', ['t1', 3], ['t3', 0]],
        ['b', ['t2', 0]],
      ],
    );
    world.fabric.shareTerminators.splice(0);
  });

  it('shows the way of a circuit with the reason for each terminator', async () => {
    const { id: routerId } = (await world.call('POST', '/fabric/routers', { body: { name: 'gate' } }))
      .body as {
      id: string;
    };
    const near = shareTerminatorView('near', { routerId, dynamicCost: 2 });
    const path = { routerIds: [routerId], linkIds: [], cost: 0 };
    const usual = { precedence: 'default' as const };
    const route = {
      serviceName: 'app',
      strategy: 'smartrouting' as const,
      candidates: [
        { ...usual, terminator: shareTerminatorView('far', { routerId }), path, cost: 12 },
        { ...usual, terminator: near, path, cost: 2 },
        { ...usual, terminator: shareTerminatorView('ill', { isHealthy: false }), path, cost: 0 },
        { terminator: shareTerminatorView('last'), path, precedence: 'failed' as const, cost: 0 },
        { ...usual, terminator: shareTerminatorView('lost'), path: undefined, cost: undefined },
      ],
      chosenId: 'near',
      problem: undefined,
    };
    world.fabric.routeAnswer = route;
    const asked = `/fabric/route?routerId=${routerId}&serviceId=s1`;
    const { candidates, ...answer } = (await world.call('GET', asked)).body as FabricRouteAnswer;
    assert.deepEqual(answer, {
      routerId,
      serviceId: 's1',
      serviceName: 'app',
      terminatorStrategy: 'smartrouting',
      terminatorId: 'near',
      routerIds: [routerId],
      routerNames: ['gate'],
      linkIds: [],
      cost: 2,
      reason: 'it is the cheapest of those with the best health and precedence',
    });
    assert.deepEqual(
      candidates.map(({ terminatorId, reason }) => [terminatorId, reason]),
      [
        ['near', 'it is the cheapest of those with the best health and precedence'],
        ['far', 'it costs 10 more'],
        ['ill', 'it is not healthy, and others are'],
        ['last', 'its precedence is failed, and others have default'],
        ['lost', 'no usable links lead to its router'],
      ],
    );
    world.fabric.routeAnswer = { ...route, candidates: [], chosenId: undefined, problem: 'nothing hosts it' };
    const none = (await world.call('GET', asked)).body as FabricRouteAnswer;
    assert.deepEqual([none.terminatorId, none.cost, none.reason], [null, null, 'nothing hosts it']);
    world.fabric.routeAnswer = undefined;
    assert.equal((await world.call('GET', asked)).status, 404);
    assert.equal((await world.call('GET', '/fabric/route?routerId=x&serviceId=s1')).status, 404);
    assert.equal((await world.call('GET', '/fabric/route?routerId=x')).status, 400);
  });

  it('shows its links with cost, latencies and connections', async () => {
    const { id } = (await world.call('POST', '/fabric/routers', { body: { name: 'east' } })).body as {
      id: string;
    };
    world.fabric.linkList.push(
      linkView('l1', {
        destinationRouterId: id,
        sourceLatencyMs: 1.5,
        cost: 3,
        connections: [
          { type: 'link.default', localAddress: 'tcp:127.0.0.1:1', remoteAddress: 'tcp:127.0.0.1:2' },
        ],
      }),
    );
    assert.deepEqual((await page('/fabric/links')).content, [
      {
        id: 'l1',
        sourceRouterId: 'r1',
        sourceRouterName: '',
        destinationRouterId: id,
        destinationRouterName: 'east',
        protocol: 'tls',
        dialAddress: 'tls:127.0.0.1:10080',
        iteration: 1,
        staticCost: 1,
        sourceLatencyMs: 1.5,
        destinationLatencyMs: null,
        cost: 3,
        usable: true,
        connections: [
          { type: 'link.default', localAddress: 'tcp:127.0.0.1:1', remoteAddress: 'tcp:127.0.0.1:2' },
        ],
      },
    ]);
  });

  it('lists page by page, as things came or sorted, and counts what a filter leaves', async () => {
    for (const [id, cost] of [
      ['b', 2],
      ['c', 1],
      ['a', 2],
    ] as const)
      world.fabric.linkList.push(linkView(id, { cost, destinationRouterId: id === 'c' ? 'r3' : 'r2' }));
    assert.deepEqual(idsOf(await page('/fabric/links')), ['b', 'c', 'a']);
    assert.deepEqual(idsOf(await page('/fabric/links?sort=id')), ['a', 'b', 'c']);
    assert.deepEqual(idsOf(await page('/fabric/links?sort=cost')), ['c', 'a', 'b']);
    assert.deepEqual(idsOf(await page('/fabric/links?sort=cost,desc')), ['b', 'a', 'c']);
    const second = await page('/fabric/links?size=2&page=1&sort=id');
    assert.deepEqual([idsOf(second), second.totalElements, second.totalPages], [['c'], 3, 2]);
    const filtered = await page('/fabric/links?routerId=r3');
    assert.deepEqual([idsOf(filtered), filtered.totalElements], [['c'], 1]);
    assert.equal((await page('/fabric/links?routerId=r1')).totalElements, 3);
    for (const query of ['sort=name', 'routerId=', 'routerId=a&routerId=b', `routerId=${'x'.repeat(256)}`])
      assert.equal((await world.call('GET', `/fabric/links?${query}`)).status, 400, query);
  });

  it('shows the way of each circuit, those of one router or service when asked', async () => {
    world.fabric.circuitList.push(
      circuitView('c2', { identityId: 'i1', createdAtMs: 2_000, routerIds: ['r3'], linkIds: [] }),
      circuitView('c1', { serviceId: 's2', createdAtMs: 1_000 }),
    );
    const all = await page('/fabric/circuits?sort=createdAt');
    assert.deepEqual(idsOf(all), ['c1', 'c2']);
    assert.deepEqual(all.content[1], {
      id: 'c2',
      serviceId: 's1',
      serviceName: 'database',
      identityId: 'i1',
      terminatorId: 't1',
      routerIds: ['r3'],
      routerNames: [''],
      linkIds: [],
      cost: 11,
      createdAt: '1970-01-01T00:00:02.000Z',
    });
    assert.equal(all.content[0]!['identityId'], null);
    assert.deepEqual(idsOf(await page('/fabric/circuits?routerId=r2')), ['c1']);
    assert.deepEqual(idsOf(await page('/fabric/circuits?serviceId=s1')), ['c2']);
  });

  it('ends a circuit, and records the caller', async () => {
    world.fabric.circuitList.push(circuitView('c1'), circuitView('c2'));
    assert.equal((await world.call('DELETE', '/fabric/circuits/c1')).status, 204);
    assert.deepEqual(idsOf(await page('/fabric/circuits')), ['c2']);
    const event = (await events()).at(-1)!;
    assert.deepEqual([event.action, event.target_kind, event.target_id], ['endCircuit', 'circuit', 'c1']);
    const again = await world.call('DELETE', '/fabric/circuits/c1');
    assert.deepEqual(
      [again.status, again.body],
      [404, { error: 'not_found', message: 'Circuit c1 not found' }],
    );
  });

  it('asks routers about themselves, one or all that are connected', async () => {
    const made = await world.call('POST', '/fabric/routers', { body: { name: 'r1' } });
    const { id } = made.body as { id: string };
    const inspect = (body: unknown) => world.call('POST', '/fabric/inspect', { body });
    const away = await inspect({ names: ['links'], routerId: id });
    assert.deepEqual(
      [away.status, (away.body as { message: string }).message],
      [409, `Router ${id} is not connected to this control plane`],
    );
    const none = await inspect({ names: ['links'], routerId: 'none' });
    assert.deepEqual(
      [none.status, none.body],
      [404, { error: 'not_found', message: 'Router none not found' }],
    );
    assert.deepEqual(world.fabric.inspected, []);

    world.fabric.connected.set(id, {});
    world.fabric.answers = [
      { routerId: id, name: 'links', value: { links: [] } },
      { routerId: id, name: 'config', error: 'not allowed' },
    ];
    const answer = await inspect({ names: ['links', 'config'], routerId: id });
    assert.deepEqual([answer.status, answer.body], [200, { values: world.fabric.answers }]);
    await inspect({ names: ['metrics'] });
    assert.deepEqual(world.fabric.inspected, [
      { names: ['links', 'config'], routerId: id },
      { names: ['metrics'], routerId: undefined },
    ]);
    const recorded = (await events()).filter(({ action }) => action === 'inspectRouters');
    assert.deepEqual(
      recorded.map(({ target_id, after: given }) => [target_id, given]),
      [
        [id, '{"names":["links","config"]}'],
        ['all', '{"names":["metrics"]}'],
      ],
    );
    for (const body of [{}, { names: [] }, { names: [''] }, { names: Array.from({ length: 21 }, () => 'x') }])
      assert.equal((await inspect(body)).status, 400);
  });
});
