import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { operations } from '#contract';
import { within } from '../../../../test/support/deadline.ts';
import { closeOf } from '../../../../test/support/socket-end.ts';
import { openApiWorld, type ApiWorld } from './api-fixture.ts';

const UNAUTHORIZED = { error: 'unauthorized', message: 'Bearer token is missing or invalid' };
const MALFORMED = {
  error: 'invalid_request',
  message: 'Value for Authorization must be of Bearer <ACCESS_TOKEN> or Basic <ACCOUNT_ID>:<API_TOKEN>',
};

describe('requests', () => {
  let world: ApiWorld;
  let root: string;
  before(async () => {
    world = await openApiWorld();
    root = `/frontdoor/${world.first.frontdoorId}`;
  });
  after(() => world.close());

  it('show their credential in one of the exact forms', async () => {
    const { accountId: id, apiToken: token } = world.first;
    const pair = Buffer.from(`${id}:${token}`).toString('base64');
    const cases: [string, number][] = [
      [`Basic ${id}:${token}`, 200],
      [`basic ${id}:${token}`, 200],
      [`BASIC ${pair}`, 200],
      [`Basic ${pair.replace(/=+$/, '')}`, 200],
      [`Basic  ${id}:${token}`, 400],
      [`Basic\t${id}:${token}`, 400],
      [`Basic ${id}:${token} x`, 400],
      [`Basic ${id}: ${token}`, 400],
      [`Basic ${id}`, 400],
      [`Basic ${id}:`, 400],
      [`Basic :${token}`, 400],
      [`Basic`, 400],
      [`Basic ${Buffer.from(id).toString('base64')}`, 400],
      [`Basic ${pair}, Basic ${pair}`, 400],
      ['Bearer', 400],
      ['Bearer  a.b.c', 400],
      ['Bearer\ta.b.c', 400],
      ['Bearer a.b.c d', 400],
      ['Bearer a.b.c, Bearer a.b.c', 400],
      ['Bearer "a"', 400],
      ['bearer a.b.c', 401],
      ['Bearer a.b.c', 401],
      [`Basic ${id}:${token}x`, 401],
      [`Basic ${id}x:${token}`, 401],
      [`Basic ${world.first.clientId}:${world.first.clientSecret}`, 401],
      [`Digest ${id}:${token}`, 401],
      [`Bearers a.b.c`, 401],
      [`${id}:${token}`, 401],
      ['', 401],
    ];
    for (const [authorization, status] of cases) {
      const answer = await world.call('GET', root, { authorization });
      assert.equal(answer.status, status, JSON.stringify(authorization));
      if (status === 400) assert.deepEqual(answer.body, MALFORMED, authorization);
      if (status === 401) assert.deepEqual(answer.body, UNAUTHORIZED, authorization);
    }
    const none = await world.call('GET', root, { authorization: null });
    assert.equal(none.status, 401);
    assert.deepEqual(none.body, UNAUTHORIZED);
    assert.equal(none.headers['www-authenticate'], 'Bearer');
  });

  it('of revoked accounts are refused at once', async () => {
    const { id, authorization } = await world.addAccount(world.first.organizationId, 'frontdoor.read');
    assert.equal((await world.call('GET', root, { authorization })).status, 200);
    assert.equal((await world.call('DELETE', `/api-accounts/${id}`)).status, 204);
    assert.deepEqual((await world.call('GET', root, { authorization })).body, UNAUTHORIZED);
  });

  it('need the scope of their operation', async () => {
    const reader = await world.addAccount(world.first.organizationId, 'frontdoor.read');
    const writer = await world.addAccount(world.first.organizationId, 'frontdoor.write');
    assert.equal((await world.call('GET', root, { authorization: reader.authorization })).status, 200);
    const refused = await world.call('GET', root, { authorization: writer.authorization });
    assert.equal(refused.status, 403);
    assert.deepEqual(refused.body, {
      error: 'insufficient_scope',
      message: 'The scope frontdoor.read is required',
    });
    const enrollments = `${root}/agents/enrollments`;
    assert.equal(
      (await world.call('POST', enrollments, { authorization: reader.authorization })).status,
      403,
    );
    assert.equal(
      (await world.call('POST', enrollments, { authorization: writer.authorization })).status,
      201,
    );
  });

  it('are refused by every guarded operation without credentials, and by its scope before its frontdoor', async () => {
    const powerless = await world.addAccount(world.first.organizationId, 'none');
    for (const { id, method, path, scope } of operations) {
      if (scope === undefined) continue;
      const url = path.replaceAll(/\{\w+\}/g, world.other.frontdoorId);
      const anonymous = await world.call(method, url, { authorization: null });
      assert.equal(anonymous.status, 401, id);
      assert.deepEqual(anonymous.body, UNAUTHORIZED);
      const refused = await world.call(method, url, { authorization: powerless.authorization });
      assert.equal(refused.status, 403, id);
      assert.equal((refused.body as { error: string }).error, 'insufficient_scope');
      if (!path.includes('{frontdoorId}')) continue;
      const foreign = await world.call(method, url);
      assert.equal(foreign.status, 403, id);
      assert.equal((foreign.body as { error: string }).error, 'not_found');
    }
  });

  it('are refused in the order of caps, route, header, credential, scope, id, frontdoor, media type, body', async () => {
    const big = { 'content-length': '1048577', 'content-type': 'text/plain' };
    const bad = { body: 'x', authorization: 'Bearer  x', headers: { 'content-type': 'text/plain' } };
    const { authorization } = world;
    const reader = await world.addAccount(world.first.organizationId, 'frontdoor.read');
    const steps: [string, string, Parameters<ApiWorld['call']>[2], number][] = [
      ['POST', '/nowhere', { ...bad, headers: big }, 413],
      ['POST', '/frontdoor', { ...bad, headers: big }, 413],
      ['POST', '/nowhere', bad, 404],
      ['PUT', '/frontdoor/x', bad, 405],
      ['POST', '/frontdoor/x/shares', bad, 400],
      ['POST', '/frontdoor/x/shares', { ...bad, authorization: null }, 401],
      ['POST', '/frontdoor/x/shares', { ...bad, authorization: reader.authorization }, 403],
      ['POST', '/frontdoor/x/shares', { ...bad, authorization }, 400],
      ['POST', `/frontdoor/${world.other.frontdoorId}/shares`, { ...bad, authorization }, 403],
      ['POST', `${root}/shares`, { ...bad, authorization }, 415],
      [
        'POST',
        `${root}/shares`,
        { body: 'x', authorization, headers: { 'content-type': 'application/json' } },
        400,
      ],
    ];
    for (const [method, url, options, status] of steps) {
      const answer = await world.call(method, url, options);
      assert.equal(answer.status, status, `${method} ${url}`);
      assert.deepEqual(Object.keys(answer.body as object), ['error', 'message']);
    }
    const id = await world.call('GET', '/frontdoor/x');
    assert.deepEqual(id.body, { error: 'invalid_request', message: 'Value for frontdoorId must be of UUID' });
  });

  it('with other methods of a path get the methods that it has', async () => {
    for (const [method, url, allow] of [
      ['PUT', '/frontdoor', 'GET, HEAD, OPTIONS, POST'],
      ['POST', root, 'DELETE, GET, HEAD, OPTIONS, PATCH'],
      ['TRACE', `${root}/shares/app?x=1`, 'DELETE, GET, HEAD, OPTIONS, PATCH'],
      ['PROPFIND', `${root}/environments`, 'GET, HEAD, OPTIONS'],
      ['DELETE', '/oauth/token', 'OPTIONS, POST'],
    ] as const) {
      const answer = await world.call(method, url, { authorization: null });
      assert.equal(answer.status, 405, `${method} ${url}`);
      assert.equal((answer.body as { error: string }).error, 'method_not_allowed');
      assert.equal(answer.headers['allow'], allow);
    }
    const options = await world.call('OPTIONS', root, { authorization: null });
    assert.equal(options.status, 204);
    assert.equal(options.headers['allow'], 'DELETE, GET, HEAD, OPTIONS, PATCH');
    const head = await world.call('HEAD', root);
    assert.equal(head.status, 200);
    assert.equal(head.text, '');
    assert.equal((await world.call('HEAD', root, { authorization: null })).status, 401);
  });

  it('to paths that are not there answer 404, malformed paths 400', async () => {
    for (const url of [
      '/',
      '/frontdoor/',
      `${root}/`,
      `${root}/custom-frontend`,
      `${root}/shares/a/policies`,
      '/Frontdoor',
      '//',
    ]) {
      const answer = await world.call('GET', url);
      assert.equal(answer.status, 404, url);
      assert.equal((answer.body as { error: string }).error, 'not_found');
    }
    for (const url of ['/frontdoor/%ZZ', '/%']) {
      const answer = await world.call('GET', url);
      assert.equal(answer.status, 400, url);
      assert.deepEqual(answer.body, { error: 'invalid_request', message: 'Value for path must be of uri' });
    }
  });

  it('carry JSON, and only where an operation reads a body', async () => {
    const body = JSON.stringify({ name: 'x', organizationId: world.first.organizationId });
    for (const [contentType, status] of [
      ['application/json', 201],
      ['Application/JSON; charset="UTF-8"', 201],
      ['application/json; charset=latin1', 415],
      ['text/plain', 415],
      ['application/x-www-form-urlencoded', 415],
      ['application/json-patch+json', 415],
      ['nonsense', 415],
    ] as const) {
      const answer = await world.call('POST', '/frontdoor', {
        body,
        headers: { 'content-type': contentType },
      });
      assert.equal(answer.status, status, contentType);
      if (status === 415) assert.equal((answer.body as { error: string }).error, 'unsupported_media_type');
    }
    assert.equal((await world.call('POST', '/frontdoor', { body })).status, 415);
    const packed = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    assert.equal((await world.call('POST', '/frontdoor', { body, headers: packed })).status, 415);
    const typed = { headers: { 'content-type': 'application/json' } };
    assert.equal((await world.call('DELETE', `${root}/shares/none`, typed)).status, 404);
    assert.equal((await world.call('GET', root, { ...typed, body: '{}' })).status, 200);
    assert.equal((await world.call('GET', root, { ...typed, body: '{"a":1}' })).status, 400);
    assert.equal((await world.call('DELETE', root, { ...typed, body: '{"a":1}' })).status, 400);
  });

  it('are answered with JSON, for any Accept header', async () => {
    for (const accept of ['application/json', 'application/hal+json', '*/*', 'text/html', 'nonsense']) {
      for (const [url, status] of [
        [root, 200],
        [`${root}/shares/none`, 404],
      ] as const) {
        const answer = await world.call('GET', url, { headers: { accept } });
        assert.equal(answer.status, status, accept);
        assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
      }
    }
  });

  it('survive hostile JSON', async () => {
    const typed = { headers: { 'content-type': 'application/json' } };
    for (const body of [
      '['.repeat(100_000),
      '{"name":'.repeat(10_000),
      '{"name":1e400,"organizationId":1e400}',
      '{"name":"\\ud800","organizationId":"x"}',
      `{"constructor":{"prototype":{"a":1}},"name":"x"}`,
      `{"${'x'.repeat(500_000)}":1}`,
      '\ufeff{}',
    ]) {
      const answer = await world.call('POST', '/frontdoor', { ...typed, body });
      assert.equal(answer.status, 400, body.slice(0, 30));
      assert.ok(answer.text.length < 1000);
    }
  });

  it('that fail inside get an error id that stands in the log', async () => {
    const broken = await openApiWorld({
      frontendUrls: () => {
        throw new Error('the cause');
      },
    });
    const environmentId = await broken.addEnvironment('edge');
    const share = { environmentId, shareMode: 'public', backendMode: 'proxy', target: 'http://h:1' };
    const answer = await broken.call('POST', `/frontdoor/${broken.first.frontdoorId}/shares`, {
      body: share,
    });
    assert.equal(answer.status, 500);
    const { error, message } = answer.body as { error: string; message: string };
    assert.equal(error, 'internal');
    const errorId = /^Internal error ([0-9a-f]{16})$/.exec(message)?.[1];
    assert.ok(
      errorId !== undefined && broken.logLines.some((l) => l.includes(errorId) && l.includes('the cause')),
    );
    await broken.close();
  });

  it('answer 503 while the store is away', async () => {
    const away = await openApiWorld();
    await away.store.close();
    const answer = await away.call('GET', `/frontdoor/${away.first.frontdoorId}`);
    assert.equal(answer.status, 503);
    assert.equal((answer.body as { error: string }).error, 'unavailable');
    await away.app.close();
  });

  it('are limited: credentials by address, writes by caller', async () => {
    const rate = { perSecond: 1, burst: 3 };
    const limited = await openApiWorld({ limits: { credentials: rate, writes: { perSecond: 2, burst: 5 } } });
    const bootstrap = () =>
      limited.call('GET', '/frontdoor/agents/bootstrap-token/X', { authorization: null });
    for (let i = 0; i < 3; i += 1) assert.equal((await bootstrap()).status, 404);
    const refused = await bootstrap();
    assert.equal(refused.status, 429);
    assert.deepEqual(refused.body, { error: 'rate_limited', message: 'Too many requests' });
    assert.equal(refused.headers['retry-after'], '1');
    assert.equal((await limited.call('POST', '/oauth/token')).status, 400);
    limited.clock.advance(1_000);
    assert.equal((await bootstrap()).status, 404);
    const write = () => limited.call('DELETE', `/frontdoor/${limited.first.frontdoorId}/shares/x`);
    for (let i = 0; i < 5; i += 1) assert.equal((await write()).status, 404);
    assert.equal((await write()).status, 429);
    const other = await limited.addAccount(limited.first.organizationId, 'frontdoor.write');
    const byOther = await limited.call('DELETE', `/frontdoor/${limited.first.frontdoorId}/shares/x`, other);
    assert.equal(byOther.status, 404);
    assert.equal((await limited.call('GET', `/frontdoor/${limited.first.frontdoorId}`)).status, 200);
    await limited.close();
  });
});

