import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, test } from 'node:test';
import { promisify } from 'node:util';
import { createServer as createTlsServer } from 'node:https';
import { until } from '../../../test/support/deadline.ts';
import { makeTestAuthority } from '../../../test/support/certificates.ts';
import { JsonClient, type JsonClientOptions } from './json-client.ts';

const open: (Server | JsonClient)[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) {
    if (one instanceof JsonClient) await one.close();
    else one.close();
  }
});

async function client(
  listener: RequestListener,
  options: Partial<JsonClientOptions> = {},
): Promise<JsonClient> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const made = new JsonClient({
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...options,
  });
  open.push(server, made);
  return made;
}

test('any status is an answer, with its JSON if it is some', async () => {
  const seen: string[] = [];
  const http = await client((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers['content-type']}`);
    response.statusCode = 404;
    response.end(request.url === '/json' ? '{"a":1}' : 'text');
  });
  const answer = await http.request({ method: 'POST', path: '/json', body: { b: 2 } });
  assert.deepEqual([answer.status, answer.json, answer.text], [404, { a: 1 }, '{"a":1}']);
  assert.equal((await http.request({ method: 'GET', path: '/text' })).json, undefined);
  assert.deepEqual(seen, ['POST /json application/json', 'GET /text undefined']);
});

test('a silent server is a timeout, at the head and inside the body', async () => {
  const http = await client(
    (request, response) => {
      if (request.url === '/half') response.write('half');
    },
    { timeoutMs: 100 },
  );
  await assert.rejects(http.request({ method: 'GET', path: '/' }), { kind: 'timeout' });
  await assert.rejects(http.request({ method: 'GET', path: '/half' }), { kind: 'timeout' });
});

test('an answer above the cap is not read to its end', async () => {
  const http = await client(
    (_request, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        response.once('drain', more);
      };
      more();
    },
    { maxAnswerBytes: 1_000_000 },
  );
  await assert.rejects(http.request({ method: 'GET', path: '/' }), { message: /above 1000000 bytes/ });
});

test('nobody there is unavailable, with the address and the reason', async () => {
  const http = new JsonClient({ origin: 'http://127.0.0.1:1' });
  open.push(http);
  const request = http.request({ method: 'GET', path: '/' });
  await assert.rejects(request, {
    kind: 'unavailable',
    message: /http:\/\/127\.0\.0\.1:1 cannot be reached: .*ECONNREFUSED/,
  });
});

test('a server whose certificate is out of date is refused with both times', async () => {
  const authority = await makeTestAuthority();
  for (const [times, message] of [
    [
      { startsInDays: 1 },
      /certificate is not valid yet \(it is valid from .*, and the clock of this machine says /,
    ],
    [{ days: -0.5 }, /certificate has expired \(it was valid until .*, and the clock of this machine says /],
  ] as const) {
    const { cert, key, ca } = await authority.issue('localhost', times);
    const server = createTlsServer({ cert, key }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const http = new JsonClient({ origin: `https://localhost:${port}`, ca });
    open.push(server, http);
    await assert.rejects(http.request({ method: 'GET', path: '/' }), { code: 'unreachable', message });
  }
});

test('redirects are not followed', async () => {
  const http = await client((_request, response) =>
    response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
  );
  assert.equal((await http.request({ method: 'GET', path: '/' })).status, 302);
});

test('a retired client answers what runs, and ends its streams and idle connections', async () => {
  const arrived = Promise.withResolvers<ServerResponse>();
  const http = await client((request, response) => {
    if (request.url === '/slow') arrived.resolve(response);
    else if (request.url === '/stream') response.write('a');
    else response.end('done');
  });
  await http.request({ method: 'GET', path: '/' });
  const stream = await http.stream({ method: 'GET', path: '/stream' }, 30_000, new AbortController().signal);
  const running = http.request({ method: 'GET', path: '/slow' });
  const response = await arrived.promise;
  http.retire();
  await assert.rejects(async () => {
    for await (const _ of stream.bytes);
  });
  response.end('whole');
  assert.equal((await running).text, 'whole');
  const server = open.find((one) => !(one instanceof JsonClient)) as Server;
  await until(
    'no connection',
    () => promisify(server.getConnections.bind(server))(),
    (count) => count === 0,
  );
});

test('a client whose authority begins later, because a clock was wrong at its enrollment, names the reason and the remedy', async () => {
  const authority = await makeTestAuthority('of another year', 365);
  const { cert, key, ca } = await authority.issue('localhost');
  const server = createTlsServer({ cert, key }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const http = new JsonClient({ origin: `https://localhost:${port}`, ca });
  open.push(server, http);
  const message =
    /authority that this program trusts is not valid yet \(it is valid from .*; if a clock was wrong at the enrollment, enroll again/;
  await assert.rejects(http.request({ method: 'GET', path: '/' }), { code: 'unreachable', message });
});
