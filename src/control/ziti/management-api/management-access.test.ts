import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Agent } from 'node:https';
import { decodeJwt } from 'jose';
import { enrollIdentity } from '#sdk';
import { rawRequest } from '../client-api/edge-api-fixture.ts';
import { openManagementFixture, type ManagementFixture } from './management-fixture.ts';

/** What anybody may call. */
const OPEN = new Set([
  'GET ',
  'GET /',
  'GET /version',
  'POST /authenticate',
  'GET /.well-known/est/cacerts',
  'GET /network-jwts',
]);

let api: ManagementFixture;
before(async () => {
  api = await openManagementFixture();
});
after(() => api.close());

describe('every call of the edge management API', () => {
  it('is refused without the session of an administrator, whatever the caller presents instead', async () => {
    const machine = await api.enroll('an agent');
    const id = await api.make('identities', { name: 'plain', enrollment: { ott: true } });
    const { jwt } = (await api.call('GET', `identities/${id}`)).data.enrollment.ott;
    const plain = await enrollIdentity({ jwt });
    const ended = (await api.logIn()).data.token;
    await api.call('DELETE', 'current-api-session', undefined, ended);
    const tls = ({ certPem, keyPem }: { certPem: string; keyPem: string }) => ({
      cert: certPem,
      key: keyPem,
    });
    const logIn = { method: 'POST', path: '/authenticate?method=cert', body: '{}' };
    const { headers } = await rawRequest(api, { ...logIn, ...tls(plain.identity) });
    const session = String(headers['zt-session']);
    const callers = [
      ['nobody', {}],
      ['a made-up token', { headers: { 'zt-session': 'x' } }],
      ['an ended session', { headers: { 'zt-session': ended } }],
      ['a session of the client API', { headers: { 'zt-session': session }, ...tls(plain.identity) }],
      ['a certificate without a session', tls(plain.identity)],
      ['an agent', tls(machine.identity)],
    ] as const;
    const guarded = api.routes.filter((route) => !OPEN.has(route) && !route.startsWith('HEAD'));
    assert.ok(guarded.length > 80, `${guarded.length} routes`);
    for (const [name, caller] of callers) {
      const agent = new Agent({ keepAlive: true, maxSockets: 4 });
      const statuses = await Promise.all(
        guarded.map(async (route) => {
          const [method, url = ''] = route.split(' ');
          const path = `/edge/management/v1${url.replace(':id', id)}`;
          const body = method === 'GET' || method === 'DELETE' ? undefined : '{}';
          return `${route} ${(await rawRequest(api, { method, path, body, agent, ...caller })).status}`;
        }),
      );
      agent.destroy();
      assert.deepEqual(
        statuses.filter((one) => !one.endsWith(' 401')),
        [],
        name,
      );
    }
    assert.equal((await api.call('GET', `identities/${id}`)).status, 200, 'nothing was deleted');
  });

  it('by an identity that is no administrator begins with a refused log-in', async () => {
    const id = await api.make('identities', { name: 'certified', enrollment: { ott: true } });
    const { jwt } = (await api.call('GET', `identities/${id}`)).data.enrollment.ott;
    const { identity } = await enrollIdentity({ jwt });
    const logIn = () =>
      rawRequest(api, {
        method: 'POST',
        path: '/edge/management/v1/authenticate?method=cert',
        body: '{}',
        cert: identity.certPem,
        key: identity.keyPem,
      });
    assert.equal((await logIn()).status, 401);
    await api.call('PATCH', `identities/${id}`, { isAdmin: true });
    const { status, headers } = await logIn();
    assert.equal(status, 200);
    const token = String(headers['zt-session']);
    assert.equal((await api.call('GET', 'current-identity', undefined, token)).data.name, 'certified');
  });
});

