// Compression of responses at the gateway, by real encoders.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { brotliDecompressSync, createGunzip, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { until } from '../../test/support/deadline.ts';
import { get, GatewayWorld } from './testing/gateway-world.ts';

const CODINGS = { compression: ['zstd', 'br', 'gzip'] };
const PAGE = '<p>The quick brown fox.</p>'.repeat(20_000);
const HTML = { 'Content-Type': 'text/html', ETag: '"page"' };

/** Returns the data of a chunked body. */
function unchunked(answer: string): Buffer {
  let at = answer.indexOf('\r\n\r\n') + 4;
  const pieces: Buffer[] = [];
  for (;;) {
    const end = answer.indexOf('\r\n', at);
    const size = end < 0 ? 0 : Number.parseInt(answer.slice(at, end), 16);
    if (size === 0) return Buffer.concat(pieces);
    pieces.push(Buffer.from(answer.slice(end + 2, end + 2 + size), 'latin1'));
    at = end + 2 + size + 2;
  }
}

describe('a share whose responses are compressed', () => {
  let world: GatewayWorld;
  before(async () => {
    world = await GatewayWorld.start();
  });
  after(() => world.close());

  for (const [coding, decode] of [
    ['gzip', gunzipSync],
    ['br', brotliDecompressSync],
    ['zstd', zstdDecompressSync],
  ] as const) {
    it(`sends the same page by ${coding}, and keeps the connection`, async () => {
      const [name, isKnown] = [`page-${coding}`, coding !== 'br'];
      const serve = (_asked: unknown, response: ServerResponse): void => {
        response.writeHead(200, { ...HTML, ...(isKnown ? { 'Content-Length': PAGE.length } : {}) });
        response.end(PAGE);
      };
      await world.serve(name, serve, { upstream: CODINGS });
      const client = await world.client();
      for (let round = 1; round <= 2; round += 1) {
        client.received = '';
        client.send(get(name, '/', `Accept-Encoding: ${coding}\r\n`));
        const answer = await client.until((text) => text.endsWith('\r\n0\r\n\r\n'));
        assert.match(answer, new RegExp(`\r\nContent-Encoding: ${coding}\r\n`));
        assert.match(answer, /\r\nETag: W\/"page"\r\n/);
        assert.match(answer, /\r\nVary: Accept-Encoding\r\n/);
        assert.doesNotMatch(answer, /Content-Length/i);
        assert.ok(answer.length < PAGE.length / 10);
        assert.equal(decode(unchunked(answer)).toString(), PAGE);
      }
      client.close();
    });
  }

  it('sends what a client accepts no coding for as it is', async () => {
    await world.serve('plain', (_asked, response) => response.writeHead(200, HTML).end(PAGE), {
      upstream: CODINGS,
    });
    const answer = await world.ask(get('plain'));
    assert.match(answer, /\r\nETag: "page"\r\n/);
    assert.match(answer, /\r\nVary: Accept-Encoding\r\n/);
    assert.equal(unchunked(answer).toString(), PAGE);
  });

  it('does not hold back a page that comes in parts', async () => {
    let page: ServerResponse | undefined;
    const serve = (_asked: unknown, response: ServerResponse): void => {
      page = response.writeHead(200, HTML);
      page.write('<p>first</p>');
    };
    await world.serve('parts', serve, { upstream: CODINGS });
    const client = await world.client();
    client.send(get('parts', '/', 'Accept-Encoding: gzip\r\nConnection: close\r\n'));
    const gunzip = createGunzip();
    let shown = '';
    gunzip.on('data', (bytes: Buffer) => (shown += bytes.toString()));
    const first = await client.until((text) => /\r\n\r\n[^]+\r\n$/.test(text));
    gunzip.write(unchunked(first));
    await world.eventually(() => shown === '<p>first</p>', 'the first part');
    page!.end('<p>second</p>');
    assert.equal(gunzipSync(unchunked(await client.ended())).toString(), '<p>first</p><p>second</p>');
  });

  it('pauses a service whose client reads nothing', async () => {
    const most = 64 * 1024 * 1024;
    // Hexadecimal digits shrink to half, so that the sockets of the client are full soon.
    const block = randomBytes(32_768).toString('hex');
    let sent = 0;
    const fill = (socket: Socket): void => {
      while (sent < most && socket.write(block)) sent += block.length;
    };
    const onSocket = (socket: Socket): void => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n');
        fill(socket);
        socket.on('drain', () => fill(socket));
      });
    };
    await world.serveRaw('endless', onSocket, { upstream: CODINGS });
    const client = await world.client();
    client.socket.pause();
    client.send(get('endless', '/', 'Accept-Encoding: gzip\r\n'));
    let before = -1;
    while (before !== sent || sent === 0) {
      before = sent;
      for (let turn = 0; turn < 2_000; turn += 1) await new Promise(setImmediate);
    }
    assert.ok(sent < most, `${sent} bytes`);
    client.socket.resume();
    await world.eventually(() => sent > before, 'more data');
    client.close();
  });

  it('compresses at most 64 at once, and sends others as they are', async () => {
    const open: ServerResponse[] = [];
    const serve = (_asked: unknown, response: ServerResponse): void => {
      open.push(response.writeHead(200, HTML));
      response.write('x');
    };
    await world.serve('many', serve, { upstream: CODINGS });
    const ask = async (): Promise<string> => {
      const client = await world.client();
      client.send(get('many', '/', 'Accept-Encoding: gzip\r\nConnection: close\r\n'));
      return client.until((text) => /\r\n\r\n[^]+\r\n$/.test(text));
    };
    const answers = await Promise.all(Array.from({ length: 70 }, ask));
    assert.equal(answers.filter((text) => text.includes('Content-Encoding')).length, 64);
    for (const response of open) response.end();
    await world.eventually(() => open.every(({ writableFinished }) => writableFinished), 'their ends');
    // Each of them counts until its client's end is served.
    const next = (): Promise<string> =>
      world.ask(get('plain', '/', 'Accept-Encoding: gzip\r\nConnection: close\r\n'));
    await until('a compressed response', next, (text) => text.includes('Content-Encoding'));
  });
});
