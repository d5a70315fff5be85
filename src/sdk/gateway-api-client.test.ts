import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { silentLog, type FrontdoorError } from '#base';
import { FORMAT_HEADER } from '#base/shapes';
import { AgentApiClient } from './agent-api-client.ts';
import { EdgeConnection } from './edge-connection.ts';
import { GatewayApiClient } from './gateway-api-client.ts';

const START = {
  shareId: 's',
  host: 'a.example.com',
  port: 443,
  providerId: 'p',
  returnTo: '/',
  browser: 'b'.repeat(43),
  address: '192.0.2.1',
};
const HOSTED = {
  id: 'i',
  token: 't',
  name: null,
  shareMode: 'public',
  backendMode: 'proxy',
  target: 'http://a:1',
  targetByAgent: true,
  reserved: false,
  epoch: 1,
  grants: [],
  frontendEndpoints: [],
  status: 'PENDING',
};

describe('a client of our own routes', () => {
  let server: Server;
  let connection: EdgeConnection;
  let given: { data: unknown; format?: string };
  let asked: IncomingHttpHeaders;

  before(async () => {
    server = createServer((request, response) => {
      asked = request.headers;
      request.resume();
      const { data, format } = given;
      response.writeHead(200, format === undefined ? {} : { [FORMAT_HEADER]: format });
      response.end(typeof data === 'string' ? data : JSON.stringify({ data, meta: {} }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const apiUrl = `http://127.0.0.1:${port}`;
    const identity = { apiUrl, keyPem: '', certPem: '', caPem: '' };
    connection = new EdgeConnection({ identity, log: silentLog });
  });
  after(async () => {
    await connection.close();
    server.close();
  });

  it('takes the answer of a control plane from before there were format numbers, and sends its own', async () => {
    const client = new GatewayApiClient(connection);
    given = { data: { type: 'redirect', url: 'https://id.example' } };
    assert.deepEqual(await client.startLogin(START), given.data);
    assert.equal(asked[FORMAT_HEADER], '1');
  });

  it('refuses the answer of a newer format by name, and one that it cannot read by its field', async () => {
    const client = new GatewayApiClient(connection);
    given = { data: { type: 'redirect', url: 'https://id.example' }, format: '2' };
    const newer = /answer to the start of a log-in: it has format 2.*: upgrade this gateway/;
    await assert.rejects(client.startLogin(START), { code: 'answer-of-newer-format', message: newer });
    given = { data: { type: 'redirect', url: 7 }, format: '1' };
    await assert.rejects(client.startLogin(START), {
      code: 'answer-unreadable',
      message: /url must be a text/,
    });
    given = { data: undefined };
    await assert.rejects(client.findSession({ token: 't' }), { kind: 'badGateway' });
  });

  it('ends a feed of a newer format before its first line, by name', async () => {
    given = { data: '{"type":"heartbeat"}\n', format: '2' };
    const { promise, resolve, reject } = Promise.withResolvers<FrontdoorError>();
    new GatewayApiClient(connection).subscribeGatewayFeed({ onLine: reject, onEnd: resolve });
    const end = await promise;
    assert.equal(end.code, 'feed-of-newer-format');
    assert.match(end.message, /share feed: it has format 2.*: upgrade this gateway/);
  });

  it('of an agent loses a share that it cannot read, and logs that once', async () => {
    const errors: unknown[] = [];
    const log = { ...silentLog, error: (fields: object) => void errors.push(fields) };
    const client = new AgentApiClient(connection, log);
    given = { data: [HOSTED, { ...HOSTED, epoch: 'x' }] };
    for (let i = 0; i < 2; i += 1) assert.deepEqual(await client.hostedShares(), [HOSTED]);
    assert.equal(errors.length, 1);
    assert.deepEqual((errors[0] as { field: string }).field, 'epoch');
  });
});
