import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { silentLog } from '#base';
import { EdgeApiClient, enrollIdentity } from '#sdk';
import { openManagementFixture, type ManagementFixture } from './management-fixture.ts';

let api: ManagementFixture;

before(async () => {
  api = await openManagementFixture();
});
after(() => api.close());

const page = async (path: string, filter: string): Promise<{ ids: string[]; total: number }> => {
  const { status, data, meta, error } = await api.call('GET', `${path}?filter=${encodeURIComponent(filter)}`);
  assert.equal(status, 200, JSON.stringify(error));
  return { ids: data.map(({ id }) => id), total: meta.pagination.totalCount };
};

describe('the exchanges of zrok with the edge management API', () => {
  it('create, find by tags, change and delete what a share and an access need', async () => {
    const tags = { zrok: 'v2.0.4', zrokShareToken: 'abc' };
    const identity = {
      name: 'env-1',
      type: 'User',
      isAdmin: false,
      roleAttributes: null,
      tags: { zrok: 'v2.0.4', zrokEmail: 'a@b' },
      enrollment: { ott: true },
      serviceHostingCosts: {},
    };
    const id = await api.make('identities', identity);
    const detail = (await api.call('GET', `identities/${id}`)).data;
    assert.match(detail.enrollment.ott.jwt, /^eyJ/);
    assert.equal(detail.typeId, 'Default');
    assert.deepEqual((await page('identities', `id="${id}"`)).ids, [id]);

    const everywhere = { edgeRouterRoles: ['#all'], semantic: 'AllOf', tags };
    const router = await api.make('edge-router-policies', {
      ...everywhere,
      name: 'env-1',
      identityRoles: [`@${id}`],
    });
    assert.deepEqual((await page('edge-router-policies', 'name="env-1" and tags.zrok != null')).ids, [
      router,
    ]);

    const type = await api.make('config-types', { name: 'zrok.proxy.v1', schema: {} });
    assert.deepEqual((await page('config-types', 'name="zrok.proxy.v1"')).ids, [type]);
    const config = {
      name: 'abc',
      configTypeId: type,
      data: { auth_scheme: 'none', interstitial: true },
      tags,
    };
    const configId = await api.make('configs', config);
    const changed = { ...config, data: { auth_scheme: 'basic' } };
    assert.equal((await api.call('PUT', `configs/${configId}`, changed)).status, 200);
    const service = { name: 'abc', configs: [configId], encryptionRequired: true, tags };
    const serviceId = await api.make('services', service);
    const policy = { semantic: 'AllOf', serviceRoles: [`@${serviceId}`], identityRoles: [`@${id}`], tags };
    const bind = await api.make('service-policies', { ...policy, name: 'abc-bind', type: 'Bind' });
    const dial = await api.make('service-policies', { ...policy, name: 'abc-dial', type: 'Dial' });
    const carried = { ...everywhere, name: 'abc', serviceRoles: [`@${serviceId}`] };
    const serp = await api.make('service-edge-router-policies', carried);

    assert.deepEqual((await page('service-policies', 'tags.zrokShareToken="abc" and type=1')).ids, [dial]);
    assert.deepEqual((await page('service-policies', 'tags.zrokShareToken="abc" and type=2')).ids, [bind]);
    assert.deepEqual((await api.call('GET', `configs/${configId}`)).data.data, { auth_scheme: 'basic' });
    const count = await api.call('GET', 'services?limit=0&offset=0&filter=tags.zrok%20!%3D%20null');
    assert.equal(count.meta.pagination.totalCount, 1);

    for (const path of [
      `service-edge-router-policies/${serp}`,
      `service-policies/${dial}`,
      `service-policies/${bind}`,
      `configs/${configId}`,
      `services/${serviceId}`,
      `edge-router-policies/${router}`,
      `identities/${id}`,
    ]) {
      assert.equal((await api.call('DELETE', path)).status, 200, path);
      assert.equal((await api.call('GET', path)).error.code, 'NOT_FOUND', path);
    }
  });
});

