import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import * as tls from 'node:tls';
import { after, before, test } from 'node:test';
import { openEdgeFixture, rawRequest, type EdgeFixture, type Enrolled } from './edge-api-fixture.ts';

let fixture: EdgeFixture;
let host: Enrolled;
let guest: Enrolled;
let gateway: Enrolled;

before(async () => {
  fixture = await openEdgeFixture();
  host = await fixture.enroll('host');
  guest = await fixture.enroll('guest');
  gateway = await fixture.enroll('gateway', 'gateway');
});
after(() => fixture.close());

async function get(
  who: Enrolled,
  path: string,
  more: { method?: string; body?: string; token?: string } = {},
) {
  const { token = (await who.client.session()).token, ...request } = more;
  return rawRequest(fixture, {
    path: `/edge/client/v1${path}`,
    headers: { 'zt-session': token },
    cert: who.identity.certPem,
    key: who.identity.keyPem,
    ...request,
  });
}

function data<T = Record<string, unknown>[]>(answer: { json: unknown }): T {
  return (answer.json as { data: T }).data;
}

function code(answer: { json: unknown }): string {
  return (answer.json as { error: { code: string } }).error.code;
}

test('a session goes with a certificate of its identity and with nobody else', async () => {
  const { token } = await host.client.session();
  assert.equal((await get(host, '/current-identity')).status, 200);
  const stolen = await get(guest, '/current-identity', { token });
  assert.deepEqual([stolen.status, code(stolen)], [401, 'UNAUTHORIZED']);
  const bare = await rawRequest(fixture, { path: '/current-identity', headers: { 'zt-session': token } });
  assert.equal(bare.status, 401);
  assert.equal((await get(host, '/current-identity', { token: 'x' })).status, 401);
});

test('an identity sees what it may bind, what is granted to it, and gateways what is public', async () => {
  await fixture.share({ environmentId: host.id, name: 'granted', grants: [guest.id] });
  await fixture.share({ environmentId: host.id, name: 'not-granted' });
  await fixture.share({ environmentId: host.id, name: 'public-one', shareMode: 'public' });
  const seen = async (who: Enrolled): Promise<unknown[]> =>
    (await who.client.services()).map(({ name, permissions }) => [name, ...permissions]);
  assert.deepEqual(await seen(host), [
    ['granted', 'Bind'],
    ['not-granted', 'Bind'],
    ['public-one', 'Bind'],
  ]);
  assert.deepEqual(await seen(guest), [['granted', 'Dial']]);
  assert.deepEqual(await seen(gateway), [['public-one', 'Dial']]);
});

test('pages never overlap and always have the total', async () => {
  const pages = [];
  for (const offset of [0, 2, 4]) {
    const answer = await get(host, `/services?limit=2&offset=${offset}`);
    pages.push(...data(answer).map(({ name }) => name));
    assert.deepEqual((answer.json as { meta: { pagination: unknown } }).meta.pagination, {
      limit: 2,
      offset,
      totalCount: 3,
    });
  }
  assert.deepEqual(pages, ['granted', 'not-granted', 'public-one']);
  for (const query of ['limit=x', 'limit=1e3', 'offset=x']) {
    const answer = await get(host, `/services?${query}`);
    assert.deepEqual([answer.status, code(answer)], [400, 'COULD_NOT_VALIDATE'], query);
    const { cause } = (answer.json as { error: { cause: { field: string } } }).error;
    assert.equal(cause.field, query.split('=')[0]);
  }
});

test('a filter by name works with quotes as they are, and escaped', async () => {
  const { token } = await host.client.session();
  const socket = tls.connect({
    host: 'localhost',
    port: Number(new URL(fixture.apiUrl).port),
    ca: fixture.pki.caBundlePem,
    cert: host.identity.certPem,
    key: host.identity.keyPem,
  });
  socket.write(
    `GET /edge/client/v1/services?filter=name="granted" HTTP/1.1\r\nhost: x\r\nzt-session: ${token}\r\n\r\n`,
  );
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  assert.match(answer.toString(), /^HTTP\/1\.1 200 /);
  assert.match(answer.toString(), /"name":"granted".*"totalCount":1/);
  assert.equal((await host.client.serviceByName('granted'))?.name, 'granted');
  assert.equal(await host.client.serviceByName('absent'), undefined);
});

