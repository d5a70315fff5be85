import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isTunnelRouter, type EdgeRouter } from '../../overlay/model/mod.ts';
import { putIdentityClient } from '../../overlay/records/mod.ts';
import { claimEnrollment } from '../../overlay/enrollments/mod.ts';
import { BASE_URL, openApiWorld, type ApiWorld } from './api-fixture.ts';
import { createFabricEnrollment } from './fabric-operations.ts';

/** The fields of a router that is not connected. */
const AWAY = {
  online: false,
  version: null,
  connectedAt: null,
  linkListeners: [],
  edgeAddress: null,
  tunneler: false,
  roleAttributes: [],
};

describe('routers and gateways', () => {
  let world: ApiWorld;
  before(async () => {
    world = await openApiWorld();
  });
  after(() => world.close());

  for (const [kind, method] of [
    ['router', 'erott'],
    ['gateway', 'ott'],
  ] as const) {
    it(`that are ${kind}s are made with a JWT, listed and deleted`, async () => {
      const path = `/fabric/${kind}s`;
      const made = await world.call('POST', path, { body: { name: ' one ' } });
      assert.equal(made.status, 201);
      const { id } = made.body as { id: string };
      assert.equal(made.headers['location'], `${BASE_URL}${path}/${id}`);
      assert.deepEqual(made.body, { id, name: 'one', token: `jwt-${world.minted.length}` });
      const minted = world.minted.at(-1)!;
      assert.equal(minted.method, method);
      assert.equal(minted.subject, id);
      assert.equal(world.model.identity(id)?.kind, kind);

      const nowMs = world.clock.nowMs();
      const wrong = await claimEnrollment(world.store.db, world.secrets, minted.jti, nowMs, ['environment']);
      assert.deepEqual(wrong, { ok: false, reason: 'wrong-method' });
      const claim = await claimEnrollment(world.store.db, world.secrets, minted.jti, nowMs, [kind]);
      assert.ok(claim.ok && claim.enrollment.identityId === id);

      const listed = await world.call('GET', path);
      assert.deepEqual(listed.body, {
        content: [
          {
            id,
            name: 'one',
            enrolled: false,
            online: false,
            createdAt: new Date(nowMs).toISOString(),
            ...(kind === 'router' ? AWAY : { version: null }),
          },
        ],
        pageable: { pageNumber: 0, pageSize: 20 },
        totalElements: 1,
        totalPages: 1,
      });
      assert.equal((await world.call('DELETE', `${path}/${id}`)).status, 204);
      assert.equal((await world.call('DELETE', `${path}/${id}`)).status, 404);
      assert.equal(world.model.identity(id), undefined);
    });
  }

  it('that are gateways are online while they have a channel, with the version of their last log-in', async () => {
    const made = await world.call('POST', '/fabric/gateways', { body: { name: 'shown' } });
    const { id } = made.body as { id: string };
    const shown = async () => {
      const { body } = await world.call('GET', `/fabric/gateways/${id}`);
      const page = (await world.call('GET', '/fabric/gateways')).body as { content: { id: string }[] };
      assert.deepEqual(
        page.content.find((gateway) => gateway.id === id),
        body,
      );
      const { online, version } = body as { online: boolean; version: string | null };
      return [online, version];
    };
    assert.deepEqual(await shown(), [false, null]);
    const sdkInfo = { type: 'frontdoor', version: '1.2.3' };
    await putIdentityClient(world.store.db, id, { envInfo: {}, sdkInfo });
    world.connected.add(id);
    assert.deepEqual(await shown(), [true, '1.2.3']);
    assert.equal((await world.call('DELETE', `/fabric/gateways/${id}`)).status, 204);
  });

  it('that may tunnel are identities of the edge management API, with the same id', async () => {
    const made = await world.call('POST', '/fabric/routers', { body: { name: 'edge-1', tunneler: true } });
    assert.equal(made.status, 201, made.text);
    const { id } = made.body as { id: string };
    assert.equal(
      ((await world.call('GET', `/fabric/routers/${id}`)).body as { tunneler: boolean }).tunneler,
      true,
    );
    const attributes = world.model.edge.get('edge-router', id)!;
    assert.ok(isTunnelRouter(attributes));
    assert.equal(attributes.name, 'edge-1');
    const again = await world.call('POST', '/fabric/routers', { body: { name: 'edge-1', tunneler: true } });
    assert.equal(again.status, 409, 'policies select by name');
    assert.equal((await world.call('DELETE', `/fabric/routers/${id}`)).status, 204);
    assert.equal(world.model.edge.get('edge-router', id), undefined);
  });

  it('may have role attributes, once each', async () => {
    const roleAttributes = ['site', 'fd-1', 'site'];
    const made = await world.call('POST', '/fabric/routers', { body: { name: 'sited', roleAttributes } });
    assert.equal(made.status, 201, made.text);
    const { id } = made.body as { id: string };
    const { body } = await world.call('GET', `/fabric/routers/${id}`);
    assert.partialDeepStrictEqual(body, { tunneler: false, roleAttributes: ['site', 'fd-1'] });
    assert.equal(world.model.edge.tunnelsFor(id, 'fd-1'), false, 'it may not tunnel');
    const wrong = { name: 'other', roleAttributes: [''] };
    assert.equal((await world.call('POST', '/fabric/routers', { body: wrong })).status, 400);
  });

  it('change attributes and the right to tunnel, which policies follow at once, and their entity tag', async () => {
    const { id } = (await world.call('POST', '/fabric/routers', { body: { name: 'changed' } })).body as {
      id: string;
    };
    const path = `/fabric/routers/${id}`;
    const patch = (body: object, headers = {}) => world.call('PATCH', path, { body, headers });
    const first = await patch({ roleAttributes: ['fd-1', 'fd-1'] });
    assert.equal(first.status, 200, first.text);
    assert.partialDeepStrictEqual(first.body, { tunneler: false, roleAttributes: ['fd-1'] });
    assert.equal(world.model.edge.tunnelsFor(id, 'fd-1'), false);
    const second = await patch({ tunneler: true });
    assert.partialDeepStrictEqual(second.body, { tunneler: true, roleAttributes: ['fd-1'] });
    assert.equal(world.model.edge.tunnelsFor(id, 'fd-1'), true);
    const etag = String(second.headers['etag']);
    assert.notEqual(etag, first.headers['etag']);
    await patch({ roleAttributes: [] });
    assert.equal(world.model.edge.tunnelsFor(id, 'fd-1'), false);
    assert.equal((await patch({ tunneler: false }, { 'if-match': etag })).status, 412);
    assert.equal((await patch({ roleAttributes: [''] })).status, 400);
    assert.equal((await world.call('PATCH', '/fabric/routers/none', { body: {} })).status, 404);
  });

  it('show the state of a router that is connected here, and the address of one that is connected elsewhere', async () => {
    const edges: EdgeRouter[] = [];
    const other = await openApiWorld({ edgeRouters: () => edges });
    const { id } = (await other.call('POST', '/fabric/routers', { body: { name: 'r1' } })).body as {
      id: string;
    };
    const path = `/fabric/routers/${id}`;
    const shown = async () => {
      const one = (await other.call('GET', path)).body as Record<string, unknown>;
      const { content } = (await other.call('GET', '/fabric/routers')).body as { content: unknown[] };
      assert.deepEqual(content, [one]);
      const { id: _id, name: _name, enrolled: _enrolled, createdAt: _createdAt, ...live } = one;
      return live;
    };
    assert.deepEqual(await shown(), AWAY);
    other.fabric.connected.set(id, {
      version: 'v1.7.2',
      connectedAtMs: 1_000,
      linkListeners: ['tls:10.0.0.1:10080'],
      edgeAddress: '10.0.0.1:3022',
    });
    assert.deepEqual(await shown(), {
      tunneler: false,
      roleAttributes: [],
      online: true,
      version: 'v1.7.2',
      connectedAt: '1970-01-01T00:00:01.000Z',
      linkListeners: ['tls:10.0.0.1:10080'],
      edgeAddress: '10.0.0.1:3022',
    });
    other.fabric.connected.clear();
    edges.push({ id, name: 'r1', hostname: '::1', port: 3022, isOnline: true });
    assert.deepEqual(await shown(), { ...AWAY, online: true, edgeAddress: '[::1]:3022' });
    assert.equal((await other.call('GET', '/fabric/routers/none')).status, 404);
    await other.close();
  });

  it('are for administrators alone', async () => {
    const { authorization } = await world.addAccount(
      world.first.organizationId,
      'frontdoor.read frontdoor.write',
    );
    for (const [method, path] of [
      ['POST', '/fabric/routers'],
      ['GET', '/fabric/routers'],
      ['DELETE', '/fabric/gateways/x'],
    ] as const) {
      const answer = await world.call(method, path, { authorization });
      assert.equal(answer.status, 403);
      assert.equal((answer.body as { error: string }).error, 'insufficient_scope');
    }
  });

  it('are not deleted as each other, nor are environments', async () => {
    const environmentId = await world.addEnvironment('edge');
    assert.equal((await world.call('DELETE', `/fabric/routers/${environmentId}`)).status, 404);
    assert.ok(world.model.identity(environmentId));
  });

  it('that the program makes for itself are marked as its own', async () => {
    const parts = {
      store: world.store,
      secrets: world.secrets,
      clock: world.clock,
      fabricEnrollmentTtlMs: 1_000,
    };
    const { node } = await createFabricEnrollment(parts, 'gateway', 'built in');
    const event = await world.store.db
      .selectFrom('audit_event')
      .selectAll()
      .where('target_id', '=', node.id)
      .executeTakeFirstOrThrow();
    assert.deepEqual(
      [event.organization_id, event.actor_kind, event.action],
      ['', 'system', 'createGateway'],
    );
  });
});