describe('an identity of the edge management API', () => {
  it('enrolls, and sees exactly the services that policies permit, with their configs', async () => {
    const hostType = (await page('config-types', 'name="host.v1"')).ids[0];
    const data = { address: '127.0.0.1', port: 9001, protocol: 'tcp' };
    const config = await api.make('configs', { name: 'h1', configTypeId: hostType, data });
    const web = { name: 'web', configs: [config], encryptionRequired: true, roleAttributes: ['web'] };
    const service = await api.make('services', web);
    await api.make('services', { name: 'hidden', encryptionRequired: true });
    const id = await api.make('identities', {
      name: 'gohost',
      type: 'Default',
      roleAttributes: ['host'],
      enrollment: { ott: true },
      defaultHostingCost: 7,
    });
    const { jwt } = (await api.call('GET', `identities/${id}`)).data.enrollment.ott;
    const enrolled = await enrollIdentity({ jwt });
    assert.equal(enrolled.id, id);
    await assert.rejects(enrollIdentity({ jwt }), 'a token works once');
    const detail = (await api.call('GET', `identities/${id}`)).data;
    assert.deepEqual(detail.enrollment, {});
    assert.ok(detail.authenticators.cert.fingerprint);

    const client = new EdgeApiClient({ identity: enrolled.identity, log: silentLog });
    try {
      const seen = async (): Promise<string[]> => (await client.services()).map(({ name }) => name);
      assert.deepEqual(await seen(), []);
      const policy = { type: 'Bind', semantic: 'AnyOf', identityRoles: ['#host'], serviceRoles: ['#web'] };
      const policyId = await api.make('service-policies', { ...policy, name: 'b' });
      assert.deepEqual(await seen(), ['web']);
      assert.deepEqual((await api.call('GET', `identities/${id}/services`)).data.length, 1);
      await api.call('PATCH', `service-policies/${policyId}`, { serviceRoles: ['#none'] });
      assert.deepEqual(await seen(), []);
      await api.call('PATCH', `service-policies/${policyId}`, { serviceRoles: [`@${service}`] });
      assert.deepEqual(await seen(), ['web']);
      assert.equal((await api.call('DELETE', `identities/${id}`)).status, 200);
      await assert.rejects(seen());
    } finally {
      await client.close();
    }
  });
});

describe('the edge management API refuses', () => {
  it('references to what does not exist, taken names, unknown fields and configs against their schema', async () => {
    const refusal = async (path: string, body: unknown): Promise<unknown> => {
      const { status, error } = await api.call('POST', path, body);
      assert.equal(status, 400, path);
      return [error.code, error.cause?.field];
    };
    const policy = { name: 'x', type: 'Dial', identityRoles: ['@nobody'], serviceRoles: [] };
    assert.deepEqual(await refusal('service-policies', policy), ['COULD_NOT_VALIDATE', 'identityRoles']);
    const roles = { ...policy, identityRoles: ['all'] };
    assert.deepEqual(await refusal('service-policies', roles), ['COULD_NOT_VALIDATE', 'identityRoles']);
    await api.make('services', { name: 'taken' });
    assert.deepEqual(await refusal('services', { name: 'taken' }), ['COULD_NOT_VALIDATE', 'name']);
    assert.deepEqual(await refusal('services', { name: '' }), ['COULD_NOT_VALIDATE', 'name']);
    assert.deepEqual(await refusal('services', { name: 'y', colour: 'red' }), [
      'COULD_NOT_VALIDATE',
      'colour',
    ]);
    assert.deepEqual(await refusal('services', { name: 'y', tags: { long: 'x'.repeat(20_000) } }), [
      'COULD_NOT_VALIDATE',
      'tags',
    ]);
    const config = { name: 'z', configTypeId: 'host.v1', data: { port: 'x' } };
    assert.deepEqual(await refusal('configs', config), ['COULD_NOT_VALIDATE', 'data']);
    assert.deepEqual(await refusal('identities', { name: 'i', enrollment: { ottca: 'x' } }), [
      'COULD_NOT_VALIDATE',
      'enrollment',
    ]);
  });

  it('to delete a type in use and what is built in; policies and services forget what is deleted', async () => {
    const type = await api.make('config-types', { name: 'used' });
    const config = await api.make('configs', { name: 'user', configTypeId: type, data: {} });
    assert.equal((await api.call('DELETE', `config-types/${type}`)).status, 409);
    assert.equal((await api.call('DELETE', 'config-types/host.v1')).status, 400);
    const service = await api.make('services', { name: 'forgetful', configs: [config] });
    const roles = { identityRoles: ['#all'], serviceRoles: [`@${service}`, '#web'] };
    const policy = await api.make('service-policies', { name: 'forgetful', type: 'Dial', ...roles });
    await api.call('DELETE', `configs/${config}`);
    assert.deepEqual((await api.call('GET', `services/${service}`)).data.configs, []);
    await api.call('DELETE', `services/${service}`);
    assert.deepEqual((await api.call('GET', `service-policies/${policy}`)).data.serviceRoles, ['#web']);
  });

  it('wrong passwords, unknown names and identities that are no administrators, all alike', async () => {
    const wrong = await api.logIn({ username: 'admin', password: 'wrong' });
    const unknown = await api.logIn({ username: 'nobody', password: 'wrong' });
    for (const { status, error } of [wrong, unknown])
      assert.deepEqual([status, error.code], [401, 'INVALID_AUTH']);
  });
});