test('lists are filtered and sorted by the query language', async () => {
  const names = async (query: string, list = 'services'): Promise<unknown[]> =>
    data(await get(host, `/${list}?${new URLSearchParams(query).toString()}`)).map(({ name }) => name);
  assert.deepEqual(await names('filter=name contains "granted" sort by name desc'), [
    'not-granted',
    'granted',
  ]);
  assert.deepEqual(await names('filter=not name in ["granted", "public-one"]'), ['not-granted']);
  assert.deepEqual(await names('filter=isSystem or anyOf(roleAttributes) = "x"'), []);
  assert.deepEqual(await names('filter=createdAt > datetime(2020-01-01T00:00:00Z) limit 1'), ['granted']);
  assert.deepEqual(await names('sort=name desc&limit=1'), ['public-one']);
  assert.deepEqual(await names('filter=online = true', 'current-identity/edge-routers'), ['router-1']);
  assert.deepEqual(await names('filter=name = "x"', 'current-identity/edge-routers'), []);
  // A guest does not see the configs of hosts, and so cannot ask for them either.
  const filter = 'anyOf(configs) contains "host.v1"';
  const asked = `/services?${new URLSearchParams({ filter }).toString()}`;
  assert.deepEqual([data(await get(host, asked)).length, data(await get(guest, asked)).length], [3, 0]);
  const configured = 'filter=not isEmpty(from configs where name contains "host.v1") sort by name limit 1';
  assert.deepEqual(await names(configured), ['granted']);
});

test('a query that cannot be read or costs too much is refused with its cause', async () => {
  const refused = async (query: Record<string, string>): Promise<unknown[]> => {
    const answer = await get(host, `/services?${new URLSearchParams(query).toString()}`);
    const { cause } = (answer.json as { error: { cause: { message: string } } }).error;
    return [answer.status, code(answer), cause.message];
  };
  assert.deepEqual(await refused({ filter: 'nonsense = "x"' }), [
    400,
    'INVALID_FILTER',
    "unknown symbol 'nonsense'",
  ]);
  assert.deepEqual(await refused({ filter: 'name="x" and' }), [
    400,
    'INVALID_FILTER',
    'Unexpected symbol: "<EOF>" at line: 1 column: 12',
  ]);
  assert.deepEqual(await refused({ sort: 'nonsense' }), [
    400,
    'INVALID_SORT_IDENTIFIER',
    "unknown symbol 'nonsense'",
  ]);
  const bombs = [`${'('.repeat(500)}true${')'.repeat(500)}`, Array(400).fill('true').join(' or ')];
  for (const filter of [...bombs, `name = "${'x'.repeat(5_000)}"`])
    assert.deepEqual((await refused({ filter })).slice(0, 2), [400, 'INVALID_FILTER']);
});

test('a host gets the target of a share as host.v1, a dialer an address as intercept.v1, when they ask', async () => {
  const config = async (who: Enrolled, query: string): Promise<unknown> =>
    data(await get(who, `/services?${query}`)).find(({ name }) => name === 'granted')?.['config'];
  const host1 = { 'host.v1': { protocol: 'tcp', address: '127.0.0.1', port: 3000 } };
  assert.deepEqual(await config(host, 'limit=100'), host1);
  assert.deepEqual(await config(host, 'configTypes=all'), host1);
  assert.deepEqual(await config(host, 'configTypes=intercept.v1&configTypes=host.v1'), host1);
  assert.deepEqual(await config(host, 'configTypes=intercept.v1'), {});
  assert.deepEqual(await config(guest, 'configTypes=host.v1'), {});
  assert.deepEqual(await config(guest, 'limit=100'), {});
  const intercept = { protocols: ['tcp'], addresses: ['granted.ziti'], portRanges: [{ low: 80, high: 80 }] };
  for (const types of ['all', 'host.v1,intercept.v1'])
    assert.deepEqual(await config(guest, `configTypes=${types}`), { 'intercept.v1': intercept });
});

