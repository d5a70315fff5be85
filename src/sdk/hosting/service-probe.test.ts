import assert from 'node:assert/strict';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { test, type TestContext } from 'node:test';
import { decodeHosting, type HealthCheckConfig } from './host-config.ts';
import { NameLookups } from '#net/names';
import { serviceProbe } from './service-probe.ts';

const probeService = serviceProbe(new NameLookups().forSockets);

async function open(t: TestContext, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

function web(t: TestContext, onRequest: RequestListener): Promise<number> {
  const server = createHttpServer(onRequest);
  t.after(() => server.closeAllConnections());
  return open(t, server);
}

function check(kind: 'portChecks' | 'httpChecks', fields: object): HealthCheckConfig {
  const checks = [{ interval: '5s', timeout: '10s', ...fields }];
  const config = { protocol: 'tcp', address: '127.0.0.1', port: 1, [kind]: checks };
  return decodeHosting(new Map([['host.v1', config]]))[0]!.checks[0]!;
}

const http = (port: number, fields: object = {}): Promise<string | undefined> =>
  probeService(check('httpChecks', { url: `http://127.0.0.1:${port}/health`, ...fields }));

test('a port check passes when the port takes a connection', async (t) => {
  const server = createServer((socket) => socket.destroy());
  const port = await open(t, server);
  const address = `localhost:${port}`;
  assert.equal(await probeService(check('portChecks', { address })), undefined);
  await new Promise((resolve) => server.close(resolve));
  assert.match((await probeService(check('portChecks', { address })))!, /ECONNREFUSED/);
});

test('an HTTP check sends its method and body, and compares the status', async (t) => {
  const requests: string[] = [];
  const port = await web(t, (request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      requests.push(`${request.method} ${request.url} ${body}`);
      response.writeHead(204).end();
    });
  });
  assert.equal(await http(port, { method: 'PUT', body: 'ping', expectStatus: 204 }), undefined);
  assert.equal(await http(port), 'status 204 instead of 200');
  assert.deepEqual(requests, ['PUT /health ping', 'GET /health ']);
});

test('the expected text is found wherever the body is cut, within its first MiB', async (t) => {
  const bodies: Record<string, string[]> = {
    '/cut': ['status is he', 'alth', 'y now'],
    '/other': ['status is ill'],
    '/late': ['x'.repeat(1_200_000), 'healthy'],
  };
  const port = await web(t, (request, response) => {
    const parts = bodies[request.url!]!.values();
    const next = (): void => {
      const { value } = parts.next();
      if (value === undefined) response.end();
      else response.write(value, () => setImmediate(next));
    };
    next();
  });
  const at = (path: string): Promise<string | undefined> =>
    http(port, { url: `http://127.0.0.1:${port}${path}`, expectInBody: 'healthy' });
  assert.equal(await at('/cut'), undefined);
  for (const path of ['/other', '/late'])
    assert.equal(await at(path), 'the body does not contain the expected text');
});

test('redirects are followed, and a loop of them is a failure', async (t) => {
  const port = await web(t, (request, response) => {
    const location = request.url === '/health' ? '/new' : request.url === '/new' ? '/newest' : undefined;
    if (request.url === '/loop') response.writeHead(302, { location: '/loop' }).end();
    else if (location === undefined) response.end('ok');
    else response.writeHead(301, { location }).end();
  });
  assert.equal(await http(port), undefined);
  assert.equal(await http(port, { url: `http://127.0.0.1:${port}/loop` }), 'more than 10 redirects');
  assert.equal(await http(port, { expectStatus: 301 }), undefined);
});

test('a target that never answers, or never ends its body, fails at the timeout', async (t) => {
  const silent = await open(
    t,
    createServer((socket) => t.after(() => socket.destroy())),
  );
  assert.equal(await http(silent, { timeout: '20ms' }), 'no response within 20 ms');
  const endless = await web(t, (_request, response) => {
    response.write('and so on');
  });
  assert.equal(await http(endless, { timeout: '20ms', expectInBody: 'end' }), 'no response within 20 ms');
});
