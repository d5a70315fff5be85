// Answers that do not need a log-in, and those to requests that no route takes, as OpenZiti 1.7.2 gives them.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, test } from 'node:test';
import { jwtVerify } from 'jose';
import { openEdgeFixture, rawRequest, type EdgeFixture } from './edge-api-fixture.ts';

let fixture: EdgeFixture;

before(async () => {
  fixture = await openEdgeFixture();
});
after(() => fixture.close());

interface Answer {
  readonly data?: unknown;
  readonly error?: { readonly code: string; readonly message: string; readonly cause?: unknown };
  readonly meta?: unknown;
}

async function answerOf(
  path: string,
  method = 'GET',
): Promise<{ status: number; json: Answer; allow: unknown }> {
  const { status, json, headers } = await rawRequest(fixture, { path, method });
  assert.ok(headers['ziti-instance-id'] !== undefined, path);
  return { status, json: json as Answer, allow: headers.allow };
}

test('version, protocols, signers and specs are open to anybody, at the root and below the prefix', async () => {
  for (const prefix of ['', '/edge/client/v1']) {
    const version = (await answerOf(`${prefix}/version`)).json.data as Record<string, unknown>;
    assert.deepEqual(Object.keys(version).sort(), [
      'apiVersions',
      'buildDate',
      'capabilities',
      'revision',
      'runtimeVersion',
      'version',
    ]);
    const { host } = new URL(fixture.apiUrl);
    assert.deepEqual((await answerOf(`${prefix}/protocols`)).json, {
      data: { https: { address: host } },
      meta: {},
    });
    const signers = (await answerOf(`${prefix}/external-jwt-signers`)).json;
    assert.deepEqual(signers.data, []);
    const { pagination } = signers.meta as { pagination: unknown };
    assert.deepEqual(pagination, { limit: 10, offset: 0, totalCount: 0 });
    const specs = (await answerOf(`${prefix}/specs`)).json.data as { id: string }[];
    assert.deepEqual(
      specs.map(({ id }) => id),
      ['edge-client'],
    );
  }
});

test('the network token pins the certificate of the server, and names no identity', async () => {
  const { data } = (await answerOf('/edge/client/v1/network-jwts')).json;
  const [{ name, token }] = data as [{ name: string; token: string }];
  assert.equal(name, 'default');
  const key = new X509Certificate(fixture.pki.edgeServer.leafPem).publicKey;
  const { payload } = await jwtVerify(token, key, { issuer: fixture.apiUrl });
  assert.deepEqual([payload['em'], payload.sub, payload.exp], ['network', fixture.apiUrl, undefined]);
  const again = (await answerOf('/edge/client/v1/network-jwts')).json;
  assert.deepEqual(again.data, data);
});

test('the description of the API names the paths and methods that it has', async () => {
  const path = '/edge/client/v1/specs/edge-client/spec';
  const { json } = await rawRequest(fixture, { path, headers: { accept: 'application/json' } });
  const { basePath, paths } = json as { basePath: string; paths: Record<string, Record<string, unknown>> };
  assert.equal(basePath, '/edge/client/v1');
  assert.deepEqual(Object.keys(paths['/services/{id}']!), ['get']);
  assert.deepEqual(Object.keys(paths['/current-api-session']!).sort(), ['delete', 'get']);
  assert.ok(Object.keys(paths).every((one) => !one.includes('gateway') && !one.includes('agent')));
  const yaml = await rawRequest(fixture, { path });
  assert.equal(yaml.headers['content-type'], 'text/yaml');
  assert.deepEqual(JSON.parse(yaml.text), json);
  assert.equal((await answerOf('/specs/other')).status, 404);
});

test('an unknown path is 404 with the path as its cause, for any method', async () => {
  for (const method of ['GET', 'POST', 'DELETE']) {
    const { status, json } = await answerOf('/edge/client/v1/nothing?secret=1', method);
    assert.equal(status, 404);
    assert.deepEqual(
      [json.error?.code, json.error?.message, json.error?.cause],
      [
        'NOT_FOUND',
        'The resource requested was not found or is no longer available',
        { code: 'UNHANDLED', message: 'path /edge/client/v1/nothing was not found' },
      ],
    );
    assert.deepEqual(json.meta, { apiEnrollmentVersion: '0.0.1', apiVersion: '0.0.1' });
  }
});

test('a wrong method is 405 with the methods that the path has, also without a log-in', async () => {
  const cases = [
    ['PUT', '/version', 'GET'],
    ['POST', '/edge/client/v1/services', 'GET'],
    ['DELETE', '/edge/client/v1/services/some-id', 'GET'],
    ['PATCH', '/current-api-session', 'DELETE,GET'],
    ['GET', '/enroll', 'POST'],
    ['DELETE', '/edge/client/v1/sessions/', 'GET,POST'],
  ] as const;
  for (const [method, path, methods] of cases) {
    const { status, json, allow } = await answerOf(path, method);
    assert.deepEqual(
      [status, json.error?.code, json.error?.cause],
      [
        405,
        'METHOD_NOT_ALLOWED',
        { code: 'UNHANDLED', message: `method ${method} is not allowed, but [${methods}] are` },
      ],
      path,
    );
    for (const one of methods.split(',')) assert.ok(String(allow).split(', ').includes(one), String(allow));
  }
});