test('a session for a service is given to permitted identities, and verifies', async () => {
  const service = (await guest.client.services())[0]!;
  const session = await guest.client.createSession(service.id, 'Dial');
  assert.deepEqual(session.routers, [
    { name: 'router-1', isOnline: true, cost: 0, tlsUrl: 'tls://localhost:3022' },
  ]);
  const { id } = await guest.client.session();
  assert.deepEqual(fixture.tokens.verify(session.token), {
    serviceId: service.id,
    identityId: guest.id,
    apiSessionId: id,
    type: 'Dial',
  });
  const claims = JSON.parse(Buffer.from(session.token.split('.')[1]!, 'base64url').toString()) as Record<
    string,
    unknown
  >;
  const { iat, exp, ...others } = claims;
  assert.equal((exp as number) - (iat as number), 365 * 86_400);
  assert.deepEqual(others, {
    iss: 'https://edge.test',
    sub: service.id,
    aud: ['openziti'],
    jti: session.id,
    z_asid: id,
    z_iid: guest.id,
    z_t: 's',
    z_st: 'Dial',
    z_leg: true,
  });
  const again = await get(guest, `/sessions/${session.id}`);
  assert.deepEqual([again.status, data<{ id: string }>(again).id], [200, session.id]);
  assert.equal((await get(host, `/sessions/${session.id}`)).status, 404);
});

test('an identity that may not dial or bind gets 404, as for a missing service', async () => {
  const granted = (await guest.client.services())[0]!.id;
  const wanted = [
    [guest, granted, 'Bind'],
    [host, granted, 'Dial'],
    [gateway, granted, 'Dial'],
    [guest, 'no-such-service', 'Dial'],
  ] as const;
  for (const [who, serviceId, type] of wanted) {
    const answer = await get(who, '/sessions', { method: 'POST', body: JSON.stringify({ serviceId, type }) });
    assert.deepEqual([answer.status, code(answer)], [404, 'NOT_FOUND']);
  }
  for (const body of ['', '{', '[]', '{"serviceId":7}', `{"serviceId":"${granted}","type":"Both"}`]) {
    const answer = await get(guest, '/sessions', { method: 'POST', body });
    assert.deepEqual([answer.status, code(answer)], [400, 'COULD_NOT_VALIDATE'], body);
  }
});

test('tokens of nobody, of another key and changed ones do not verify', async () => {
  const service = (await guest.client.services())[0]!;
  const { token } = await guest.client.createSession(service.id, 'Dial');
  const [header, body, signature] = token.split('.') as [string, string, string];
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, unknown>;
  const forged = Buffer.from(JSON.stringify({ ...claims, z_st: 'Bind' })).toString('base64url');
  const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
  for (const text of [
    '',
    'x',
    'a.b.c',
    `${header}.${forged}.${signature}`,
    `${none}.${body}.`,
    `${header}.${body}.`,
    `${token}.x`,
  ]) {
    assert.equal(fixture.tokens.verify(text), undefined, text);
  }
});

test('routers: all that are known, those that can be dialed, and the terminators of a service', async () => {
  fixture.routers.push({ id: 'r2', name: 'router-2', hostname: '::1', port: 3023, isOnline: false });
  assert.deepEqual(await host.client.edgeRouters(), [
    { name: 'router-1', isOnline: true, cost: 0, tlsUrl: 'tls://localhost:3022' },
    { name: 'router-2', isOnline: false, cost: 0, tlsUrl: 'tls://[::1]:3023' },
  ]);
  const service = (await guest.client.services())[0]!;
  const { token } = await guest.client.createSession(service.id, 'Dial');
  const answer = await get(guest, `/services/${service.id}/edge-routers?session-token=${token}`);
  assert.deepEqual(
    data<{ edgeRouters: { name: string }[] }>(answer).edgeRouters.map(({ name }) => name),
    ['router-1'],
  );
  assert.equal((await get(guest, `/services/${service.id}/edge-routers?session-token=x`)).status, 404);
  fixture.routers.pop();
  const terminators = await get(guest, `/services/${service.id}/terminators?limit=10&offset=0`);
  assert.deepEqual(data(terminators), []);
  assert.equal((await get(gateway, `/services/${service.id}/terminators`)).status, 404);
  assert.equal((await get(guest, `/services/${service.id}`)).status, 200);
  assert.deepEqual(data(await get(guest, '/controllers')), []);
  assert.deepEqual(
    data(await get(guest, '/posture-response', { method: 'POST', body: '{"typeId":"ENDPOINT_STATE"}' })),
    {
      services: [],
    },
  );
});

