import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, it } from 'node:test';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { BASE_URL, openApiWorld, type ApiWorld } from './api-fixture.ts';

describeEachStore('frontdoors', (open) => {
  let world: ApiWorld;
  before(async () => {
    world = await openApiWorld({ open });
  });
  after(() => world.close());

  it('are created, read and deleted', async () => {
    const { organizationId } = world.first;
    const made = await world.call('POST', '/frontdoor', { body: { name: '  West  ', organizationId } });
    assert.equal(made.status, 201);
    const { id } = made.body as { id: string };
    assert.deepEqual(made.body, { id, name: 'West', organizationId });
    assert.equal(made.headers['location'], `${BASE_URL}/frontdoor/${id}`);
    assert.equal(made.headers['content-type'], 'application/json; charset=utf-8');

    const read = await world.call('GET', `/frontdoor/${id}`);
    assert.equal(read.status, 200);
    assert.deepEqual(read.body, made.body);
    assert.deepEqual((await world.call('GET', `/frontdoor/${id.toUpperCase()}`)).body, made.body);

    const removed = await world.call('DELETE', `/frontdoor/${id}`);
    assert.equal(removed.status, 204);
    assert.equal(removed.text, '');
    assert.equal(removed.headers['content-type'], undefined);
    assert.equal((await world.call('GET', `/frontdoor/${id}`)).status, 403);
    assert.equal((await world.call('DELETE', `/frontdoor/${id}`)).status, 403);
  });

  it('are renamed, by one of several who read the same state', async () => {
    const { organizationId } = world.first;
    const made = await world.call('POST', '/frontdoor', { body: { name: 'Before', organizationId } });
    const { id } = made.body as { id: string };
    const ifMatch = { 'if-match': String(made.headers['etag']) };
    const rename = (name: string) =>
      world.call('PATCH', `/frontdoor/${id}`, { body: { ...(made.body as object), name }, headers: ifMatch });
    const changed = await rename('After');
    assert.deepEqual(changed.body, { id, name: 'After', organizationId });
    assert.equal((await rename('Lost')).status, 412);
    const read = await world.call('GET', `/frontdoor/${id}`);
    assert.deepEqual([read.body, read.headers['etag']], [changed.body, changed.headers['etag']]);
    const nothing = await world.call('PATCH', `/frontdoor/${id}`, { body: {} });
    assert.deepEqual(nothing.body, changed.body);
    await world.call('DELETE', `/frontdoor/${id}`);
  });

  it("are found by organization: the organization's first one", async () => {
    const { organizationId, frontdoorId } = world.first;
    world.clock.advance(1);
    const later = await world.call('POST', '/frontdoor', { body: { name: 'Later', organizationId } });
    const found = await world.call('GET', `/frontdoor?organizationId=${organizationId}`);
    assert.equal(found.status, 200);
    assert.deepEqual(found.body, { id: frontdoorId, name: 'First frontdoor', organizationId });
    await world.call('DELETE', `/frontdoor/${(later.body as { id: string }).id}`);
  });

  it('answer 404 when the organization has none', async () => {
    const { organizationId, frontdoorId, authorization } = world.other;
    await world.store.db.deleteFrom('frontdoor').where('id', '=', frontdoorId).execute();
    const found = await world.call('GET', `/frontdoor?organizationId=${organizationId}`, { authorization });
    assert.equal(found.status, 404);
    assert.equal((found.body as { error: string }).error, 'not_found');
    await world.store.db
      .insertInto('frontdoor')
      .values({ id: frontdoorId, organization_id: organizationId, name: 'other', created_at: 1 })
      .execute();
  });

  it('of another organization and missing ones are refused alike', async () => {
    const foreign = world.other.frontdoorId;
    const missing = randomUUID();
    for (const path of ['', '/environments', '/shares', '/agents', '/agents/x/status']) {
      const [a, b] = await Promise.all([
        world.call('GET', `/frontdoor/${foreign}${path}`),
        world.call('GET', `/frontdoor/${missing}${path}`),
      ]);
      assert.equal(a.status, 403);
      assert.deepEqual(a.body, { error: 'not_found', message: `Frontdoor ${foreign} not found` });
      assert.equal(a.text.replace(foreign, missing), b.text);
    }
    assert.equal((await world.call('DELETE', `/frontdoor/${foreign}`)).status, 403);
    const own = await world.call('GET', `/frontdoor/${foreign}`, {
      authorization: world.other.authorization,
    });
    assert.equal(own.status, 200);
  });

  it('of other organizations are neither made nor found', async () => {
    for (const organizationId of [world.other.organizationId, randomUUID()]) {
      const message = `Organization ${organizationId} not found`;
      const made = await world.call('POST', '/frontdoor', { body: { name: 'x', organizationId } });
      assert.equal(made.status, 403);
      assert.deepEqual(made.body, { error: 'not_found', message });
      const found = await world.call('GET', `/frontdoor?organizationId=${organizationId}`);
      assert.equal(found.status, 403);
      assert.deepEqual(found.body, { error: 'not_found', message });
    }
  });

  it('are refused with the property and type that is wrong', async () => {
    const { organizationId } = world.first;
    const named = 'Value for name must be of name (1 to 255 characters, no control characters)';
    const cases: [unknown, string][] = [
      [{ organizationId }, 'Value for name must be of string'],
      [{ name: 5, organizationId }, 'Value for name must be of string'],
      [{ name: '', organizationId }, named],
      [{ name: 'a\u0000b', organizationId }, named],
      [{ name: 'x'.repeat(256), organizationId }, named],
      [{ name: 'x' }, 'Value for organizationId must be of UUID'],
      [{ name: 'x', organizationId: 'y' }, 'Value for organizationId must be of UUID'],
      [{ name: 'x', organizationId: 7 }, 'Value for organizationId must be of string'],
      [{ name: 'x', organizationId: null }, 'Value for organizationId must be of string'],
      [[], 'Value for body must be of object'],
      ['"x"', 'Value for body must be of object'],
      ['null', 'Value for body must be of object'],
      ['{"name":', 'Value for body must be of JSON'],
      ['', 'Value for body must be of JSON'],
    ];
    for (const [body, message] of cases) {
      const answer = await world.call('POST', '/frontdoor', {
        body,
        headers: { 'content-type': 'application/json' },
      });
      assert.equal(answer.status, 400, JSON.stringify(body));
      assert.deepEqual(answer.body, { error: 'invalid_request', message });
    }
    const unknown = await world.call('POST', '/frontdoor', {
      body: { nmae: 'x', name: 'x', organizationId },
    });
    assert.equal(unknown.status, 400);
    assert.match((unknown.body as { message: string }).message, /^Value for nmae must be of name, /);
    const proto = await world.call('POST', '/frontdoor', {
      body: `{"name":"x","organizationId":"${organizationId}","__proto__":{"a":1}}`,
      headers: { 'content-type': 'application/json' },
    });
    assert.equal(proto.status, 400);
    assert.match((proto.body as { message: string }).message, /^Value for __proto__ must be of /);
    for (const query of ['', '?organizationId=', '?organizationId=x']) {
      const answer = await world.call('GET', `/frontdoor${query}`);
      assert.equal(answer.status, 400, query);
      assert.deepEqual(answer.body, {
        error: 'invalid_request',
        message: 'Value for organizationId must be of UUID',
      });
    }
  });

  it('ignore the read-only fields of what was read', async () => {
    const { organizationId } = world.first;
    const made = await world.call('POST', '/frontdoor', {
      body: { id: 'mine', createdAt: 5, name: 'x', organizationId },
    });
    assert.equal(made.status, 201);
    assert.notEqual((made.body as { id: string }).id, 'mine');
    await world.call('DELETE', `/frontdoor/${(made.body as { id: string }).id}`);
  });

  it('take everything they hold with them', async () => {
    const { organizationId } = world.first;
    const { body } = await world.call('POST', '/frontdoor', { body: { name: 'x', organizationId } });
    const { id } = body as { id: string };
    const environmentId = await world.addEnvironment('edge', id);
    const share = {
      name: 'doomed',
      environmentId,
      shareMode: 'public',
      backendMode: 'proxy',
      target: 'http://h:1',
    };
    assert.equal((await world.call('POST', `/frontdoor/${id}/shares`, { body: share })).status, 201);
    const enrollment = await world.call('POST', `/frontdoor/${id}/agents/enrollments`);
    const { enrollmentCode } = enrollment.body as { enrollmentCode: string };
    assert.equal([...world.catalog.all()].length, 1);
    assert.equal((await world.call('DELETE', `/frontdoor/${id}`)).status, 204);
    assert.equal([...world.catalog.all()].length, 0);
    assert.equal(world.model.identity(environmentId), undefined);
    const bootstrap = await world.call('GET', `/frontdoor/agents/bootstrap-token/${enrollmentCode}`);
    assert.equal(bootstrap.status, 404);
    for (const table of ['share', 'share_frontend', 'identity', 'enrollment'] as const) {
      const rows = await world.store.db.selectFrom(table).selectAll().execute();
      assert.deepEqual(rows, [], table);
    }
  });
});
