/** Replays what OpenZiti's C SDK (the PyPI wheel) sent to a real control plane, and reads our answers as it does. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { makeKeyRequest } from '#sdk';
import { openEdgeFixture, rawRequest, type EdgeFixture } from './edge-api-fixture.ts';

interface Exchange {
  readonly phase: string;
  readonly method: string;
  readonly url: string;
  readonly clientCertificate: boolean;
  readonly requestHeaders: Record<string, string>;
  readonly requestBody: unknown;
  readonly status: number;
  readonly responseHeaders: Record<string, string>;
  readonly responseBody: unknown;
}

/** What the SDK reads of each answer without looking whether it is there; `[]`: of each element. */
const READ: Readonly<Record<string, readonly string[]>> = {
  '/version': ['version', 'revision', 'buildDate', 'apiVersions.edge.v1.path'],
  '/authenticate': [
    'id',
    'token',
    'identity.id',
    'identity.name',
    'expiresAt',
    'cachedLastActivityAt',
    'updatedAt',
    'authenticatorId',
  ],
  '/current-identity': ['id', 'name'],
  '/current-identity/edge-routers': ['[].name', '[].supportedProtocols.tls'],
  '/current-api-session/service-updates': ['lastChangeAt'],
  '/services': ['[].id', '[].name', '[].updatedAt'],
  '/sessions': ['id', 'token', 'edgeRouters.[].name', 'edgeRouters.[].supportedProtocols.tls'],
};

const exchanges = readFileSync(
  new URL('../../../../test/vectors/openziti-1.7.2-rest.jsonl', import.meta.url),
  'utf8',
)
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Exchange)
  // The Go host polls in between: its calls carry a bearer token.
  .filter(
    ({ phase, requestHeaders }) => phase.startsWith('C SDK') && requestHeaders['Authorization'] === undefined,
  );

let fixture: EdgeFixture;
before(async () => {
  fixture = await openEdgeFixture();
});
after(() => fixture.close());

test('the recorded enrollment and first dial of the C SDK work against us', async () => {
  assert.ok(exchanges.length >= 10);
  const host = await fixture.enroll('host');
  const { jti, id } = await fixture.enrollment();
  const { keyPem, csrPem } = await makeKeyRequest(id);
  let cert = '';
  let token = '';
  let serviceId = '';
  for (const exchange of exchanges) {
    const url = new URL(exchange.url, 'https://x');
    const path = url.pathname.replace('/edge/client/v1', '');
    let body =
      typeof exchange.requestBody === 'string' ? exchange.requestBody : JSON.stringify(exchange.requestBody);
    let query = url.search;
    const headers: Record<string, string> = { ...exchange.requestHeaders };
    if (path === '/enroll') {
      query = query.replace(/token=.*/, `token=${jti}`);
      // The recorded request is taken as it is in the test below; here the certificate is used again.
      body = csrPem;
    } else if (path === '/services') {
      const share = await fixture.share({ environmentId: host.id, name: 'web', grants: [id] });
      serviceId = share.id;
    } else if (path === '/sessions') {
      body = body.replace((exchange.requestBody as { serviceId: string }).serviceId, serviceId);
    }
    if (headers['Zt-Session'] !== undefined) headers['Zt-Session'] = token;
    const answer = await rawRequest(fixture, {
      method: exchange.method,
      path: `${url.pathname}${query}`,
      headers,
      ...(exchange.method === 'GET' ? {} : { body }),
      ...(exchange.clientCertificate ? { cert, key: keyPem } : {}),
    });
    const where = `${exchange.method} ${exchange.url}`;
    assert.equal(answer.status, exchange.status, where);
    assert.equal(answer.headers['content-type'], exchange.responseHeaders['Content-Type'], where);
    assert.equal(answer.headers['ziti-instance-id'], fixture.api.instanceId, where);
    assert.ok(answer.headers['content-length'] !== undefined, where);
    assert.equal(answer.headers['ziti-ctrl-address'], undefined, where);
    const data = (answer.json as { data?: unknown } | undefined)?.data;
    for (const field of READ[path] ?? [])
      for (const value of valuesAt(data, field)) assert.equal(typeof value, 'string', `${where}: ${field}`);
    if (path === '/enroll') cert = (data as { cert: string }).cert;
    if (path === '/authenticate') {
      token = (data as { token: string }).token;
      const { authQueries, expirationSeconds, configTypes } = data as Record<string, unknown>;
      assert.deepEqual([authQueries, expirationSeconds], [[], 1800]);
      assert.deepEqual(configTypes, ['intercept.v1', 'ziti-tunneler-client.v1']);
    }
    if (path === '/services' || path.endsWith('/edge-routers')) {
      const { pagination } = (answer.json as { meta: { pagination: unknown } }).meta;
      assert.deepEqual(pagination, { limit: 25, offset: 0, totalCount: 1 }, where);
    }
    if (path === '/services') {
      const [service] = data as Record<string, unknown>[];
      assert.deepEqual(
        [service!['permissions'], service!['postureQueries'], service!['encryptionRequired']],
        [['Dial'], [], true],
      );
      // The recorded service had no config of the types that the log-in names; shares have an address.
      const intercept = { protocols: ['tcp'], addresses: ['web.ziti'], portRanges: [{ low: 80, high: 80 }] };
      assert.deepEqual(service!['config'], { 'intercept.v1': intercept });
    }
    if (path === '/current-identity') assert.deepEqual((data as { appData: unknown }).appData, {});
    if (path === '/sessions') assert.deepEqual((data as { service: { id: string } }).service.id, serviceId);
    if (path.endsWith('/service-updates')) {
      assert.match(
        (data as { lastChangeAt: string }).lastChangeAt,
        /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
      );
    }
  }
  assert.notEqual(serviceId, '');
});

test('the request that the C SDK recorded for its own key is certified', async () => {
  const recorded = exchanges.find(({ url }) => url.startsWith('/enroll'))!;
  const { jti } = await fixture.enrollment();
  const answer = await rawRequest(fixture, {
    method: 'POST',
    path: recorded.url.replace(/token=.*/, `token=${jti}`),
    headers: recorded.requestHeaders,
    body: recorded.requestBody as string,
  });
  assert.equal(answer.status, 200);
  assert.match((answer.json as { data: { cert: string } }).data.cert, /^-----BEGIN CERTIFICATE-----/);
});

function valuesAt(value: unknown, path: string): unknown[] {
  const [field, ...rest] = path.split('.');
  if (field === '[]') return (value as unknown[]).flatMap((element) => valuesAt(element, rest.join('.')));
  const inner = (value as Record<string, unknown> | undefined)?.[field!];
  return rest.length === 0 ? [inner] : valuesAt(inner, rest.join('.'));
}