test('the control planes are listed in the form of OpenZiti, page by page; one with a single address lists nothing', async () => {
  const certificatePem = host.identity.certPem.slice(0, host.identity.certPem.indexOf('-----END') + 26);
  const one = {
    id: 'frontdoor-control-1',
    apiUrls: ['https://a.example:1280'],
    certificatePem,
    startedAtMs: 1_000,
    isOnline: true,
  };
  fixture.controllers.push(one);
  assert.deepEqual(data(await get(host, '/controllers')), []);
  const apiUrls = ['https://b.example:1280', 'https://10.0.0.2:1280'];
  fixture.controllers.push({ ...one, id: 'frontdoor-control-2', apiUrls, isOnline: false });
  const listed = await get(host, '/controllers');
  assert.deepEqual(data(listed)[1], {
    _links: { self: { href: './controllers/frontdoor-control-2' } },
    id: 'frontdoor-control-2',
    name: 'frontdoor-control-2',
    createdAt: '1970-01-01T00:00:01.000Z',
    updatedAt: '1970-01-01T00:00:01.000Z',
    tags: {},
    apiAddresses: {
      'edge-client': apiUrls.map((url) => ({ url: `${url}/edge/client/v1`, version: 'v1' })),
    },
    certPem: certificatePem,
    fingerprint: createHash('sha1').update(new X509Certificate(certificatePem).raw).digest('hex'),
    isOnline: false,
    lastJoinedAt: '1970-01-01T00:00:01.000Z',
  });
  const second = await get(host, '/controllers?limit=1&offset=1');
  assert.deepEqual(
    data(second).map(({ id }) => id),
    ['frontdoor-control-2'],
  );
  // One with several addresses is worth a list of its own.
  fixture.controllers.shift();
  assert.equal(data(await get(host, '/controllers')).length, 1);
  fixture.controllers.length = 0;
});

test('the time of the last change moves for the identities that a change concerns', async () => {
  const times = async (): Promise<string[]> => [
    await host.client.serviceUpdates(),
    await guest.client.serviceUpdates(),
    await gateway.client.serviceUpdates(),
  ];
  const before = await times();
  assert.deepEqual(await times(), before);
  await fixture.share({ environmentId: host.id, name: 'private-new' });
  const hosted = await times();
  assert.ok(hosted[0]! > before[0]!);
  assert.equal(hosted[1], before[1]);
  await fixture.share({ environmentId: host.id, name: 'granted-new', grants: [guest.id] });
  assert.ok((await times())[1]! > hosted[1]!);
  const beforePublic = await times();
  await fixture.share({ environmentId: host.id, name: 'public-new', shareMode: 'public' });
  assert.ok((await times())[2]! > beforePublic[2]!);
});

test('a log-out ends the session at once, and the client logs in again by itself', async () => {
  const { token } = await guest.client.session();
  const answer = await get(guest, '/current-api-session', { method: 'DELETE', token });
  assert.equal(answer.status, 200);
  assert.equal((await get(guest, '/current-api-session', { token })).status, 401);
  assert.equal((await guest.client.services()).length > 0, true);
  assert.notEqual((await guest.client.session()).token, token);
});

test('a client reports that its session has ended, once, and continues with another', async () => {
  const { token } = await host.client.session();
  let ends = 0;
  host.client.onSessionEnd(() => (ends += 1));
  assert.equal((await get(host, '/current-api-session', { method: 'DELETE', token })).status, 200);
  await Promise.all([host.client.services(), host.client.services()]);
  assert.equal(ends, 1);
  assert.notEqual((await host.client.session()).token, token);
});

test('a missing resource is 404 in the envelope, and broken requests do not disturb others', async () => {
  const answer = await rawRequest(fixture, { path: '/no/such/path' });
  assert.deepEqual(
    [answer.status, code(answer), answer.headers['content-type']],
    [404, 'NOT_FOUND', 'application/json'],
  );
  assert.equal(answer.headers['ziti-instance-id'], fixture.api.instanceId);
  for (const head of [
    'BLAH\r\n\r\n',
    `GET /%zz HTTP/1.1\r\nhost: x\r\n\r\n`,
    `GET / HTTP/1.1\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
  ]) {
    const socket = tls.connect({
      host: 'localhost',
      port: Number(new URL(fixture.apiUrl).port),
      ca: fixture.pki.caBundlePem,
    });
    socket.on('error', () => {});
    socket.write(head);
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    assert.match(bytes.toString(), /^HTTP\/1\.1 4\d\d /);
    assert.match(bytes.toString(), /ziti-instance-id: /i);
    socket.destroy();
  }
  assert.equal((await rawRequest(fixture, { path: '/edge/client/v1' })).status, 200);
});