describe('the edge management API', () => {
  it('makes edge routers with a token to enroll with, and selects them by attributes', async () => {
    const id = await api.make('edge-routers', { name: 'east', roleAttributes: ['public'], appData: null });
    const router = (await api.call('GET', `edge-routers/${id}`)).data;
    assert.match(router.enrollmentJwt, /^eyJ/);
    assert.deepEqual([router.isVerified, router.isOnline, router.roleAttributes], [false, false, ['public']]);
    await api.call('PATCH', `edge-routers/${id}`, { roleAttributes: ['private'] });
    const found = (await api.call('GET', 'edge-routers?filter=anyOf(roleAttributes)="private"')).data;
    assert.deepEqual(
      found.map(({ name }) => name),
      ['east'],
    );
    const roles = { identityRoles: ['#all'], edgeRouterRoles: [`@${id}`] };
    const policy = await api.make('edge-router-policies', { name: 'east', ...roles });
    await api.call('DELETE', `edge-routers/${id}`);
    assert.deepEqual((await api.call('GET', `edge-router-policies/${policy}`)).data.edgeRouterRoles, []);
    assert.equal((await api.call('GET', `edge-routers/${id}`)).status, 404);
  });

  it('keeps cost, traversal and use of edge routers', async () => {
    const traitsOf = async (id: string) => {
      const { cost, noTraversal, disabled } = (await api.call('GET', `edge-routers/${id}`)).data;
      return [cost, noTraversal, disabled];
    };
    const given = { cost: 7, noTraversal: true, disabled: true };
    const id = await api.make('edge-routers', { name: 'north', ...given });
    assert.deepEqual(await traitsOf(id), [7, true, true]);
    assert.deepEqual(api.model.edge.routerTraits(id), { cost: 7, noTraversal: true, isDisabled: true });
    for (const filter of ['disabled=true', 'noTraversal=true', 'cost>5']) {
      const { data } = await api.call('GET', `edge-routers?filter=${encodeURIComponent(filter)}`);
      assert.deepEqual(
        data.map(({ name }) => name),
        ['north'],
        filter,
      );
    }
    await api.call('PATCH', `edge-routers/${id}`, { disabled: false });
    assert.deepEqual(await traitsOf(id), [7, true, false]);
    await api.call('PUT', `edge-routers/${id}`, { name: 'north' });
    assert.deepEqual(await traitsOf(id), [0, false, false]);
    for (const [field, value] of Object.entries({ cost: 65_536, noTraversal: 'yes', disabled: 1 })) {
      const refused = await api.call('PATCH', `edge-routers/${id}`, { [field]: value });
      assert.equal(refused.error.cause?.field, field);
    }
  });

  it('enrolls an identity again, revokes its certificate, and sets its password', async () => {
    const id = await api.make('identities', { name: 'again' });
    const enroll = async () => {
      await api.make('enrollments', { method: 'ott', identityId: id });
      const { jwt } = (await api.call('GET', `identities/${id}`)).data.enrollment.ott;
      return enrollIdentity({ jwt });
    };
    const { identity: own } = await enroll();
    const logIn = { method: 'POST', path: '/edge/client/v1/authenticate?method=cert', body: '{}' };
    await rawRequest(api, { ...logIn, cert: own.certPem, key: own.keyPem });
    const sessions = () => Array.from(api.sessions.all()).filter(({ identityId }) => identityId === id);
    assert.equal(sessions().length, 1);
    const [certificate] = (await api.call('GET', `identities/${id}/authenticators`)).data;
    assert.equal(api.model.identity(id)?.fingerprints[0], certificate?.id);
    assert.equal((await api.call('DELETE', `authenticators/${certificate?.id}`)).status, 200);
    assert.deepEqual(api.model.identity(id)?.fingerprints, []);
    assert.deepEqual(sessions(), [], 'routers learn the end of its sessions');
    await enroll();
    const late = { method: 'ott', identityId: id, expiresAt: '2001-01-01T00:00:00Z' };
    assert.equal((await api.call('POST', 'enrollments', late)).error.cause?.field, 'expiresAt');

    await api.call('PATCH', `identities/${id}`, { isAdmin: true });
    const password = { method: 'updb', identityId: id, username: 'second', password: 'a second password' };
    const authenticator = await api.make('authenticators', password);
    assert.equal((await api.logIn(password)).status, 200);
    const { token } = (await api.logIn(password)).data;
    await api.call('PATCH', `authenticators/${authenticator}`, { password: 'another password' });
    assert.equal((await api.logIn(password)).status, 401);
    assert.equal(
      (await api.call('GET', 'services', undefined, token)).status,
      401,
      'its sessions have ended',
    );
    const short = await api.call('POST', 'authenticators', { ...password, password: 'short' });
    assert.equal(short.error.cause?.field, 'password');
    const taken = await api.call('POST', 'authenticators', { ...password, identityId: api.adminId });
    assert.equal(taken.error.cause?.field, 'username');
  });

  it('has every list that the command line of OpenZiti asks for', async () => {
    const lists = [
      'terminators',
      'api-sessions',
      'enrollments',
      'sessions',
      'cas',
      'external-jwt-signers',
      'sessions',
      'cas',
      'external-jwt-signers',
      'authenticators',
      'auth-policies',
      'identity-types',
      'posture-checks',
      'posture-check-types',
      'transit-routers',
      'identity-role-attributes',
      'service-role-attributes',
      'edge-router-role-attributes',
      `identities/${api.adminId}/services`,
      `identities/${api.adminId}/service-policies`,
      `identities/${api.adminId}/edge-router-policies`,
    ];
    for (const path of lists) {
      const { status, meta } = await api.call('GET', path);
      assert.deepEqual([status, typeof meta.pagination.totalCount], [200, 'number'], path);
    }
    assert.equal((await api.call('GET', 'auth-policies?filter=id%3D%22default%22')).data[0]?.name, 'Default');
    const { data } = await api.call('GET', 'summary');
    assert.equal(typeof data.services, 'number');
  });

  it('lists entities by sub-queries over what policies and references relate to them', async () => {
    const [used, unused] = [
      await api.make('services', { name: 'used', roleAttributes: ['queried'] }),
      await api.make('services', { name: 'unused', roleAttributes: ['queried'] }),
    ];
    const id = await api.make('identities', { name: 'querying' });
    const roles = { identityRoles: [`@${id}`], serviceRoles: [`@${used}`] };
    await api.make('service-policies', { name: 'queried', type: 'Dial', ...roles });
    const idsFor = async (path: string, filter: string) => {
      const { data } = await api.call('GET', `${path}?filter=${encodeURIComponent(filter)}`);
      return data.map((one) => one.id);
    };
    const queried = 'anyOf(roleAttributes) = "queried" and';
    const named = 'not isEmpty(from identities where name = "querying")';
    assert.deepEqual(await idsFor('services', `${queried} ${named}`), [used]);
    assert.deepEqual(await idsFor('services', `${queried} not ${named}`), [unused]);
    const deep = `not isEmpty(from servicePolicies where ${named})`;
    assert.deepEqual(await idsFor('services', deep), [used]);
    assert.deepEqual(await idsFor('identities', `anyOf(services) = "${used}"`), [id]);
    assert.deepEqual(await idsFor(`identities/${id}/services`, deep), [used]);
  });

  it('names itself in the version that everyone may read', async () => {
    const { json } = await rawRequest(api, { path: '/edge/management/v1/version' });
    const { apiVersions } = (json as { data: { apiVersions: Record<string, unknown> } }).data;
    assert.deepEqual(apiVersions['edge-management'], {
      v1: { path: '/edge/management/v1', apiBaseUrls: [`${api.apiUrl}/edge/management/v1`] },
    });
  });

  it('lists its control planes, and names the network to everyone', async () => {
    const certificatePem = api.pki.edgeServer.leafPem;
    const controller = { id: 'east', apiUrls: [api.apiUrl], certificatePem, startedAtMs: 0, isOnline: true };
    api.controllers.push(controller);
    const [listed] = (await api.call('GET', 'controllers')).data as unknown as Record<string, unknown>[];
    const addresses = listed?.['apiAddresses'] as Record<string, { url: string }[]>;
    assert.deepEqual(
      [addresses['edge-client']?.[0]?.url, addresses['edge-management']?.[0]?.url],
      [`${api.apiUrl}/edge/client/v1`, `${api.apiUrl}/edge/management/v1`],
    );
    assert.equal((await api.call('GET', 'controllers/east')).data.name, 'east');
    assert.equal((await api.call('GET', 'controllers/west')).status, 404);
    const { json } = await rawRequest(api, { path: '/edge/management/v1/network-jwts' });
    const [network] = (json as { data: { name: string; token: string }[] }).data;
    assert.deepEqual([network!.name, decodeJwt(network!.token)['em']], ['default', 'network']);
  });
});
