// Transit routers: the answers of OpenZiti 1.7.2, enrollment, and what keeps clients away from them, on both databases.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { decodeJwt } from 'jose';
import { enrollRouter } from '#sdk';
import { rawRequest } from '../client-api/edge-api-fixture.ts';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { openManagementFixture, type ManagementFixture } from './management-fixture.ts';

describeEachStore('transit routers', (open) => {
  let api: ManagementFixture;

  before(async () => {
    api = await openManagementFixture(undefined, open);
  });
  after(() => api?.close());

  const read = async (path: string) =>
    (await api.call('GET', path)).data as unknown as Record<string, unknown>;
  const names = async (path: string) => (await api.call('GET', path)).data.map(({ name }) => name);

  test('are made, read, found, changed and deleted, at both paths, each in the audit trail', async () => {
    const given = { cost: 5, noTraversal: true, disabled: true, tags: { site: 'east' } };
    const id = await api.make('transit-routers', { name: 'middle', ...given });
    const made = await read(`transit-routers/${id}`);
    const { createdAt, updatedAt, enrollmentJwt, enrollmentToken, ...rest } = made;
    const { enrollmentCreatedAt, enrollmentExpiresAt, ...fields } = rest;
    assert.deepEqual(fields, {
      _links: { self: { href: `./transit-routers/${id}` } },
      id,
      name: 'middle',
      ...given,
      fingerprint: null,
      interfaces: null,
      isOnline: false,
      isVerified: false,
      unverifiedCertPem: null,
      unverifiedFingerprint: null,
    });
    for (const time of [createdAt, updatedAt, enrollmentCreatedAt, enrollmentExpiresAt])
      assert.match(String(time), /^\d{4}-\d\d-\d\dT/);
    const { em, sub, ctrls } = decodeJwt(String(enrollmentJwt));
    assert.deepEqual([em, sub, ctrls], ['trott', id, ['tls:localhost:6262']]);
    assert.notEqual(enrollmentToken, '');
    assert.deepEqual(api.model.edge.routerTraits(id), { cost: 5, noTraversal: true, isDisabled: true });
    assert.equal((await read(`routers/${id}`))['name'], 'middle');
    for (const filter of ['name="middle"', 'cost>4', 'disabled=true', 'noTraversal=true', 'tags.site="east"'])
      assert.deepEqual(await names(`routers?filter=${encodeURIComponent(filter)}`), ['middle'], filter);

    await api.call('PATCH', `transit-routers/${id}`, { disabled: false, cost: 6 });
    const patched = await read(`transit-routers/${id}`);
    assert.deepEqual([patched['cost'], patched['disabled'], patched['noTraversal']], [6, false, true]);
    await api.call('PUT', `routers/${id}`, { name: 'centre' });
    assert.deepEqual(api.model.edge.routerTraits(id), { cost: 0, noTraversal: false, isDisabled: false });
    api.onlineRouterIds.add(id);
    const { name, isOnline } = await read(`transit-routers/${id}`);
    assert.deepEqual([name, isOnline], ['centre', true]);
    assert.equal((await api.call('DELETE', `transit-routers/${id}`)).status, 200);
    assert.equal((await api.call('GET', `transit-routers/${id}`)).status, 404);
    assert.equal(api.model.identity(id), undefined);
    const events = await api.store.db
      .selectFrom('audit_event')
      .select('action')
      .where('target_id', '=', id)
      .orderBy('sequence')
      .execute();
    assert.deepEqual(
      events.map(({ action }) => action.replace('EdgeTransitRouter', '')),
      ['create', 'update', 'update', 'delete'],
    );
  });

  test('are listed with the edge routers, which only their own path changes', async () => {
    const [transit, edge] = [
      await api.make('transit-routers', { name: 'listed transit' }),
      await api.make('edge-routers', { name: 'listed edge', cost: 3 }),
    ];
    const filter = encodeURIComponent('name contains "listed" sort by name');
    assert.deepEqual(await names(`transit-routers?filter=${filter}`), ['listed edge', 'listed transit']);
    assert.deepEqual(await names(`edge-routers?filter=${filter}`), ['listed edge']);
    assert.equal((await api.call('GET', `edge-routers/${transit}`)).status, 404);
    const { cost, enrollmentJwt } = await read(`transit-routers/${edge}`);
    assert.deepEqual([cost, enrollmentJwt], [3, null]);
    const refused = await api.call('PATCH', `transit-routers/${edge}`, { cost: 4 });
    assert.deepEqual([refused.status, refused.error.code], [409, 'CAN_NOT_UPDATE_ROUTER']);
    const { routers, 'routers.edge': edgeRouters } = await read('summary');
    assert.equal(Number(routers) - Number(edgeRouters), 1);
    const owners = (await api.call('GET', 'enrollments')).data as unknown as Record<string, unknown>[];
    assert.deepEqual(
      owners
        .map(({ method, edgeRouterId, transitRouterId }) => [method, edgeRouterId, transitRouterId])
        .toSorted((a, b) => String(a).localeCompare(String(b))),
      [
        ['erott', edge, undefined],
        ['trott', undefined, transit],
      ],
    );
    const own = encodeURIComponent(`transitRouter="${transit}"`);
    assert.equal((await api.call('GET', `enrollments?filter=${own}`)).data.length, 1);
    assert.equal((await api.call('DELETE', `transit-routers/${edge}`)).status, 200);
    assert.equal((await api.call('GET', `edge-routers/${edge}`)).status, 404);
  });

  test('have names, costs and fields of their own, or are refused with the field', async () => {
    await api.make('edge-routers', { name: 'taken' });
    await api.make('transit-routers', { name: 'taken too' });
    for (const [path, body, field] of [
      ['transit-routers', { name: 'taken' }, 'name'],
      ['transit-routers', { name: 'taken too' }, 'name'],
      ['edge-routers', { name: 'taken too' }, 'name'],
      ['transit-routers', {}, 'name'],
      ['transit-routers', { name: 'a', cost: 65_536 }, 'cost'],
      ['transit-routers', { name: 'a', disabled: 1 }, 'disabled'],
      ['transit-routers', { name: 'a', roleAttributes: ['b'] }, 'roleAttributes'],
      ['transit-routers', { name: 'a', isTunnelerEnabled: true }, 'isTunnelerEnabled'],
    ] as const) {
      const { status, error } = await api.call('POST', path, body);
      assert.deepEqual([status, error.code, error.cause?.field], [400, 'COULD_NOT_VALIDATE', field], field);
    }
  });

  test('serve no clients: no policy selects them, and shares do not use them', async () => {
    const id = await api.make('transit-routers', { name: 'inner' });
    const edge = await api.make('edge-routers', { name: 'outer' });
    const roles = { identityRoles: ['#all'], edgeRouterRoles: ['#all'], semantic: 'AnyOf' };
    await api.make('edge-router-policies', { name: 'all', ...roles });
    const named = { ...roles, name: 'named', edgeRouterRoles: [`@${id}`] };
    const refused = await api.call('POST', 'edge-router-policies', named);
    assert.equal(refused.error.cause?.field, 'edgeRouterRoles');
    const identity = await api.make('identities', { name: 'client' });
    const service = await api.make('services', { name: 'inner web' });
    const { model } = api;
    assert.deepEqual(
      [id, edge].map((one) => model.edge.mayUseRouter(identity, one)),
      [false, true],
    );
    const share = model.service(service)!;
    assert.equal(model.mayUseRouter(identity, share, id), false);
    const terminator = { service, router: id, binding: 'transport', address: 'tcp:127.0.0.1:80' };
    await api.make('terminators', terminator);
  });

  test('enroll by their own method, once, and are verified then', async () => {
    const id = await api.make('transit-routers', { name: 'enrolling' });
    const jwt = String((await read(`transit-routers/${id}`))['enrollmentJwt']);
    const token = String(decodeJwt(jwt).jti);

    const body = JSON.stringify({ certCsr: 'x', serverCertCsr: 'y' });
    const path = `/edge/client/v1/enroll?method=erott&token=${token}`;
    const headers = { 'content-type': 'application/json' };
    assert.equal((await rawRequest(api, { method: 'POST', path, body, headers })).status, 400);
    const enrolled = await enrollRouter({ jwt, hosts: ['localhost'] });
    assert.equal(enrolled.id, id);
    const { isVerified, fingerprint, enrollmentJwt } = await read(`transit-routers/${id}`);
    assert.deepEqual([isVerified, enrollmentJwt], [true, null]);
    assert.equal(fingerprint, api.model.identity(id)?.fingerprints[0]);
    await assert.rejects(enrollRouter({ jwt, hosts: ['localhost'] }));
  });
});
