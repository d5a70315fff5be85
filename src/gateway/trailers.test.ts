// Trailers of chunked bodies, in both directions.
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import type { GatewayUpstream } from '#domain/upstream';
import { bodyOf, get, GatewayWorld, once } from './testing/gateway-world.ts';

const REFUSED = [
  ...['Transfer-Encoding', 'Content-Length', 'Content-Encoding', 'Host', 'Connection', 'Upgrade', 'TE'],
  ...['Set-Cookie', 'Authorization', 'Cookie', 'WWW-Authenticate', 'Proxy-Authenticate', 'Location'],
  ...['Cache-Control', 'Vary', 'Clear-Site-Data', 'Strict-Transport-Security', 'Access-Control-Allow-Origin'],
  ...[
    'X-Forwarded-For',
    'x_forwarded_for',
    'Zrok-Auth-Email',
    'frontdoor_identity',
    'Content_Type',
    'X-Api-Key',
  ],
];
const refusedLines = REFUSED.map((name) => `${name}: evil\r\n`).join('');
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n';
const TE = 'TE: trailers\r\nConnection: close\r\n';

describe('trailers', () => {
  let world: GatewayWorld;
  before(async () => {
    world = await GatewayWorld.start();
  });
  after(() => world.close());

  const post = (name: string, lines: string, trailers: string): string =>
    `POST / HTTP/1.1\r\nHost: ${name}.share.localhost\r\nTransfer-Encoding: chunked\r\n${lines}Connection: close\r\n\r\n3\r\nabc\r\n0\r\n${trailers}\r\n`;

  /** Returns what the service has received. */
  async function sentTo(name: string, text: string, upstream?: GatewayUpstream): Promise<string> {
    let raw = '';
    await world.serveRaw(
      name,
      (socket) =>
        socket.on('data', (bytes) => {
          raw += bytes.toString('latin1');
          if (/\r\n0\r\n(?:.+\r\n)*\r\n$/.test(raw)) socket.end('HTTP/1.1 204 No Content\r\n\r\n');
        }),
      upstream && { upstream },
    );
    assert.match(await world.ask(text), /^HTTP\/1\.1 204 /);
    return raw;
  }

  async function answered(name: string, answer: string, lines = TE, more = {}): Promise<string> {
    await world.serveRaw(name, (socket) => socket.once('data', () => socket.end(answer, 'latin1')), more);
    return world.ask(get(name, '/', lines));
  }

  it('of a Node service reach a Node client, with their announcement', async () => {
    await world.serve('node', (_asked: IncomingMessage, response: ServerResponse) => {
      response.writeHead(200, { Trailer: 'X-Checksum, Set-Cookie' });
      response.write('body');
      response.addTrailers({ 'X-Checksum': '5f6a', 'Set-Cookie': 'a=b' });
      response.end();
    });
    const asked = request({
      ...{ port: world.port, host: '127.0.0.1', agent: false },
      headers: { Host: 'node.share.localhost', TE: 'trailers' },
    });
    asked.end();
    const response = (await once(asked, 'response')) as IncomingMessage;
    assert.equal(response.headers.trailer, 'X-Checksum');
    response.resume();
    await once(response, 'end');
    assert.deepEqual(response.trailers, { 'x-checksum': '5f6a' });
  });

  it('of a response are for clients that accept them, and the service gets TE for them', async () => {
    const heads: IncomingMessage['headers'][] = [];
    await world.serve('accepted', (asked, response) => {
      heads.push(asked.headers);
      response.writeHead(200, { Trailer: 'X-A' });
      response.write('x');
      response.addTrailers({ 'X-A': 'b' });
      response.end();
    });
    for (const [lines, isPassed] of [
      ['TE: gzip, Trailers\r\n', true],
      ['TE: gzip\r\n', false],
      ['', false],
    ] as const) {
      const answer = await world.ask(get('accepted', '/', `${lines}Connection: close\r\n`));
      assert.equal(bodyOf(answer), isPassed ? '1\r\nx\r\n0\r\nX-A: b\r\n\r\n' : '1\r\nx\r\n0\r\n\r\n');
      assert.equal(/\r\nTrailer: X-A\r\n/.test(answer), isPassed);
      assert.equal(heads.at(-1)!.te, isPassed ? 'trailers' : undefined);
    }
    const old = await world.ask(`GET / HTTP/1.0\r\nHost: accepted.share.localhost\r\nTE: trailers\r\n\r\n`);
    assert.equal(bodyOf(old), 'x');
  });

  it('have no name that means something in a head, in either direction', async () => {
    const answer = await answered('names', `${CHUNKED}\r\n1\r\nx\r\n0\r\n${refusedLines}X-Fine: yes\r\n\r\n`);
    assert.ok(answer.endsWith('\r\n1\r\nx\r\n0\r\nX-Fine: yes\r\n\r\n'), answer);
    const announced = `Trailer: ${[...REFUSED, 'X-Fine', 'bad name', ''].join(', ')}\r\n`;
    const raw = await sentTo('to-service', post('to-service', announced, `${refusedLines}X-Fine: yes\r\n`));
    assert.ok(raw.endsWith('\r\n3\r\nabc\r\n0\r\nX-Fine: yes\r\n\r\n'), raw);
    assert.match(raw, /\r\nTrailer: X-Fine\r\n/);
  });

  it('are removed by the rules of the share for headers', async () => {
    const upstream: GatewayUpstream = {
      requestHeaders: [{ action: 'set', name: 'X-Tenant', value: 'blue' }],
      responseHeaders: [{ action: 'remove', name: 'X-Internal' }],
    };
    const raw = await sentTo(
      'ruled-in',
      post('ruled-in', '', 'x-tenant: red\r\nX-Other: fine\r\n'),
      upstream,
    );
    assert.ok(raw.endsWith('\r\n0\r\nX-Other: fine\r\n\r\n'), raw);
    const answer = await answered('ruled-out', `${CHUNKED}\r\n0\r\nX-Internal: 1\r\nX-B: 2\r\n\r\n`, TE, {
      upstream,
    });
    assert.ok(answer.endsWith('\r\n\r\n0\r\nX-B: 2\r\n\r\n'), answer);
  });

  it('break a response if there are too many, or one is malformed', async () => {
    for (const [name, trailers] of [
      ['many', 'X: y\r\n'.repeat(65)],
      ['long', `X: ${'y'.repeat(20_000)}\r\n`],
      ['folded', 'X: y\r\n z\r\n'],
      ['nameless', ': y\r\n'],
      ['bare', 'X: y\n'],
    ] as const) {
      const answer = await answered(`broken-${name}`, `${CHUNKED}\r\n1\r\nx\r\n0\r\n${trailers}\r\n`);
      assert.doesNotMatch(answer, /\r\n0\r\n/, name);
    }
    const most = await answered('most', `${CHUNKED}\r\n0\r\n${'X: y\r\n'.repeat(64)}\r\n`);
    assert.ok(most.endsWith(`\r\n\r\n0\r\n${'X: y\r\n'.repeat(64)}\r\n`));
  });
});