describe('a router that may tunnel', () => {
  it('is an identity too, which policies select and which changes and ends with its router only', async () => {
    const router = { name: 'tunneler', roleAttributes: ['tunnels'], isTunnelerEnabled: true };
    const id = await api.make('edge-routers', router);
    assert.deepEqual((await page('edge-routers', 'isTunnelerEnabled=true')).ids, [id]);
    assert.deepEqual((await page('identities', 'type="Router"')).ids, [id]);
    const { data: identity } = await api.call('GET', `identities/${id}`);
    assert.deepEqual([identity.name, identity.typeId], ['tunneler', 'Router']);
    const service = await api.make('services', { name: 'behind', encryptionRequired: true });
    const roles = { semantic: 'AnyOf', serviceRoles: [`@${service}`] };
    for (const identityRoles of [[`@${id}`], ['#tunnels']]) {
      const name = identityRoles.join();
      const policy = await api.make('service-policies', { ...roles, name, type: 'Bind', identityRoles });
      const { data: members } = await api.call('GET', `service-policies/${policy}/identities`);
      assert.deepEqual(
        members.map((member) => member.id),
        [id],
      );
    }
    const { data: services } = await api.call('GET', `identities/${id}/services`);
    assert.ok(services.some((one) => one.id === service));
    for (const [method, body] of [['PUT', { name: 'other', type: 'Default' }], ['DELETE']] as const)
      assert.equal((await api.call(method, `identities/${id}`, body)).error.code, 'COULD_NOT_VALIDATE');
    assert.equal((await api.call('PATCH', `edge-routers/${id}`, { isTunnelerEnabled: false })).status, 200);
    assert.equal((await api.call('GET', `identities/${id}`)).status, 404);
    assert.equal((await api.call('GET', `edge-routers/${id}`)).status, 200);
  });
});

describe('an administrator', () => {
  it('loses every session with the right, and one with its end', async () => {
    const { token } = (await api.logIn()).data;
    assert.equal((await api.call('GET', 'current-identity', undefined, token)).data.id, api.adminId);
    assert.equal((await api.call('DELETE', 'current-api-session', undefined, token)).status, 200);
    assert.equal((await api.call('GET', 'current-identity', undefined, token)).status, 401);
    const other = (await api.logIn()).data.token;
    await api.call('PATCH', `identities/${api.adminId}`, { isAdmin: false }, other);
    assert.equal((await api.call('GET', 'services', undefined, other)).status, 401);
    assert.equal((await api.logIn()).status, 401);
  });
});