describe('over a socket', () => {
  let world: ApiWorld;
  let port: number;
  before(async () => {
    world = await openApiWorld();
    await world.app.listen({ host: '127.0.0.1', port: 0 });
    ({ port } = world.app.server.address() as AddressInfo);
  });
  after(() => world.close());

  /** Sends text and reads until the server ends the connection. */
  async function exchange(text: string): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    const parts: Buffer[] = [];
    socket.on('data', (part: Buffer) => parts.push(part));
    socket.write(text);
    await within('the end of the connection', closeOf(socket));
    return Buffer.concat(parts).toString();
  }

  function bodyOf(answer: string): unknown {
    return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4));
  }

  it('bytes that are no request get a JSON refusal', async () => {
    const head = `GET /frontdoor HTTP/1.1\r\nConnection: close\r\n`;
    const cases: [string, number, string][] = [
      ['garbage\r\n\r\n', 400, 'invalid_request'],
      [`${head}Host: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
      [`${head}\r\n`, 400, 'invalid_request'],
      [`${head}Host: a\r\nHost: b\r\n\r\n`, 400, 'invalid_request'],
      [`${head}Host: a\r\nExpect: tea\r\n\r\n`, 417, 'expectation_failed'],
      [
        `${head}Host: a\r\nAuthorization: Basic a:b\r\nAuthorization: Basic a:b\r\n\r\n`,
        400,
        'invalid_request',
      ],
    ];
    for (const [text, status, error] of cases) {
      const answer = await exchange(text);
      assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `), text.slice(0, 60));
      assert.deepEqual(Object.keys(bodyOf(answer) as object), ['error', 'message']);
      assert.equal((bodyOf(answer) as { error: string }).error, error);
    }
  });

  it('bodies over the cap are refused before they have arrived, stated or not, credentials or not', async () => {
    const { authorization } = world;
    for (const [path, headers] of [
      ['/frontdoor', { authorization }],
      ['/oauth/token', {}],
    ] as const) {
      const typed = { ...headers, 'content-type': 'application/json' };
      const stated = request({
        port,
        path,
        method: 'POST',
        headers: { ...typed, 'content-length': 1_048_577 },
      });
      stated.on('error', () => {});
      stated.flushHeaders();
      const [refusal] = (await once(stated, 'response', { signal: AbortSignal.timeout(30_000) })) as [
        IncomingMessage,
      ];
      assert.equal(refusal.statusCode, 413);
      stated.destroy();

      const unstated = request({
        port,
        path,
        method: 'POST',
        headers: { ...typed, 'transfer-encoding': 'chunked' },
      });
      unstated.on('error', () => {});
      for (let i = 0; i < 17; i += 1) unstated.write(Buffer.alloc(65_536, 0x20));
      const [late] = (await once(unstated, 'response', { signal: AbortSignal.timeout(30_000) })) as [
        IncomingMessage,
      ];
      assert.equal(late.statusCode, 413);
      unstated.destroy();
    }
  });

  it('a client that goes away in the middle of its body disturbs no one', async () => {
    const broken = connect(port, '127.0.0.1');
    const head = `POST /frontdoor HTTP/1.1\r\nHost: a\r\nAuthorization: ${world.authorization}\r\n`;
    broken.write(`${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"name"`);
    await once(broken, 'connect');
    broken.destroy();
    const answer = await fetch(`http://127.0.0.1:${port}/frontdoor/${world.first.frontdoorId}`, {
      headers: { authorization: world.authorization },
    });
    assert.equal(answer.status, 200);
  });
});
